//! Whether two ways gave the same.

use std::collections::BTreeMap;

use retort::graph::Extraction;
use serde_json::Value;

/// Whether two results are the same JSON, or the same facts where that isn't `exact`.
///
/// # Panics
/// When one isn't a result.
#[must_use]
pub fn is_same(exact: bool, one: &[u8], other: &[u8]) -> bool {
    if exact { json(one) == json(other) } else { facts(one) == facts(other) }
}

fn json(result: &[u8]) -> Value {
    serde_json::from_slice(result).expect("a result")
}

/// Nodes and edges with their properties, in no order. Numbers are doubles, and JSON in a text is what it says: `Value` keeps neither
/// digits nor the order of keys.
fn facts(result: &[u8]) -> BTreeMap<Vec<String>, Value> {
    let result: Extraction = serde_json::from_slice(result).expect("a result");
    let mut facts = BTreeMap::new();
    let value = |value: Value| match &value {
        Value::Number(number) => number.as_f64().map_or(value, Value::from),
        Value::String(text) if text.starts_with(['{', '[']) => {
            serde_json::from_str(text).unwrap_or(value)
        }
        _ => value,
    };
    for node in result.nodes {
        facts.insert(vec![node.node_id.clone()], node.entity_name.into());
        for property in node.properties {
            facts.insert(vec![node.node_id.clone(), property.name], value(property.value));
        }
    }
    for edge in result.edges {
        facts.insert(vec![edge.edge_id.clone()], edge.relationship_name.into());
        for property in edge.properties {
            facts.insert(vec![edge.edge_id.clone(), property.name], value(property.value));
        }
    }
    facts.insert(vec!["fully".to_owned()], result.fully_handled_span_ids.into());
    facts.insert(vec!["partially".to_owned()], result.partially_handled_span_ids.into());
    facts
}
