//! The model: what a graph spec says, whichever form it was read from.

use std::collections::HashMap;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{Properties, PropertySpec};

/// The entities and relationships that a result may hold.
///
/// Made by [`GraphSpec::parse`] and [`GraphSpec::from_ontology`], so what it says is
/// consistent: names are unique, keys name properties, relationships name entities.
/// Serialises to the resolved form; equal specs give equal bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GraphSpec {
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    entities: Vec<Entity>,
    relationships: Vec<Relationship>,
    #[serde(skip)]
    entity_index: HashMap<String, usize>,
    #[serde(skip)]
    relationship_index: HashMap<String, usize>,
}

impl GraphSpec {
    pub(super) fn new(
        name: String,
        entities: Vec<Entity>,
        relationships: Vec<Relationship>,
    ) -> Self {
        let entity_index =
            entities.iter().enumerate().map(|(i, entity)| (entity.name.clone(), i)).collect();
        let relationship_index =
            relationships.iter().enumerate().map(|(i, edge)| (edge.name.clone(), i)).collect();
        Self { name, entities, relationships, entity_index, relationship_index }
    }

    /// The name of the graph, empty where the document gives none.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The entities, in the document's order.
    #[must_use]
    pub fn entities(&self) -> &[Entity] {
        &self.entities
    }

    /// The relationships, in the document's order.
    #[must_use]
    pub fn relationships(&self) -> &[Relationship] {
        &self.relationships
    }

    /// The entity of that name, case-sensitive.
    #[must_use]
    pub fn entity(&self, name: &str) -> Option<&Entity> {
        self.entity_index.get(name).and_then(|&i| self.entities.get(i))
    }

    /// The relationship of that name, case-sensitive.
    #[must_use]
    pub fn relationship(&self, name: &str) -> Option<&Relationship> {
        self.relationship_index.get(name).and_then(|&i| self.relationships.get(i))
    }
}

/// A kind of node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entity {
    /// The name that a node gives as its `entity_name`.
    pub name: String,
    /// What the entity is, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Labels that the document declares. They are not checked against a node's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// The columns that identify a node, in the order in which an id names them.
    pub key_columns: Vec<String>,
    /// The properties that a node may have, inherited ones first.
    pub properties: Properties,
}

impl Entity {
    /// The property that a name in a result means: a logical name first, else a column.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&PropertySpec> {
        self.properties.named(name)
    }

    /// The properties behind [`Entity::key_columns`], in that order.
    pub fn key_properties(&self) -> impl DoubleEndedIterator<Item = &PropertySpec> {
        self.key_columns.iter().filter_map(|column| self.by_column(column))
    }

    pub(in crate::graph) fn by_column(&self, column: &str) -> Option<&PropertySpec> {
        self.properties.in_column(column)
    }
}

/// A kind of edge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Relationship {
    /// The name that an edge gives as its `relationship_name`.
    pub name: String,
    /// What the relationship is, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The entity that an edge leaves.
    pub from_entity: String,
    /// The entity that an edge enters.
    pub to_entity: String,
    /// The columns that refer to the node that an edge leaves.
    pub from_columns: Vec<EndpointColumn>,
    /// The columns that refer to the node that an edge enters.
    pub to_columns: Vec<EndpointColumn>,
    /// The properties that an edge may have.
    pub properties: Properties,
}

impl Relationship {
    /// The property that a name in a result means: a logical name first, else a column.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&PropertySpec> {
        self.properties.named(name)
    }
}

/// A column of a relationship that refers to a key of an endpoint.
///
/// Written as text where the column has the key's name, and as `{column: key}` where the
/// relationship's column has a name of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointColumn {
    /// The relationship's column.
    pub column: String,
    /// The column of the endpoint's entity, where it differs.
    pub references: Option<String>,
}

impl EndpointColumn {
    /// The name under which an endpoint's id must hold the key.
    #[must_use]
    pub fn key(&self) -> &str {
        self.references.as_deref().unwrap_or(&self.column)
    }
}

impl Serialize for EndpointColumn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.references {
            None => serializer.serialize_str(&self.column),
            Some(key) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry(&self.column, key)?;
                map.end()
            }
        }
    }
}
