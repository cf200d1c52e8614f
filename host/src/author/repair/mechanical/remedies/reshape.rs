//! Values of another form than the place takes, that can be brought into it without knowing anything else.

use serde_json::{Map, Value, json};

use super::{looks_like, read_path};
use crate::diagnostics::finding::patch;
use crate::plan::expr::FIRST_OF;
use crate::plan::language::{ObjectKind, Shape};

/// What is meant by a value for a place, in the form that the place takes: one thing for a list of one, a list of one for
/// the thing, the array of a `for_each` by itself. `None` where it has that form already, or can't be brought into it.
pub(super) fn reshaped(shape: Shape, content: &Value) -> Option<Value> {
    match (shape, content) {
        (Shape::Objects(ObjectKind::Property), Value::Object(fields)) => list_of_mappings(fields),
        (Shape::Objects(kind), Value::Object(_)) => {
            looks_like(kind, content).then(|| json!([content])).or_else(|| by_name(kind, content))
        }
        (Shape::Object(ObjectKind::ForEach), Value::Array(items))
            if read_path(content).is_some() =>
        {
            Some(json!({"array": items}))
        }
        (Shape::Object(ObjectKind::ForEach), Value::Array(items))
            if items.len() > 1 && items.iter().all(|it| read_path(it).is_some()) =>
        {
            Some(json!({FIRST_OF: items}))
        }
        (Shape::Object(kind), Value::Array(items)) => match items.as_slice() {
            [only] if only.is_object() => Some(only.clone()),
            [_, _, ..] if kind == ObjectKind::Condition => {
                items.iter().all(|it| looks_like(kind, it)).then(|| json!({"all": items}))
            }
            _ => None,
        },
        (Shape::End, Value::Array(items)) => match items.as_slice() {
            [only] => Some(only.clone()),
            _ => None,
        },
        (Shape::Chain, Value::String(_)) => Some(json!([content])),
        (Shape::Chain, Value::Object(fields)) if !fields.is_empty() => Some(json!([content])),
        (Shape::Constants, Value::String(_) | Value::Number(_) | Value::Bool(_)) => {
            Some(json!([content]))
        }
        (Shape::True, Value::String(text)) if text.eq_ignore_ascii_case("true") => {
            Some(json!(true))
        }
        (Shape::True, Value::Number(number)) if number.as_u64() == Some(1) => Some(json!(true)),
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
fn by_name(kind: ObjectKind, content: &Value) -> Option<Value> {
    let field = match kind {
        ObjectKind::Node => "entity_name",
        ObjectKind::Edge => "relationship_name",
        _ => return None,
    };
    let named = |(name, it): (&String, &Value)| {
        let mut fields = it.as_object()?.clone();
        let other = if kind == ObjectKind::Node { "name" } else { field };
        let missing = if fields.contains_key(field) { other } else { field };
        fields.entry(missing).or_insert_with(|| json!(name));
        Some(Value::Object(fields))
    };
    let list: Option<Vec<Value>> = content.as_object()?.iter().map(named).collect();
    list.filter(|list| !list.is_empty() && list.iter().all(|it| looks_like(kind, it)))
        .map(|list| json!(list))
}

/// A mapping that gives a constant where there is no value: `default` is `coalesce` with the constant after the value.
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
    for source in ["source_path", "from", "template", "expression", "convert"] {
        if let Some(it) = fields.remove(source) {
            value.insert(source.to_owned(), it);
        }
    }
    let is_plain = fields.keys().all(|field| field == "property_name");
    if !is_scalar
        || !is_plain
        || !["source_path", "template", "expression"].iter().any(|it| value.contains_key(*it))
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

/// The node that the fields of the short form are about.
pub(super) fn long_form(fields: &Map<String, Value>, entity: &Value) -> Option<Value> {
    let keys = match (fields.get("key_field"), fields.get("key_fields")) {
        (Some(key), None) => json!([key]),
        (None, Some(keys)) => keys.clone(),
        _ => return None,
    };
    let mut node = Map::new();
    node.insert("entity_name".to_owned(), entity.clone());
    node.insert("key_fields".to_owned(), keys);
    for field in ["property_fields", "for_each", "name"] {
        node.extend(fields.get(field).map(|it| (field.to_owned(), it.clone())));
    }
    Some(Value::Object(node))
}

/// The plan without those of these fields that it has.
pub(super) fn without(fields: &Map<String, Value>, names: &[&str]) -> Option<json_patch::Patch> {
    let there = names.iter().filter(|name| fields.contains_key(**name));
    there.map(|name| patch::remove(&patch::below("", name))).reduce(patch::both)
}
