//! What an event gives, put together of `Value`s.

use serde::Serialize;
use serde_json::{Value, json};

use crate::whole::time;

pub(super) fn extract(
    event: &[u8],
    out: &mut Vec<u8>,
    fill: fn(&Value, &mut Graph) -> Option<()>,
) -> bool {
    let Ok(event) = serde_json::from_slice(event) else { return false };
    let mut graph = Graph::default();
    // What isn't there where it has to be ends it: nothing more comes out then.
    let _ = fill(&event, &mut graph);
    out.clear();
    serde_json::to_writer(out, &graph).is_ok()
}

#[derive(Default, Serialize)]
pub(super) struct Graph {
    nodes: Vec<Value>,
    edges: Vec<Value>,
    fully_handled_span_ids: Vec<Value>,
    partially_handled_span_ids: Vec<Value>,
}

impl Graph {
    /// Adds a node with those properties that there are, and of two with one id the later one.
    pub(super) fn node<'a>(
        &mut self,
        id: &str,
        entity: &str,
        properties: impl IntoIterator<Item = (&'a str, Value)>,
    ) {
        self.nodes.retain(|node| node["node_id"] != id);
        let mut node = json!({"node_id": id, "entity_name": entity, "labels": [entity]});
        // Moved: what stands in `json!` is copied.
        node["properties"] = given(properties);
        self.nodes.push(node);
    }

    pub(super) fn edge<const N: usize>(
        &mut self,
        relationship: &str,
        from: &str,
        to: &str,
        properties: [(&str, Value); N],
    ) {
        let id = format!("{from}:{relationship}:{to}");
        self.edge_of(relationship, from, to, &id, properties);
    }

    /// An edge whose id is another one.
    pub(super) fn edge_of<const N: usize>(
        &mut self,
        relationship: &str,
        from: &str,
        to: &str,
        id: &str,
        properties: [(&str, Value); N],
    ) {
        self.edges.retain(|edge| edge["edge_id"] != id);
        let mut edge = json!({
            "edge_id": id,
            "relationship_name": relationship,
            "from_node_id": from,
            "to_node_id": to,
        });
        edge["properties"] = given(properties);
        self.edges.push(edge);
    }

    /// The span is handled, if anything came out of the event.
    pub(super) fn handled(&mut self, span: &Value, partially: bool) {
        let is_empty = self.nodes.is_empty() && self.edges.is_empty();
        if let Some(span) = in_id(span).filter(|span| !is_empty && !span.is_empty()) {
            let spans = if partially {
                &mut self.partially_handled_span_ids
            } else {
                &mut self.fully_handled_span_ids
            };
            spans.push(span.into());
        }
    }
}

fn given<'a>(properties: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let there = properties.into_iter().filter(|(_, value)| !value.is_null());
    let property = |(name, value)| {
        let mut property = json!({"name": name});
        property["value"] = value;
        property
    };
    there.map(property).collect()
}

/// A value as it stands in an id, if it may.
pub(super) fn in_id(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

pub(super) fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(object) => !object.is_empty(),
    }
}

/// A time, as a number since 1970 or written out.
pub(super) fn timestamp(value: &Value) -> Option<String> {
    let time = match value {
        Value::String(text) => time::written(text)?,
        _ => time::since_epoch(value.as_f64()?)?,
    };
    Some(time.to_string())
}

/// A number, as such or in a string.
pub(super) fn double(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}
