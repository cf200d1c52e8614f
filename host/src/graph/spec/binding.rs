//! An ontology and its binding to the model: what is stored, and under which columns.

use super::document::{BindingDocument, BoundEntity, BoundProperty, BoundRelationship};
use super::endpoint::{by_own_name, endpoint_columns};
use super::resolve::{distinct_names, unique};
use super::{Entity, GraphSpec, Properties, Property, Relationship, SpecProblem};

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
    let entities = ontology
        .entities()
        .iter()
        .filter_map(|entity| index.get(entity.name.as_str()).map(|&i| (entity, i)))
        .map(|(entity, i)| bind_entity(&format!("entities[{i}]"), entity, &bound[i]))
        .collect::<Result<Vec<_>>>()?;

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
            bind_relationship(&format!("relationships[{i}]"), edge, &bound[i], &entities)
        })
        .collect::<Result<Vec<_>>>()?;
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
        if column.is_empty() {
            return Err(SpecProblem::EmptyName { path: format!("{base}[{j}].column") });
        }
    }
    let stored: Vec<Property> = properties
        .iter()
        .filter_map(|property| {
            let &j = index.get(property.logical_name.as_str())?;
            Some(Property { column: bound[j].column.clone(), ..property.clone() })
        })
        .collect();
    distinct_names(path, &stored)?;
    Ok(Properties::new(stored))
}

fn bind_relationship(
    path: &str,
    edge: &Relationship,
    bound: &BoundRelationship,
    entities: &[Entity],
) -> Result<Relationship> {
    let endpoint = |name: &str| {
        entities.iter().find(|entity| entity.name == name).ok_or_else(|| {
            SpecProblem::UnboundEndpoint { path: path.to_owned(), entity: name.to_owned() }
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
