//! Fields that exclude one another, and those that mean nothing without another one.

use serde_json::{Map, Value, json};

use super::context::{Context, split};
use super::grammar::{Kind, kind};
use super::plan::Remedy;
use super::shape;
use crate::diagnostics::finding::patch;

/// A field that means nothing without another one: it goes.
pub(super) fn unused(context: &Context<'_, '_>, at: &str) -> Remedy {
    let (parent, name) = split(at)?;
    let found = context.value.pointer(at)?.as_str();
    let says_default = matches!(
        (name.as_str(), found),
        ("on_error" | "nulls", Some("omit")) | ("from", Some("event"))
    );
    let has_constant = context.value.pointer(parent)?.get("constant").is_some();
    Some((patch::remove(at), says_default || has_constant || name != "from"))
}

/// Two fields of which an object can have one: the one that says nothing goes.
pub(super) fn conflicting(context: &Context<'_, '_>, at: &str) -> Remedy {
    let (parent, name) = split(at)?;
    let fields = context.value.pointer(parent)?.as_object()?;
    if kind(context.value, parent) == Some(Kind::Plan) {
        return of_both_forms(fields);
    }
    if matches!(kind(context.value, parent), Some(Kind::Condition)) {
        return combined(parent, fields);
    }
    let is_nothing = |it: &Value| match it {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    if is_nothing(fields.get(&name)?) {
        return Some((patch::remove(at), true));
    }
    let sources = ["source_path", "constant", "template", "coalesce", "partial_when_path", "array"];
    let empty = sources.iter().find(|it| **it != name && fields.get(**it).is_some_and(is_nothing));
    if let Some(empty) = empty {
        return Some((patch::remove(&patch::below(parent, empty)), true));
    }
    // A path with a constant beside it: what there is, or else the constant.
    let constant = fields.get("constant").filter(|_| name == "constant")?;
    shape::with_default(parent, "constant", context.value.pointer(parent)?, constant)
        .map(|patch| (patch, false))
}

/// Several tests of one path: all of them.
fn combined(at: &str, fields: &Map<String, Value>) -> Remedy {
    let path = fields.get("source_path")?;
    let tests = ["exists", "truthy", "equals", "one_of", "starts_with", "is_type"];
    let beside = ["source_path", "from"];
    if fields.keys().any(|it| !tests.contains(&it.as_str()) && !beside.contains(&it.as_str())) {
        return None;
    }
    let test = |name: &&str| {
        let mut test = Map::new();
        test.insert("source_path".to_owned(), path.clone());
        if let Some(from) = fields.get("from") {
            test.insert("from".to_owned(), from.clone());
        }
        test.insert((*name).to_owned(), fields.get(*name)?.clone());
        Some(Value::Object(test))
    };
    let all: Vec<Value> = tests.iter().filter_map(test).collect();
    Some((patch::replace(at, json!({"all": all})), true))
}

/// The fields of the short form beside `nodes`: one more node, where no other is for its entity.
fn of_both_forms(fields: &Map<String, Value>) -> Remedy {
    let entity = fields.get("target_entity_name")?;
    let nodes = fields.get("nodes")?.as_array()?;
    let gone = ["target_entity_name", "key_field", "property_fields"]
        .into_iter()
        .filter(|field| fields.contains_key(*field))
        .map(|field| patch::remove(&format!("/{field}")))
        .reduce(patch::both)?;
    let is_there = nodes.iter().any(|node| node.get("entity_name") == Some(entity));
    let node = long_form(fields, entity);
    match (is_there, node) {
        (false, Some(node)) => {
            let all: Vec<&Value> = std::iter::once(&node).chain(nodes).collect();
            Some((patch::both(gone, patch::replace("/nodes", all)), true))
        }
        (false, None) => None,
        (true, _) => Some((gone, fields.get("key_field").is_none())),
    }
}

/// The node that the fields of the short form stand for.
pub(super) fn long_form(fields: &Map<String, Value>, entity: &Value) -> Option<Value> {
    let mut node = Map::new();
    node.insert("entity_name".to_owned(), entity.clone());
    let keys = match (fields.get("key_field"), fields.get("key_fields")) {
        (Some(key), None) => json!([key]),
        (None, Some(keys)) => keys.clone(),
        _ => return None,
    };
    node.insert("key_fields".to_owned(), keys);
    for field in ["property_fields", "for_each", "name"] {
        if let Some(it) = fields.get(field) {
            node.insert(field.to_owned(), it.clone());
        }
    }
    Some(Value::Object(node))
}
