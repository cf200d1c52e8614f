//! The schema of an answer, as a provider takes it. What a provider's form of it can't say is checked of every answer all the same.

mod gemini;
mod strict;

use serde_json::{Map, Value, json};

pub(super) use gemini::for_gemini;
pub(super) use strict::{strict, without_nulls};

/// Keywords whose value is an object of schemas.
const NAMED: &[&str] = &["properties", "$defs", "definitions", "patternProperties"];

/// Keywords whose value is a schema, or an array of them.
const NESTED: &[&str] =
    &["items", "additionalProperties", "prefixItems", "anyOf", "oneOf", "allOf", "not"];

/// Visits every schema in `schema`, itself included, each before those in it.
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

/// The schema as Anthropic takes it for a tool: without alternatives at its root, which are refused there.
pub(super) fn for_anthropic(mut schema: Value) -> Value {
    if let Value::Object(keywords) = &mut schema {
        keywords.retain(|keyword, _| !matches!(keyword.as_str(), "anyOf" | "oneOf" | "allOf"));
    }
    schema
}

/// Says types one by one, and says them at all: not every provider takes a list of types, or a constant by itself. Alternatives
/// that say no type are dropped: they say which of the fields beside them go together.
fn spell_types(keywords: &mut Map<String, Value>) {
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = keywords.get(keyword) else { continue };
        if !branches.iter().all(says_a_type) {
            keywords.remove(keyword);
        }
    }
    let of_value = match (keywords.get("const"), keywords.get("enum")) {
        (Some(value), _) => type_of(value),
        (None, Some(Value::Array(values))) => {
            let first = values.first().and_then(type_of);
            first.filter(|it| values.iter().all(|value| type_of(value) == Some(*it)))
        }
        _ => None,
    };
    if let Some(kind) = of_value {
        keywords.entry("type").or_insert_with(|| kind.into());
    }
    if let Some(Value::Array(types)) = keywords.get("type").cloned() {
        keywords.remove("type");
        keywords.insert("anyOf".to_owned(), types.iter().map(|it| json!({"type": it})).collect());
    }
}

fn says_a_type(branch: &Value) -> bool {
    ["type", "$ref", "enum", "const", "anyOf"].iter().any(|it| branch.get(it).is_some())
}

fn type_of(value: &Value) -> Option<&'static str> {
    match value {
        Value::String(_) => Some("string"),
        Value::Bool(_) => Some("boolean"),
        Value::Number(number) => Some(if number.is_f64() { "number" } else { "integer" }),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Drops the definitions that nothing refers to, as seen from the root.
fn drop_unused(schema: &mut Value) {
    let Some(Value::Object(mut definitions)) =
        schema.as_object_mut().and_then(|it| it.remove("$defs"))
    else {
        return;
    };
    let mut used = Map::new();
    let mut open = references(schema);
    while let Some(name) = open.pop() {
        if let Some(definition) = definitions.remove(&name) {
            open.extend(references(&definition));
            used.insert(name, definition);
        }
    }
    if !used.is_empty() {
        schema["$defs"] = Value::Object(used);
    }
}

/// The names of the definitions that a schema refers to.
fn references(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    visit(&mut schema.clone(), |keywords| {
        let to = keywords.get("$ref").and_then(Value::as_str);
        found.extend(to.and_then(|to| to.strip_prefix("#/$defs/")).map(str::to_owned));
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_spelt() {
        let cases = [
            (json!({"const": true}), json!({"const": true, "type": "boolean"})),
            (json!({"enum": ["a", "b"]}), json!({"enum": ["a", "b"], "type": "string"})),
            (json!({"enum": ["a", 1]}), json!({"enum": ["a", 1]})),
            (
                json!({"type": ["string", "null"], "description": "d"}),
                json!({"anyOf": [{"type": "string"}, {"type": "null"}], "description": "d"}),
            ),
            (
                json!({"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}),
                json!({"type": "object"}),
            ),
            (json!({"anyOf": [{"type": "string"}, {"properties": {}}]}), json!({})),
        ];
        for (schema, expected) in cases {
            let mut found = schema.clone();
            visit(&mut found, spell_types);
            assert_eq!(found, expected, "{schema}");
        }
    }

    #[test]
    fn definitions_that_nothing_leads_to_are_dropped() {
        let mut schema = json!({
            "items": {"$ref": "#/$defs/a"},
            "$defs": {"a": {"items": {"$ref": "#/$defs/b"}}, "b": {"items": {"$ref": "#/$defs/a"}}, "c": {"$ref": "#/$defs/a"}},
        });
        drop_unused(&mut schema);
        let of = |name: &str| schema["$defs"].get(name).is_some();
        assert_eq!(["a", "b", "c"].map(of), [true, true, false]);
    }
}
