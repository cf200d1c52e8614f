//! Documents to the model: names, inheritance and keys.

use std::collections::{HashMap, HashSet};

use super::document::{EntityDeclaration, PropertyDeclaration, RelationshipDeclaration};
use super::endpoint::{FROM, TO, endpoint};
use super::extent::{
    MAX_DECLARATIONS, MAX_KEY_COLUMNS, MAX_PROPERTIES, SpecExtent, limit, named, short,
};
use super::read::DeclaredForm;
use super::types::ONTOLOGY_TYPES;
use super::{Entity, GraphSpec, Properties, PropertySpec, PropertyType, Relationship, SpecProblem};
use crate::diagnostics::nearest::nearest;

type Result<T> = std::result::Result<T, SpecProblem>;

pub(super) fn resolve(declared: &DeclaredForm) -> Result<GraphSpec> {
    let document = &declared.document;
    let entities = document.entities.as_deref().unwrap_or_default();
    let relationships = document.relationships.as_deref().unwrap_or_default();
    limit("", "entities", entities.len(), MAX_DECLARATIONS)?;
    limit("", "relationships", relationships.len(), MAX_DECLARATIONS)?;
    let types = document.property_types.as_deref();
    for (i, name) in types.unwrap_or_default().iter().enumerate() {
        own_type(&format!("{}property_types[{i}]", declared.base), name)?;
    }
    let types = types.map(|types| types.iter().map(String::as_str).collect());
    let name = document.name.clone().unwrap_or_default();
    short(&format!("{}name", declared.base), &name)?;
    let mut resolver = Resolver { declared, types, extent: SpecExtent::default() };
    let entities = resolver.entities(entities)?;
    let relationships = resolver.relationships(relationships, &entities)?;
    Ok(GraphSpec::new(name, entities, relationships))
}

struct Resolver<'a> {
    declared: &'a DeclaredForm,
    /// The types that the document lists, if it does: then it means no others.
    types: Option<HashSet<&'a str>>,
    /// All entities and relationships so far.
    extent: SpecExtent,
}

impl Resolver<'_> {
    fn entities(&mut self, declarations: &[EntityDeclaration]) -> Result<Vec<Entity>> {
        let base = format!("{}entities", self.declared.base);
        let index = unique(&base, "entity", declarations.iter().map(|entity| &entity.name))?;
        let own: Vec<Vec<PropertySpec>> = declarations
            .iter()
            .enumerate()
            .map(|(i, entity)| self.own_properties(&format!("{base}[{i}]"), &entity.properties))
            .collect::<Result<_>>()?;
        let parents: Vec<_> = declarations.iter().map(|entity| entity.extends.as_ref()).collect();

        let mut known = vec![None; declarations.len()];
        let mut entities = Vec::with_capacity(declarations.len());
        for (i, declaration) in declarations.iter().enumerate() {
            let path = format!("{base}[{i}]");
            let lineage = self.lineage(&base, "entity", i, &parents, &index)?;
            let properties = self.inherit(&path, &lineage, &own, &mut known)?;
            let labels = declaration.labels.clone().unwrap_or_default();
            for (j, label) in labels.iter().enumerate() {
                short(&format!("{path}.labels[{j}]"), label)?;
            }
            let mut entity = Entity {
                name: declaration.name.clone(),
                description: described(&declaration.description),
                labels,
                key_columns: Vec::new(),
                properties,
            };
            for &from in &lineage {
                if let Some(keys) = key_columns(&path, &declarations[from], &entity)? {
                    entity.key_columns = keys;
                    break;
                }
            }
            let names = entity.key_columns.iter().chain([&entity.name]);
            self.extent.add_names(&path, names.map(String::as_str))?;
            entities.push(entity);
        }
        Ok(entities)
    }

    fn relationships(
        &mut self,
        declarations: &[RelationshipDeclaration],
        entities: &[Entity],
    ) -> Result<Vec<Relationship>> {
        let base = format!("{}relationships", self.declared.base);
        let index = unique(&base, "relationship", declarations.iter().map(|edge| &edge.name))?;
        let by_name: HashMap<&str, &Entity> =
            entities.iter().map(|entity| (entity.name.as_str(), entity)).collect();
        let own: Vec<Vec<PropertySpec>> = declarations
            .iter()
            .enumerate()
            .map(|(i, edge)| self.own_properties(&format!("{base}[{i}]"), &edge.properties))
            .collect::<Result<_>>()?;
        let parents: Vec<_> = declarations.iter().map(|edge| edge.extends.as_ref()).collect();

        let mut known = vec![None; declarations.len()];
        let mut relationships = Vec::with_capacity(declarations.len());
        for (i, declaration) in declarations.iter().enumerate() {
            let path = format!("{base}[{i}]");
            let lineage = self.lineage(&base, "relationship", i, &parents, &index)?;
            let line: Vec<_> = lineage.iter().map(|&from| &declarations[from]).collect();
            let properties = self.inherit(&path, &lineage, &own, &mut known)?;
            let from = endpoint(&path, &FROM, &line, &by_name)?;
            let to = endpoint(&path, &TO, &line, &by_name)?;
            let relationship = Relationship {
                name: declaration.name.clone(),
                description: described(&declaration.description),
                from_entity: from.entity.name.clone(),
                to_entity: to.entity.name.clone(),
                from_columns: from.columns,
                to_columns: to.columns,
                properties,
            };
            self.extent.add_names(&path, names(&relationship))?;
            relationships.push(relationship);
        }
        Ok(relationships)
    }

    /// A declaration and its ancestors, itself first, as indices.
    fn lineage(
        &self,
        base: &str,
        kind: &'static str,
        start: usize,
        parents: &[Option<&String>],
        index: &HashMap<&str, usize>,
    ) -> Result<Vec<usize>> {
        let mut lineage = vec![start];
        let mut at = start;
        while let Some(parent) = parents[at] {
            let path = || format!("{base}[{at}].extends");
            let Some(&next) = index.get(parent.as_str()) else {
                if self.declared.external_parents {
                    break;
                }
                return Err(SpecProblem::UnknownName { path: path(), kind, name: parent.clone() });
            };
            // A walk longer than the list has passed one of its members twice.
            if lineage.len() >= parents.len() {
                return Err(SpecProblem::InheritanceCycle { path: path(), name: parent.clone() });
            }
            lineage.push(next);
            at = next;
        }
        Ok(lineage)
    }

    fn own_properties(
        &self,
        path: &str,
        declarations: &Option<Vec<PropertyDeclaration>>,
    ) -> Result<Vec<PropertySpec>> {
        let declarations = declarations.as_deref().unwrap_or_default();
        limit(path, "properties", declarations.len(), MAX_PROPERTIES)?;
        let properties: Vec<PropertySpec> = declarations
            .iter()
            .enumerate()
            .map(|(j, declaration)| self.property(&format!("{path}.properties[{j}]"), declaration))
            .collect::<Result<_>>()?;
        distinct_names(path, &properties)?;
        Ok(properties)
    }

    fn property(&self, path: &str, declaration: &PropertyDeclaration) -> Result<PropertySpec> {
        let PropertyDeclaration {
            name,
            column,
            logical_name,
            ontology_type,
            sdk_type,
            description,
            ..
        } = declaration;
        let conflict = |first, second| {
            Err(SpecProblem::ConflictingFields { path: path.to_owned(), first, second })
        };
        if name.is_some() && logical_name.is_some() {
            return conflict("name", "logical_name");
        }
        let missing = |field| SpecProblem::MissingField { path: path.to_owned(), field };
        let logical = logical_name.as_ref().or(name.as_ref());
        let logical_name = logical.or(column.as_ref()).ok_or_else(|| missing("name"))?;
        let column = column.as_ref().unwrap_or(logical_name);
        named(&format!("{path}.name"), logical_name)?;
        named(&format!("{path}.column"), column)?;
        let property_type = match (ontology_type, sdk_type) {
            (Some(_), Some(_)) => return conflict("type", "sdk_type"),
            (None, None) => return Err(missing("type")),
            (None, Some(name)) => {
                short(&format!("{path}.sdk_type"), name)?;
                PropertyType::from_sdk(name)
            }
            (Some(name), None) => self.declared_type(&format!("{path}.type"), name)?,
        };
        Ok(PropertySpec {
            column: column.clone(),
            logical_name: logical_name.clone(),
            property_type,
            description: described(description),
        })
    }

    /// The type of that name: one that the document lists, where it does that, else one of [`ONTOLOGY_TYPES`].
    fn declared_type(&self, path: &str, name: &str) -> Result<PropertyType> {
        let known = PropertyType::from_ontology(name);
        match &self.types {
            Some(types) if !types.contains(name) => {
                let mut types: Vec<&str> = types.iter().copied().collect();
                types.sort_unstable();
                Err(SpecProblem::unknown_type(path, name, &types))
            }
            // The vocabulary of another tool: it has no type of its own here, and is text.
            Some(_) => Ok(known.unwrap_or(PropertyType::String)),
            None => known.ok_or_else(|| SpecProblem::unknown_type(path, name, &ontology_types())),
        }
    }

    /// The properties of a lineage, the oldest ancestor's first. A redeclared property takes
    /// the place of the inherited one. `known` keeps them, so that no ancestor is gone through
    /// for each of its descendants.
    fn inherit<'p>(
        &mut self,
        path: &str,
        lineage: &[usize],
        own: &'p [Vec<PropertySpec>],
        known: &mut [Option<Vec<&'p PropertySpec>>],
    ) -> Result<Properties> {
        let nearest = lineage.iter().position(|&from| known[from].is_some());
        let mut properties =
            nearest.and_then(|nearest| known[lineage[nearest]].clone()).unwrap_or_default();
        for &from in lineage[..nearest.unwrap_or(lineage.len())].iter().rev() {
            let mut places: HashMap<&str, usize> = HashMap::new();
            for (place, property) in properties.iter().enumerate() {
                places.insert(&property.logical_name, place);
            }
            for property in &own[from] {
                match places.get(property.logical_name.as_str()) {
                    Some(&place) => properties[place] = property,
                    None => properties.push(property),
                }
            }
            self.extent.add_properties(path, &properties)?;
            known[from] = Some(properties.clone());
        }
        let properties: Vec<PropertySpec> = properties.into_iter().cloned().collect();
        if lineage.len() > 1 {
            distinct_names(path, &properties)?;
        }
        Ok(Properties::new(properties))
    }
}

fn ontology_types() -> Vec<&'static str> {
    ONTOLOGY_TYPES.iter().map(|(name, _)| *name).collect()
}

/// A type that a document lists may be one of its own, but no misspelt one of those that are known.
fn own_type(path: &str, name: &str) -> Result<()> {
    let is_known = PropertyType::from_ontology(name).is_some();
    if !is_known && nearest(name, ontology_types()).is_some() {
        return Err(SpecProblem::unknown_type(path, name, &ontology_types()));
    }
    Ok(())
}

fn described(text: &Option<String>) -> Option<String> {
    text.clone().filter(|text| !text.is_empty())
}

/// The names that a relationship holds besides those of its properties.
pub(super) fn names(relationship: &Relationship) -> impl Iterator<Item = &str> {
    let Relationship { name, from_entity, to_entity, from_columns, to_columns, .. } = relationship;
    let columns = from_columns.iter().chain(to_columns);
    let columns =
        columns.flat_map(|it| [it.column.as_str(), it.references.as_deref().unwrap_or("")]);
    [name, from_entity, to_entity].into_iter().map(String::as_str).chain(columns)
}

/// Where each name is declared. Names that are empty or taken are errors.
pub(super) fn unique<'n>(
    base: &str,
    kind: &'static str,
    names: impl Iterator<Item = &'n String>,
) -> Result<HashMap<&'n str, usize>> {
    let mut index = HashMap::new();
    for (i, name) in names.enumerate() {
        let path = || format!("{base}[{i}].name");
        named(&path(), name)?;
        if index.insert(name.as_str(), i).is_some() {
            return Err(SpecProblem::DuplicateName { path: path(), kind, name: name.clone() });
        }
    }
    Ok(index)
}

/// No two properties may share a logical name or a column. One's column may be the other's
/// logical name: a name in a result then means the logical one.
pub(super) fn distinct_names(path: &str, properties: &[PropertySpec]) -> Result<()> {
    let (mut names, mut columns) = (HashSet::new(), HashSet::new());
    for (j, property) in properties.iter().enumerate() {
        let duplicate = |field, kind, name: &str| {
            Err(SpecProblem::DuplicateName {
                path: format!("{path}.properties[{j}].{field}"),
                kind,
                name: name.to_owned(),
            })
        };
        if !names.insert(&property.logical_name) {
            return duplicate("name", "property name", &property.logical_name);
        }
        if !columns.insert(&property.column) {
            return duplicate("column", "column", &property.column);
        }
    }
    Ok(())
}

/// The key columns that a declaration gives for an entity which has, or inherits, it.
fn key_columns(
    path: &str,
    declaration: &EntityDeclaration,
    entity: &Entity,
) -> Result<Option<Vec<String>>> {
    let primary = declaration.keys.as_ref().and_then(|keys| keys.primary.as_ref());
    let (names, field) = match (primary, &declaration.key_columns) {
        (Some(_), Some(_)) => {
            return Err(SpecProblem::ConflictingFields {
                path: path.to_owned(),
                first: "keys.primary",
                second: "key_columns",
            });
        }
        (Some(names), None) => (names, "keys.primary"),
        (None, Some(names)) => (names, "key_columns"),
        (None, None) => return Ok(None),
    };
    limit(path, "key columns", names.len(), MAX_KEY_COLUMNS)?;
    let mut columns: Vec<String> = Vec::with_capacity(names.len());
    for (k, name) in names.iter().enumerate() {
        let path = || format!("{path}.{field}[{k}]");
        // `keys` speaks the ontology's names, `key_columns` the table's.
        let found = match field {
            "key_columns" => entity.by_column(name),
            _ => entity.property(name),
        };
        let Some(property) = found else {
            return Err(SpecProblem::UnknownName {
                path: path(),
                kind: "property",
                name: name.clone(),
            });
        };
        if columns.contains(&property.column) {
            return Err(SpecProblem::DuplicateName {
                path: path(),
                kind: "key",
                name: name.clone(),
            });
        }
        columns.push(property.column.clone());
    }
    Ok(Some(columns))
}
