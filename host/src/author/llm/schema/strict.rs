//! The form that OpenAI's strict mode asks for, and answers in it.
//!
//! Every object is closed and requires all of its properties: one that may be left out may be null there. An answer so says null of
//! all that it leaves out, which [`without_nulls`] takes out again.

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::{drop_unused, spell_types, visit};

/// The keywords of the guide to structured outputs.
const TAKEN: &[&str] = &[
    "$defs",
    "$ref",
    "additionalProperties",
    "anyOf",
    "const",
    "definitions",
    "description",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "multipleOf",
    "pattern",
    "properties",
    "required",
    "title",
    "type",
];

/// How deep objects and arrays of an answer may be for nulls to be taken out: deeper ones are no plans.
const MAX_DEPTH: usize = 64;

/// The schema as strict mode takes it; `None` where there is an object that isn't closed, of which the mode can't say so. It takes at
/// least all that the schema takes, null where something may be left out aside.
pub(in crate::author::llm) fn strict(schema: &Value) -> Option<Value> {
    let mut strict = schema.clone();
    visit(&mut strict, |keywords| {
        // What stands beside a reference is refused, and what stands beside alternatives is kept.
        if let Some(reference) = keywords.remove("$ref") {
            match keywords.remove("description") {
                None => *keywords = Map::from_iter([("$ref".to_owned(), reference)]),
                Some(description) => {
                    let alone = json!([{"$ref": reference}]);
                    *keywords = Map::from_iter([
                        ("description".to_owned(), description),
                        ("anyOf".to_owned(), alone),
                    ]);
                }
            }
            return;
        }
        spell_types(keywords);
        keywords.retain(|keyword, _| TAKEN.contains(&keyword.as_str()));
        require_all(keywords);
    });
    if let Value::Object(root) = &mut strict {
        root.remove("anyOf");
    }
    drop_unused(&mut strict);
    is_strict(&strict).then_some(strict)
}

/// Requires all properties, and lets those be null that may be left out.
fn require_all(keywords: &mut Map<String, Value>) {
    let required = keywords.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(Value::Object(properties)) = keywords.get_mut("properties") else { return };
    for (name, schema) in properties.iter_mut() {
        if !required.iter().any(|it| it == name) {
            or_null(schema);
        }
    }
    let names = properties.keys().map(|name| Value::from(name.as_str())).collect();
    keywords.insert("required".to_owned(), names);
}

fn or_null(schema: &mut Value) {
    let null = json!({"type": "null"});
    let Value::Object(keywords) = schema else { return };
    spell_types(keywords);
    if let Some(Value::Array(branches)) = keywords.get_mut("anyOf") {
        if !branches.contains(&null) {
            branches.push(null);
        }
        return;
    }
    let description = keywords.remove("description");
    let own = Value::Object(std::mem::take(keywords));
    keywords.extend(description.map(|it| ("description".to_owned(), it)));
    keywords.insert("anyOf".to_owned(), Value::Array(vec![own, null]));
}

/// Whether the mode takes the schema: every object is closed and requires all its properties, and there is no keyword that the mode
/// doesn't know. Else it would refuse the request.
fn is_strict(schema: &Value) -> bool {
    let mut strict = schema["type"] == "object";
    visit(&mut schema.clone(), |keywords| {
        strict &= keywords.keys().all(|keyword| TAKEN.contains(&keyword.as_str()))
            && (!keywords.contains_key("$ref") || keywords.len() == 1)
            && is_closed(keywords);
    });
    strict
}

fn is_closed(keywords: &Map<String, Value>) -> bool {
    let properties = keywords.get("properties").and_then(Value::as_object);
    if properties.is_none() && keywords.get("type").is_none_or(|kind| kind != "object") {
        return true;
    }
    let required: Vec<&Value> =
        keywords.get("required").and_then(Value::as_array).into_iter().flatten().collect();
    keywords.get("additionalProperties") == Some(&Value::Bool(false))
        && properties
            .is_some_and(|all| all.keys().all(|name| required.iter().any(|it| *it == name)))
}

/// An answer without the members of objects that are null; what else there is keeps its order and its spelling. What isn't JSON as a
/// whole, as an answer that was cut off, stays as it is.
pub(in crate::author::llm) fn without_nulls(answer: String) -> String {
    match changed(&answer, MAX_DEPTH) {
        Ok(Some(changed)) => changed,
        Ok(None) | Err(_) => answer,
    }
}

/// JSON without null members, if there are any in it.
fn changed(json: &str, depth: usize) -> Result<Option<String>, serde_json::Error> {
    let json = json.trim();
    match json.as_bytes().first() {
        Some(b'{') if depth > 0 => {
            let Members(members) = serde_json::from_str(json)?;
            let mut kept = Vec::with_capacity(members.len());
            let mut is_changed = false;
            for (name, value) in members {
                if value.get() == "null" {
                    is_changed = true;
                    continue;
                }
                let inside = changed(value.get(), depth - 1)?;
                is_changed |= inside.is_some();
                let value = inside.as_deref().unwrap_or_else(|| value.get());
                kept.push(format!("{}: {value}", Value::from(name)));
            }
            Ok(is_changed.then(|| format!("{{{}}}", kept.join(", "))))
        }
        Some(b'[') if depth > 0 => {
            let elements: Vec<&RawValue> = serde_json::from_str(json)?;
            let mut kept = Vec::with_capacity(elements.len());
            let mut is_changed = false;
            for element in elements {
                let inside = changed(element.get(), depth - 1)?;
                is_changed |= inside.is_some();
                kept.push(inside.unwrap_or_else(|| element.get().to_owned()));
            }
            Ok(is_changed.then(|| format!("[{}]", kept.join(", "))))
        }
        _ => {
            let _: &RawValue = serde_json::from_str(json)?;
            Ok(None)
        }
    }
}

/// The members of an object in their order, also where one is there twice.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_with_open_parts_is_not_strict() {
        let closed = json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["a", "default"],
            "properties": {"a": {"$ref": "#/$defs/b"}, "default": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
            "$defs": {"b": {"type": "array", "items": {"type": "string"}, "minItems": 1}},
        });
        assert_eq!(strict(&closed).as_ref(), Some(&closed), "as it is");
        for (pointer, value) in [
            ("/additionalProperties", json!(true)),
            ("/type", json!("array")),
            ("/properties/a", json!({"type": "object"})),
            ("/$defs/b/items", json!({"type": "object", "properties": {}})),
        ] {
            let mut changed = closed.clone();
            if let Some(place) = changed.pointer_mut(pointer) {
                *place = value;
            }
            assert_eq!(strict(&changed), None, "{pointer}");
        }
    }

    #[test]
    fn what_may_be_left_out_may_be_null() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "additionalProperties": false,
            "required": ["a"],
            "anyOf": [{"required": ["b"]}, {"required": ["c"]}],
            "properties": {
                "a": {"$ref": "#/$defs/path", "description": "where", "minItems": 2},
                "b": {"$ref": "#/$defs/path"},
                "c": {"type": "string", "minLength": 1, "description": "what"},
                "d": {"type": ["string", "number"], "default": 1},
                "e": {"enum": ["x", "y"]},
            },
            "$defs": {"path": {"type": "array", "items": {"type": "string"}}, "unused": {"type": "object"}},
        });
        let expected = json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["a", "b", "c", "d", "e"],
            "properties": {
                "a": {"description": "where", "anyOf": [{"$ref": "#/$defs/path"}]},
                "b": {"anyOf": [{"$ref": "#/$defs/path"}, {"type": "null"}]},
                "c": {"description": "what", "anyOf": [{"type": "string"}, {"type": "null"}]},
                "d": {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}]},
                "e": {"anyOf": [{"type": "string", "enum": ["x", "y"]}, {"type": "null"}]},
            },
            "$defs": {"path": {"type": "array", "items": {"type": "string"}}},
        });
        assert_eq!(strict(&schema), Some(expected));
    }

    #[test]
    fn the_schemas_of_answers_have_a_strict_form() {
        use crate::author::answer::{rust_schema, schema};

        for schema in [crate::plan::schema(), schema(), rust_schema()] {
            assert!(strict(&schema).is_some());
        }
    }

    #[test]
    fn nulls_are_taken_out_of_objects_alone() {
        for (answer, expected) in [
            (
                r#"{"a": null, "b": [null, {"c":null}], "d": 1.50}"#,
                r#"{"b": [null, {}], "d": 1.50}"#,
            ),
            (" {\"a\":{\"b\":null,\"c\":\"\\u0041 null\"}}\n", r#"{"a": {"c": "\u0041 null"}}"#),
            ("{\"a\": null, \"a\": 1, \"a\": 2}", "{\"a\": 1, \"a\": 2}"),
            (" {\"a\":\n1}", " {\"a\":\n1}"),
            ("null", "null"),
            ("{\"a\": null", "{\"a\": null"),
            ("no JSON", "no JSON"),
            ("", ""),
        ] {
            assert_eq!(without_nulls(answer.to_owned()), expected);
        }
        let deep = format!("{}{{\"a\": null}}{}", "[".repeat(100), "]".repeat(100));
        assert!(without_nulls(deep).contains("{\"a\": null}"), "deeper than a plan may be");
        let deeper = "[".repeat(100_000);
        assert_eq!(without_nulls(deeper.clone()), deeper);
    }
}
