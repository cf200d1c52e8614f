//! Values of another form than the place takes, that can be brought into it without knowing anything else.

use serde_json::{Map, Value, json};

use super::context::path_of;
use super::grammar::{Holds, Kind, looks_like};
use crate::diagnostics::finding::patch;

/// What is meant by a value for a place, in the form that the place takes: one thing for a list of one, a list of one for
/// the thing, the array of a `for_each` by itself. `None` where it has that form already, or can't be brought into it.
pub(super) fn made(holds: Holds, content: &Value) -> Option<Value> {
    match (holds, content) {
        (Holds::Objects(Kind::Property), Value::Object(fields)) => list_of_mappings(fields),
        (Holds::Objects(kind), Value::Object(_)) => {
            looks_like(kind, content).then(|| json!([content])).or_else(|| by_name(kind, content))
        }
        (Holds::Object(Kind::ForEach), Value::Array(items)) if path_of(content).is_some() => {
            Some(json!({"array": items}))
        }
        (Holds::Object(kind), Value::Array(items)) => match items.as_slice() {
            [only] if only.is_object() => Some(only.clone()),
            [_, _, ..] if kind == Kind::Condition => {
                items.iter().all(|it| looks_like(kind, it)).then(|| json!({"all": items}))
            }
            _ => None,
        },
        (Holds::End, Value::Array(items)) => match items.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        },
        (Holds::Chain, Value::String(_)) => Some(json!([content])),
        (Holds::Chain, Value::Object(fields)) if !fields.is_empty() => Some(json!([content])),
        (Holds::Constants, Value::String(_) | Value::Number(_) | Value::Bool(_)) => {
            Some(json!([content]))
        }
        (Holds::True, Value::String(text)) if text.eq_ignore_ascii_case("true") => {
            Some(json!(true))
        }
        (Holds::True, Value::Number(number)) if number.as_u64() == Some(1) => Some(json!(true)),
        _ => None,
    }
}

/// An object of names and mappings as a list of mappings.
fn list_of_mappings(fields: &Map<String, Value>) -> Option<Value> {
    if fields.contains_key("property_name") || fields.contains_key("source_path") {
        return Some(json!([fields]));
    }
    let mapping = |(name, content): (&String, &Value)| match content {
        Value::String(_) | Value::Array(_) => {
            Some(json!({"property_name": name, "source_path": content}))
        }
        Value::Object(mapping) => {
            let mut mapping = mapping.clone();
            mapping.entry("property_name").or_insert_with(|| json!(name));
            Some(Value::Object(mapping))
        }
        _ => None,
    };
    let list: Option<Vec<Value>> = fields.iter().map(mapping).collect();
    list.map(|list| json!(list))
}

/// An object of names and nodes, or of names and edges, as a list: what a node is called is its entity, or a name beside
/// the entity; what an edge is called, its relationship.
fn by_name(kind: Kind, content: &Value) -> Option<Value> {
    let field = match kind {
        Kind::Node => "entity_name",
        Kind::Edge => "relationship_name",
        _ => return None,
    };
    let named = |(name, it): (&String, &Value)| {
        let mut fields = it.as_object()?.clone();
        let other = if kind == Kind::Node { "name" } else { field };
        let missing = if fields.contains_key(field) { other } else { field };
        fields.entry(missing).or_insert_with(|| json!(name));
        Some(Value::Object(fields))
    };
    let list: Option<Vec<Value>> = content.as_object()?.iter().map(named).collect();
    list.filter(|list| !list.is_empty() && list.iter().all(|it| looks_like(kind, it)))
        .map(|list| json!(list))
}

/// A mapping that gives a constant where there is no value: `default` is `coalesce` with the constant behind the value.
/// What is to happen beside it, with null or with a failed conversion, can't be kept.
pub(super) fn with_default(
    at: &str,
    name: &str,
    mapping: &Value,
    constant: &Value,
) -> Option<json_patch::Patch> {
    let is_scalar = constant.is_string() || constant.is_number() || constant.is_boolean();
    let mut fields = mapping.as_object()?.clone();
    fields.remove(name);
    let mut value = Map::new();
    for source in ["source_path", "from", "template", "convert"] {
        if let Some(it) = fields.remove(source) {
            value.insert(source.to_owned(), it);
        }
    }
    let is_plain = fields.keys().all(|field| field == "property_name");
    if !is_scalar
        || !is_plain
        || !(value.contains_key("source_path") || value.contains_key("template"))
    {
        return None;
    }
    fields.insert("coalesce".to_owned(), json!([value, {"constant": constant}]));
    Some(patch::replace(at, Value::Object(fields)))
}

/// The opposite of a test that was written with `false`.
pub(super) fn opposite(condition: &Value, test: &str) -> Option<Value> {
    let mut fields = condition.as_object()?.clone();
    fields.insert(test.to_owned(), json!(true));
    Some(json!({"not": fields}))
}
