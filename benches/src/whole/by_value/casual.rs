//! What an event gives, put together of `Value`s.

use serde_json::{Value, json};

use crate::whole::time;

pub(super) fn extract(event: &[u8], out: &mut Vec<u8>, fill: fn(&Value, &mut Graph)) -> bool {
    let Ok(event) = serde_json::from_slice(event) else { return false };
    let mut graph = Graph::default();
    fill(&event, &mut graph);
    out.clear();
    serde_json::to_writer(out, &graph.into_value()).is_ok()
}

#[derive(Default)]
pub(super) struct Graph {
    nodes: Vec<Value>,
    edges: Vec<Value>,
    fully: Vec<Value>,
    partially: Vec<Value>,
}

impl Graph {
    /// Adds a node with those properties that there are, and of two with one id the later one.
    pub(super) fn node<const N: usize>(
        &mut self,
        id: &str,
        entity: &str,
        properties: [(&str, Value); N],
    ) {
        self.nodes.retain(|node| node["node_id"] != id);
        self.nodes.push(json!({
            "node_id": id,
            "entity_name": entity,
            "labels": [entity],
            "properties": given(properties),
        }));
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
        self.edges.push(json!({
            "edge_id": id,
            "relationship_name": relationship,
            "from_node_id": from,
            "to_node_id": to,
            "properties": given(properties),
        }));
    }

    /// The span is handled, if anything came out of the event.
    pub(super) fn handled(&mut self, span: &Value, partially: bool) {
        let is_empty = self.nodes.is_empty() && self.edges.is_empty();
        if let Some(span) = in_id(span).filter(|span| !is_empty && !span.is_empty()) {
            let spans = if partially { &mut self.partially } else { &mut self.fully };
            spans.push(span.into());
        }
    }

    fn into_value(self) -> Value {
        json!({
            "nodes": self.nodes,
            "edges": self.edges,
            "fully_handled_span_ids": self.fully,
            "partially_handled_span_ids": self.partially,
        })
    }
}

fn given<const N: usize>(properties: [(&str, Value); N]) -> Vec<Value> {
    let there = properties.into_iter().filter(|(_, value)| !value.is_null());
    there.map(|(name, value)| json!({"name": name, "value": value})).collect()
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
