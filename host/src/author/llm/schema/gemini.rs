//! The subset that Gemini takes as `responseJsonSchema`.

use serde_json::Value;

use super::{drop_unused, spell_types, visit};

/// The keywords of the reference of `GenerationConfig`. It lists lengths of arrays as well; but an upper limit there, "especially when
/// nested", is what the guide to structured output names first among what makes a schema too complex for the service.
const TAKEN: &[&str] = &[
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

/// The schema with what Gemini takes of it. Next to a reference it takes nothing, and values are listed of texts and numbers alone.
pub(in crate::author::llm) fn for_gemini(mut schema: Value) -> Value {
    visit(&mut schema, |keywords| {
        let refers = keywords.contains_key("$ref");
        spell_types(keywords);
        keywords.retain(|keyword, value| {
            let is_taken = match keyword.as_str() {
                "enum" => value.as_array().is_some_and(|it| it.iter().all(is_text_or_number)),
                other => TAKEN.contains(&other),
            };
            is_taken && (!refers || keyword.starts_with('$'))
        });
    });
    drop_unused(&mut schema);
    schema
}

fn is_text_or_number(value: &Value) -> bool {
    value.is_string() || value.is_number()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn gemini_gets_what_it_knows_and_property_names_are_no_keywords() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "default": {},
            "properties": {
                "default": {"type": "string", "minLength": 1},
                "path": {"$ref": "#/$defs/path", "description": "where", "default": ["a"]},
                "sure": {"const": true},
            },
            "anyOf": [{"const": 1}, {"type": "null", "default": null}],
            "$defs": {
                "path": {"type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": 9},
                "unused": {},
            },
        });
        let expected = json!({
            "type": "object",
            "properties": {"default": {"type": "string"}, "path": {"$ref": "#/$defs/path"}, "sure": {"type": "boolean"}},
            "anyOf": [{"type": "integer"}, {"type": "null"}],
            "$defs": {"path": {"type": "array", "items": {"type": "string"}}},
        });
        assert_eq!(for_gemini(schema), expected);
    }
}
