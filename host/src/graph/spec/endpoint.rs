//! The ends of relationships: which entity, by which columns.

use std::collections::HashMap;

use super::document::{ColumnDeclaration, RelationshipDeclaration};
use super::extent::{MAX_KEY_COLUMNS, limit, named};
use super::{EndpointColumn, Entity, SpecProblem};

type Result<T> = std::result::Result<T, SpecProblem>;

/// One side of relationships: how its fields are called, and how they are read.
pub(super) struct Side {
    short: &'static str,
    long: &'static str,
    columns: &'static str,
    short_of: fn(&RelationshipDeclaration) -> Option<&String>,
    long_of: fn(&RelationshipDeclaration) -> Option<&String>,
    columns_of: fn(&RelationshipDeclaration) -> Option<&Vec<ColumnDeclaration>>,
    bound_columns_of: fn(&RelationshipDeclaration) -> Option<&Vec<ColumnDeclaration>>,
}

pub(super) const FROM: Side = Side {
    short: "from",
    long: "from_entity",
    columns: "from_columns",
    short_of: |edge| edge.from.as_ref(),
    long_of: |edge| edge.from_entity.as_ref(),
    columns_of: |edge| edge.from_columns.as_ref(),
    bound_columns_of: |edge| edge.binding.as_ref().and_then(|b| b.from_columns.as_ref()),
};

pub(super) const TO: Side = Side {
    short: "to",
    long: "to_entity",
    columns: "to_columns",
    short_of: |edge| edge.to.as_ref(),
    long_of: |edge| edge.to_entity.as_ref(),
    columns_of: |edge| edge.to_columns.as_ref(),
    bound_columns_of: |edge| edge.binding.as_ref().and_then(|b| b.to_columns.as_ref()),
};

pub(super) struct RelationshipEnd<'a> {
    pub(super) entity: &'a Entity,
    pub(super) columns: Vec<EndpointColumn>,
}

/// One end of a relationship, from the nearest in its line that declares it.
pub(super) fn endpoint<'a>(
    path: &str,
    side: &Side,
    line: &[&RelationshipDeclaration],
    entities: &HashMap<&str, &'a Entity>,
) -> Result<RelationshipEnd<'a>> {
    let conflict =
        |first, second| SpecProblem::ConflictingFields { path: path.to_owned(), first, second };
    let mut declared = None;
    for edge in line {
        declared = match ((side.short_of)(edge), (side.long_of)(edge)) {
            (Some(_), Some(_)) => return Err(conflict(side.short, side.long)),
            (Some(name), None) => Some((name, side.short)),
            (None, Some(name)) => Some((name, side.long)),
            (None, None) => continue,
        };
        break;
    }
    let (name, field) = declared
        .ok_or_else(|| SpecProblem::MissingField { path: path.to_owned(), field: side.short })?;
    let &entity = entities.get(name.as_str()).ok_or_else(|| SpecProblem::UnknownName {
        path: format!("{path}.{field}"),
        kind: "entity",
        name: name.clone(),
    })?;
    for edge in line {
        let columns = match ((side.columns_of)(edge), (side.bound_columns_of)(edge)) {
            (Some(_), Some(_)) => return Err(conflict(side.columns, "binding")),
            (Some(columns), None) => (columns, side.columns.to_owned()),
            (None, Some(columns)) => (columns, format!("binding.{}", side.columns)),
            (None, None) => continue,
        };
        let columns = endpoint_columns(&format!("{path}.{}", columns.1), columns.0, entity)?;
        return Ok(RelationshipEnd { entity, columns });
    }
    Ok(RelationshipEnd { entity, columns: by_own_name(entity) })
}

/// The columns of a relationship that names its columns as the entity names its keys.
pub(super) fn by_own_name(entity: &Entity) -> Vec<EndpointColumn> {
    let same = |column: &String| EndpointColumn { column: column.clone(), references: None };
    entity.key_columns.iter().map(same).collect()
}

/// Endpoint columns as declared, a reference resolved to the entity's column.
pub(super) fn endpoint_columns(
    path: &str,
    declarations: &[ColumnDeclaration],
    entity: &Entity,
) -> Result<Vec<EndpointColumn>> {
    limit(path, "endpoint columns", declarations.len(), MAX_KEY_COLUMNS)?;
    let mut columns: Vec<EndpointColumn> = Vec::with_capacity(declarations.len());
    for (k, declaration) in declarations.iter().enumerate() {
        let path = || format!("{path}[{k}]");
        named(&path(), &declaration.column)?;
        if columns.iter().any(|column| column.column == declaration.column) {
            return Err(SpecProblem::DuplicateName {
                path: path(),
                kind: "endpoint column",
                name: declaration.column.clone(),
            });
        }
        let references = match &declaration.references {
            None => None,
            Some(name) => match entity.property(name) {
                Some(property) => Some(property.column.clone()),
                None => {
                    return Err(SpecProblem::UnknownName {
                        path: path(),
                        kind: "property of the endpoint",
                        name: name.clone(),
                    });
                }
            },
        };
        columns.push(EndpointColumn { column: declaration.column.clone(), references });
    }
    Ok(columns)
}
