//! An ontology and its binding to the model: what is stored, and under which columns.

use std::collections::HashMap;

use super::document::{BindingDocument, BoundEntity, BoundProperty, BoundRelationship};
use super::endpoint::{by_own_name, endpoint_columns};
use super::extent::{SpecExtent, named};
use super::resolve::{distinct_names, names, unique};
use super::{Entity, GraphSpec, Properties, PropertySpec, Relationship, SpecProblem};

type Result<T> = std::result::Result<T, SpecProblem>;

pub(super) fn bind(ontology: &GraphSpec, binding: &BindingDocument) -> Result<GraphSpec> {
    if binding.ontology != ontology.name() {
        return Err(SpecProblem::OntologyMismatch {
            expected: ontology.name().to_owned(),
            found: binding.ontology.clone(),
        });
    }
    let bound = binding.entities.as_deref().unwrap_or_default();
    let index = unique("entities", "entity", bound.iter().map(|entity| &entity.name))?;
    for (i, entity) in bound.iter().enumerate() {
        known(
            &format!("entities[{i}].name"),
            "entity",
            &entity.name,
            ontology.entity(&entity.name),
        )?;
    }
    let mut extent = SpecExtent::default();
    let entities: Vec<Entity> = ontology
        .entities()
        .iter()
        .filter_map(|entity| index.get(entity.name.as_str()).map(|&i| (entity, i)))
        .map(|(entity, i)| bind_entity(&format!("entities[{i}]"), entity, &bound[i]))
        .collect::<Result<_>>()?;
    let by_name: HashMap<&str, &Entity> =
        entities.iter().map(|entity| (entity.name.as_str(), entity)).collect();

    let bound = binding.relationships.as_deref().unwrap_or_default();
    let index = unique("relationships", "relationship", bound.iter().map(|edge| &edge.name))?;
    for (i, edge) in bound.iter().enumerate() {
        let path = format!("relationships[{i}].name");
        known(&path, "relationship", &edge.name, ontology.relationship(&edge.name))?;
    }
    let relationships = ontology
        .relationships()
        .iter()
        .filter_map(|edge| index.get(edge.name.as_str()).map(|&i| (edge, i)))
        .map(|(edge, i)| {
            let path = format!("relationships[{i}]");
            let relationship = bind_relationship(&path, edge, &bound[i], &by_name)?;
            // The columns of both keys arrive at each relationship that has none of its own.
            extent.add_names(&path, names(&relationship))?;
            Ok(relationship)
        })
        .collect::<Result<_>>()?;
    Ok(GraphSpec::new(ontology.name().to_owned(), entities, relationships))
}

fn known<T>(path: &str, kind: &'static str, name: &str, found: Option<T>) -> Result<T> {
    found.ok_or_else(|| SpecProblem::UnknownName {
        path: path.to_owned(),
        kind,
        name: name.to_owned(),
    })
}

fn bind_entity(path: &str, entity: &Entity, bound: &BoundEntity) -> Result<Entity> {
    let properties = bind_properties(path, &entity.properties, &bound.properties)?;
    let key_columns = entity
        .key_properties()
        .map(|key| {
            let stored = properties
                .named(&key.logical_name)
                .filter(|stored| stored.logical_name == key.logical_name);
            stored.map(|stored| stored.column.clone()).ok_or_else(|| SpecProblem::UnboundKey {
                path: path.to_owned(),
                property: key.logical_name.clone(),
            })
        })
        .collect::<Result<_>>()?;
    Ok(Entity { key_columns, properties, ..entity.clone() })
}

/// The properties that have a column, in the ontology's order.
fn bind_properties(
    path: &str,
    properties: &Properties,
    bound: &Option<Vec<BoundProperty>>,
) -> Result<Properties> {
    let bound = bound.as_deref().unwrap_or_default();
    let base = format!("{path}.properties");
    let index = unique(&base, "property", bound.iter().map(|property| &property.name))?;
    for (j, BoundProperty { name, column }) in bound.iter().enumerate() {
        let declared = properties.named(name).filter(|property| property.logical_name == *name);
        known(&format!("{base}[{j}].name"), "property", name, declared)?;
        named(&format!("{base}[{j}].column"), column)?;
    }
    let stored: Vec<PropertySpec> = properties
        .iter()
        .filter_map(|property| {
            let &j = index.get(property.logical_name.as_str())?;
            Some(PropertySpec { column: bound[j].column.clone(), ..property.clone() })
        })
        .collect();
    distinct_names(path, &stored)?;
    Ok(Properties::new(stored))
}

fn bind_relationship(
    path: &str,
    edge: &Relationship,
    bound: &BoundRelationship,
    entities: &HashMap<&str, &Entity>,
) -> Result<Relationship> {
    let endpoint = |name: &str| {
        entities.get(name).copied().ok_or_else(|| SpecProblem::UnboundEndpoint {
            path: path.to_owned(),
            entity: name.to_owned(),
        })
    };
    let columns = |field, declared: &Option<Vec<_>>, entity: &Entity| match declared {
        Some(columns) => endpoint_columns(&format!("{path}.{field}"), columns, entity),
        None => Ok(by_own_name(entity)),
    };
    Ok(Relationship {
        from_columns: columns("from_columns", &bound.from_columns, endpoint(&edge.from_entity)?)?,
        to_columns: columns("to_columns", &bound.to_columns, endpoint(&edge.to_entity)?)?,
        properties: bind_properties(path, &edge.properties, &bound.properties)?,
        ..edge.clone()
    })
}
