//! The result of one extraction: nodes, edges and the spans that were handled.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What an extractor makes of one event. The JSON form is the result of ABI version 1:
/// every key is required except `labels` of a node and `properties`, unknown keys are refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extraction {
    /// The nodes, in the order in which the extractor wrote them.
    pub nodes: Vec<Node>,
    /// The edges, in the order in which the extractor wrote them.
    pub edges: Vec<Edge>,
    /// Spans of which nothing is left to extract.
    #[serde(default)]
    pub fully_handled_span_ids: Vec<String>,
    /// Spans of which free text is left for a model.
    #[serde(default)]
    pub partially_handled_span_ids: Vec<String>,
}

impl Extraction {
    /// Whether the extractor declined: no node, no edge and no claim on a span.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
            && self.edges.is_empty()
            && self.fully_handled_span_ids.is_empty()
            && self.partially_handled_span_ids.is_empty()
    }

    /// Adds what was made of another event: of nodes with one id the later one counts, edges are kept all, and claims on spans once
    /// each, so that a span may be claimed both as a whole and in part.
    pub fn unite(&mut self, other: Self) {
        let places = self.nodes.iter().enumerate();
        let mut places: HashMap<String, usize> =
            places.map(|(place, node)| (node.node_id.clone(), place)).collect();
        for node in other.nodes {
            let end = self.nodes.len();
            match *places.entry(node.node_id.clone()).or_insert(end) {
                place if place < end => self.nodes[place] = node,
                _ => self.nodes.push(node),
            }
        }
        self.edges.extend(other.edges);
        add_new(&mut self.fully_handled_span_ids, other.fully_handled_span_ids);
        add_new(&mut self.partially_handled_span_ids, other.partially_handled_span_ids);
    }
}

/// Adds what isn't there yet, in its order.
fn add_new(spans: &mut Vec<String>, other: Vec<String>) {
    let mut known: HashSet<String> = spans.iter().cloned().collect();
    spans.extend(other.into_iter().filter(|span| known.insert(span.clone())));
}

/// One node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// `{session}:{entity}:{key}={value}[,{key}={value}...]`, unescaped.
    pub node_id: String,
    /// The entity of the graph spec that this node is one of.
    pub entity_name: String,
    /// Labels; rendered extractors write the entity name.
    #[serde(default)]
    pub labels: Vec<String>,
    /// Properties, the key first.
    #[serde(default)]
    pub properties: Vec<Property>,
}

/// One edge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// The edge's own id.
    pub edge_id: String,
    /// The relationship of the graph spec that this edge is one of.
    pub relationship_name: String,
    /// Id of the node that the edge leaves.
    pub from_node_id: String,
    /// Id of the node that the edge enters.
    pub to_node_id: String,
    /// Properties.
    #[serde(default)]
    pub properties: Vec<Property>,
}

/// A named value of a node or an edge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Property {
    /// The logical name, or the column.
    pub name: String,
    /// The value, of any JSON type: the validator decides what is allowed.
    pub value: Value,
}

/// Whether two values are one: numbers by what they are, however they are written.
pub(crate) fn is_same_value(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || ((one.is_f64() || other.is_f64()) && one.as_f64() == other.as_f64())
        }
        _ => one == other,
    }
}
