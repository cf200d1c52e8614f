//! The extractions of the benches as a person would write them: over `serde_json::Value`, and over a type that derives
//! `Deserialize` and borrows just the wanted fields.

pub mod cloud_audit;
pub mod telemetry;
pub mod webhook;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A plan and the same extraction by hand.
#[derive(Clone, Copy)]
pub struct ByHand {
    /// The plan's event type.
    pub event_type: &'static str,
    /// The plan.
    pub plan: &'static str,
    /// Extraction over `serde_json::Value`: event in, result out; false for an event that isn't JSON.
    pub by_value: fn(&[u8], &mut Vec<u8>) -> bool,
    /// Extraction over a derived type.
    pub by_type: fn(&[u8], &mut Vec<u8>) -> bool,
}

/// The result of one node, borrowing its values.
#[derive(Serialize)]
struct Extraction<'a, V> {
    nodes: &'a [Node<'a, V>],
    edges: [(); 0],
    fully_handled_span_ids: &'a [&'a str],
    partially_handled_span_ids: [(); 0],
}

#[derive(Serialize)]
struct Node<'a, V> {
    node_id: String,
    entity_name: &'a str,
    labels: [&'a str; 1],
    properties: Vec<Property<'a, V>>,
}

#[derive(Serialize)]
struct Property<'a, V> {
    name: &'a str,
    value: V,
}

/// Writes the result of one node.
fn write<V: Serialize>(
    out: &mut Vec<u8>,
    session: &str,
    span: &str,
    entity: &str,
    key: (&str, &str),
    properties: Vec<Property<'_, V>>,
) -> bool {
    let node = Node {
        node_id: format!("{session}:{entity}:{}={}", key.0, key.1),
        entity_name: entity,
        labels: [entity],
        properties,
    };
    let spans = if span.is_empty() { &[][..] } else { &[span][..] };
    let extraction = Extraction {
        nodes: &[node],
        edges: [],
        fully_handled_span_ids: spans,
        partially_handled_span_ids: [],
    };
    out.clear();
    serde_json::to_writer(out, &extraction).is_ok()
}

fn write_empty(out: &mut Vec<u8>) -> bool {
    let empty = Extraction::<()> {
        nodes: &[],
        edges: [],
        fully_handled_span_ids: &[],
        partially_handled_span_ids: [],
    };
    out.clear();
    serde_json::to_writer(out, &empty).is_ok()
}

/// Extraction over `Value` for any of the plans.
fn by_value(
    event: &[u8],
    out: &mut Vec<u8>,
    event_type: &str,
    entity: &str,
    key: (&str, &str),
    properties: &[(&str, &str)],
) -> bool {
    let Ok(event) = serde_json::from_slice::<Value>(event) else { return false };
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let key_value = match event.pointer(key.1) {
        Some(Value::String(text)) => text.clone(),
        Some(value @ (Value::Number(_) | Value::Bool(_))) => value.to_string(),
        _ => return write_empty(out),
    };
    if text("/event_type") != event_type {
        return write_empty(out);
    }
    let properties = std::iter::once(&key)
        .chain(properties)
        .filter_map(|(name, pointer)| {
            let value = event.pointer(pointer).filter(|value| !value.is_null())?;
            Some(Property { name, value })
        })
        .collect();
    write(out, text("/session_id"), text("/span_id"), entity, (key.0, &key_value), properties)
}

/// A scalar that a derived type borrows.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(untagged)]
enum Scalar<'a> {
    Text(#[serde(borrow)] std::borrow::Cow<'a, str>),
    Integer(i64),
    Float(f64),
    Boolean(bool),
}

impl std::fmt::Display for Scalar<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Integer(number) => number.fmt(f),
            Self::Float(number) => number.fmt(f),
            Self::Boolean(value) => value.fmt(f),
        }
    }
}

/// A string that is borrowed where it has no escapes: an `Option<Cow<str>>` never is, since serde asks for a borrowed one only where the
/// field itself is a `Cow`.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] std::borrow::Cow<'a, str>);

impl std::ops::Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}
