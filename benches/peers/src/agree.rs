//! Whether two results say the same.

use std::collections::BTreeMap;

use serde_json::Value;

/// A result: nodes and edges by id with all that they have, and the spans. Numbers are doubles, and properties in no order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    elements: BTreeMap<String, Value>,
    spans: [Value; 2],
}

impl Facts {
    /// What a result says; `None` where it isn't one.
    pub fn of(result: &[u8]) -> Option<Self> {
        let mut result: Value = serde_json::from_slice(result).ok()?;
        let mut elements = BTreeMap::new();
        for (list, id) in [("nodes", "node_id"), ("edges", "edge_id")] {
            for element in result.get_mut(list)?.as_array_mut()? {
                let mut element = element.take();
                let properties = element.get_mut("properties")?;
                *properties = by_name(properties)?;
                let id = format!("{list}:{}", element.get(id)?.as_str()?);
                // Of two with one id the last one counts: who is to see to that has to have seen to it.
                if elements.insert(id, element).is_some() {
                    return None;
                }
            }
        }
        let spans = ["fully_handled_span_ids", "partially_handled_span_ids"];
        Some(Self { elements, spans: spans.map(|list| result[list].take()) })
    }
}

fn by_name(properties: &Value) -> Option<Value> {
    let mut by_name = serde_json::Map::new();
    for property in properties.as_array()? {
        let value = &property["value"];
        let value = value.as_f64().map_or_else(|| value.clone(), Value::from);
        by_name.insert(property.get("name")?.as_str()?.to_owned(), value);
    }
    Some(Value::Object(by_name))
}
