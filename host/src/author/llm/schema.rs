//! The schema of an answer, as a provider takes it.

use serde_json::{Map, Value};

/// Keywords whose value is an object of schemas.
const NAMED: &[&str] = &["properties", "$defs", "definitions", "patternProperties"];

/// Keywords whose value is a schema, or an array of them.
const NESTED: &[&str] =
    &["items", "additionalProperties", "prefixItems", "anyOf", "oneOf", "allOf", "not"];

/// What OpenAI takes in strict mode.
const STRICT: &[&str] = &[
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

/// What Gemini takes.
const GEMINI: &[&str] = &[
    "$anchor",
    "$defs",
    "$id",
    "$ref",
    "additionalProperties",
    "anyOf",
    "description",
    "enum",
    "format",
    "items",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "oneOf",
    "prefixItems",
    "properties",
    "required",
    "title",
    "type",
];

/// Visits every schema in `schema`, itself included.
fn visit(schema: &mut Value, mut visit: impl FnMut(&mut Map<String, Value>)) {
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        let Value::Object(keywords) = schema else { continue };
        visit(keywords);
        for (keyword, value) in keywords {
            let keyword = keyword.as_str();
            if NESTED.contains(&keyword) {
                match value {
                    Value::Array(list) => open.extend(list),
                    one => open.push(one),
                }
            } else if NAMED.contains(&keyword)
                && let Value::Object(named) = value
            {
                open.extend(named.values_mut());
            }
        }
    }
}

/// Whether OpenAI's strict mode takes the schema: every object is closed and requires all its properties, and there is
/// no keyword that the mode doesn't know. Else the mode would refuse the request.
pub(super) fn is_strict(schema: &Value) -> bool {
    let mut strict = schema["type"] == "object";
    visit(&mut schema.clone(), |keywords| {
        strict &= keywords.keys().all(|keyword| STRICT.contains(&keyword.as_str()))
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

/// The schema as Anthropic takes it for a tool: without alternatives at its root, which are refused there. What they say is
/// checked of every answer all the same.
pub(super) fn for_anthropic(mut schema: Value) -> Value {
    if let Value::Object(keywords) = &mut schema {
        keywords.retain(|keyword, _| !matches!(keyword.as_str(), "anyOf" | "oneOf" | "allOf"));
    }
    schema
}

/// The schema with what Gemini takes of it. Next to a reference it takes nothing.
pub(super) fn for_gemini(mut schema: Value) -> Value {
    visit(&mut schema, |keywords| {
        let refers = keywords.contains_key("$ref");
        keywords.retain(|keyword, _| {
            GEMINI.contains(&keyword.as_str()) && (!refers || keyword.starts_with('$'))
        });
    });
    schema
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_with_optional_or_open_parts_is_not_strict() {
        let closed = json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["a", "default"],
            "properties": {"a": {"$ref": "#/$defs/b"}, "default": {"type": ["string", "null"]}},
            "$defs": {"b": {"type": "array", "items": {"type": "string"}, "minItems": 1}},
        });
        assert!(is_strict(&closed));
        for (pointer, value) in [
            ("/required", json!(["a"])),
            ("/additionalProperties", json!(true)),
            ("/type", json!("array")),
            ("/properties/a", json!({"$ref": "#/$defs/b", "description": "beside a reference"})),
            ("/properties/a", json!({"type": "string", "minLength": 1})),
            ("/properties/a", json!({"type": "object"})),
            ("/$defs/b/items", json!({"type": "object", "properties": {}})),
        ] {
            let mut changed = closed.clone();
            if let Some(place) = changed.pointer_mut(pointer) {
                *place = value;
            }
            assert!(!is_strict(&changed), "{pointer}");
        }
        assert!(!is_strict(&crate::plan::schema()), "most of a plan's fields may be left out");
    }

    #[test]
    fn gemini_gets_what_it_knows_and_property_names_are_no_keywords() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "default": {},
            "properties": {
                "default": {"type": "string", "minLength": 1},
                "path": {"$ref": "#/$defs/path", "description": "where", "default": ["a"]},
            },
            "anyOf": [{"const": 1}, {"type": "null", "default": null}],
            "$defs": {"path": {"type": "array", "items": {"type": "string", "minLength": 1}}},
        });
        let expected = json!({
            "type": "object",
            "properties": {"default": {"type": "string"}, "path": {"$ref": "#/$defs/path"}},
            "anyOf": [{}, {"type": "null"}],
            "$defs": {"path": {"type": "array", "items": {"type": "string"}}},
        });
        assert_eq!(for_gemini(schema), expected);
    }
}
