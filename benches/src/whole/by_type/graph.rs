//! What an event gives, borrowed from it. Ids are written from their parts: none is a string before it is in the result.

use std::fmt::{self, Display, Formatter};

use jiff::Timestamp;
use serde::ser::{Serialize, SerializeStruct as _, Serializer};
use serde_json::value::RawValue;

/// An entity, and the properties of its key.
pub(crate) struct Entity {
    pub(crate) name: &'static str,
    pub(crate) key: &'static [&'static str],
}

/// The id of a node: what it says of the values of the key, those that it doesn't have being empty.
#[derive(Clone, Copy)]
pub(crate) struct Id<'a> {
    session: &'a str,
    entity: &'static Entity,
    values: [&'a str; 3],
}

impl<'a> Id<'a> {
    pub(crate) fn new<const N: usize>(
        session: &'a str,
        entity: &'static Entity,
        key: [&'a str; N],
    ) -> Self {
        let mut values = [""; 3];
        for (place, value) in values.iter_mut().zip(key) {
            *place = value;
        }
        Self { session, entity, values }
    }
}

impl PartialEq for Id<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
            && self.entity.name == other.entity.name
            && self.session == other.session
    }
}

impl Display for Id<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.session)?;
        f.write_str(":")?;
        f.write_str(self.entity.name)?;
        let mut before = ":";
        for (name, value) in self.entity.key.iter().zip(self.values) {
            f.write_str(before)?;
            f.write_str(name)?;
            f.write_str("=")?;
            f.write_str(value)?;
            before = ",";
        }
        Ok(())
    }
}

impl Serialize for Id<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What a property is.
#[derive(serde::Serialize)]
#[serde(untagged)]
pub(crate) enum Scalar<'a> {
    Json(&'a RawValue),
    Text(&'a str),
    Made(String),
    Integer(i64),
    Double(f64),
    Boolean(bool),
    #[serde(serialize_with = "display")]
    Time(Timestamp),
}

fn display<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

#[derive(serde::Serialize)]
pub(crate) struct Property<'a> {
    name: &'static str,
    value: Scalar<'a>,
}

#[derive(serde::Serialize)]
pub(crate) struct Node<'a> {
    node_id: Id<'a>,
    entity_name: &'static str,
    labels: [&'static str; 1],
    properties: Vec<Property<'a>>,
}

pub(crate) struct Edge<'a> {
    /// Where it isn't made of the two ends.
    own_id: Option<String>,
    relationship: &'static str,
    from: Id<'a>,
    to: Id<'a>,
    properties: Vec<Property<'a>>,
}

impl Serialize for Edge<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut edge = serializer.serialize_struct("Edge", 5)?;
        match &self.own_id {
            Some(id) => edge.serialize_field("edge_id", id)?,
            None => {
                let id = format_args!("{}:{}:{}", self.from, self.relationship, self.to);
                edge.serialize_field("edge_id", &id)?;
            }
        }
        edge.serialize_field("relationship_name", self.relationship)?;
        edge.serialize_field("from_node_id", &self.from)?;
        edge.serialize_field("to_node_id", &self.to)?;
        edge.serialize_field("properties", &self.properties)?;
        edge.end()
    }
}

#[derive(Default, serde::Serialize)]
pub(crate) struct Graph<'a> {
    nodes: Vec<Node<'a>>,
    edges: Vec<Edge<'a>>,
    fully_handled_span_ids: Vec<&'a str>,
    partially_handled_span_ids: Vec<&'a str>,
}

/// A name with what it is, if there is anything.
pub(crate) type Given<'a> = (&'static str, Option<Scalar<'a>>);

impl<'a> Graph<'a> {
    /// Adds a node with these properties, the key's first, and of two with one id the later one.
    pub(crate) fn node<const N: usize>(&mut self, id: Id<'a>, properties: [Given<'a>; N]) {
        self.nodes.retain(|node| node.node_id != id);
        let name = id.entity.name;
        self.nodes.push(Node {
            node_id: id,
            entity_name: name,
            labels: [name],
            properties: given(properties),
        });
    }

    pub(crate) fn edge<const N: usize>(
        &mut self,
        relationship: &'static str,
        from: Id<'a>,
        to: Id<'a>,
        properties: [Given<'a>; N],
    ) {
        self.edges.retain(|it| it.relationship != relationship || it.to != to || it.from != from);
        let properties = given(properties);
        self.edges.push(Edge { own_id: None, relationship, from, to, properties });
    }

    /// An edge whose id says something else.
    pub(crate) fn edge_of(
        &mut self,
        relationship: &'static str,
        from: Id<'a>,
        to: Id<'a>,
        id: String,
    ) {
        let own_id = Some(id);
        self.edges.retain(|edge| edge.own_id != own_id);
        self.edges.push(Edge { own_id, relationship, from, to, properties: Vec::new() });
    }

    /// The span is handled, if anything came out of the event.
    pub(crate) fn handled(&mut self, span: Option<&'a str>, partially: bool) {
        let Some(span) = span.filter(|_| !self.nodes.is_empty() || !self.edges.is_empty()) else {
            return;
        };
        if partially {
            self.partially_handled_span_ids.push(span);
        } else {
            self.fully_handled_span_ids.push(span);
        }
    }
}

fn given<const N: usize>(properties: [Given<'_>; N]) -> Vec<Property<'_>> {
    let mut list = Vec::with_capacity(N);
    for (name, value) in properties {
        list.extend(value.map(|value| Property { name, value }));
    }
    list
}
