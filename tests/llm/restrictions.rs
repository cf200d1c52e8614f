//! What providers refuse of a schema, by their documentation as of November 2026: each restriction with where it is from.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// What a provider refuses in the body of a request, if anything.
pub(super) fn refused(provider: &str, body: &Value) -> Option<String> {
    match provider {
        "anthropic" => anthropic(&body["tools"][0]["input_schema"]),
        "openai" => {
            let format = &body["response_format"]["json_schema"];
            (format["strict"] == true).then(|| openai(&format["schema"])).flatten()
        }
        "gemini" => gemini(&body["generationConfig"]["responseJsonSchema"]),
        other => panic!("{other}"),
    }
}

/// "Define tools", platform.claude.com/docs/en/agents-and-tools/tool-use, and the answer of the service to others:
/// "input_schema does not support oneOf, allOf, or anyOf at the top level".
fn anthropic(schema: &Value) -> Option<String> {
    let alternatives = ["anyOf", "oneOf", "allOf"];
    let found = alternatives.iter().find(|it| schema.get(**it).is_some());
    found.map(|it| format!("input_schema does not support {it} at the top level"))
}

/// "Structured model outputs", platform.openai.com/docs/guides/structured-outputs, section "Supported schemas".
fn openai(root: &Value) -> Option<String> {
    // "Supported properties", and what else the guide's examples hold.
    const SUPPORTED: &[&str] = &[
        "$defs",
        "$ref",
        "additionalProperties",
        "anyOf",
        "const",
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
    // "Root objects must not be anyOf and must be an object".
    if root["type"] != "object" || root.get("anyOf").is_some() {
        return Some(
            "schema must have type 'object' and not have 'anyOf' at the top level".to_owned(),
        );
    }
    let (mut properties, mut characters, mut values) = (0, 0, 0);
    for keywords in subschemas(root) {
        let kept = |name: &str| keywords.get(name);
        // "Some type-specific keywords are not yet supported", and "allOf, not, dependentRequired, dependentSchemas, if, then, else".
        if let Some(unknown) = keywords.keys().find(|it| !SUPPORTED.contains(&it.as_str())) {
            return Some(format!("'{unknown}' is not permitted"));
        }
        // The answer of the service to others: "$ref cannot have keywords {'description'}".
        if kept("$ref").is_some() && keywords.len() > 1 {
            return Some("$ref cannot have keywords beside it".to_owned());
        }
        // The answer of the service to others: "schema must have a 'type' key".
        if !["type", "$ref", "anyOf"].iter().any(|it| keywords.contains_key(*it)) {
            return Some("schema must have a 'type' key".to_owned());
        }
        // "All fields must be required", "additionalProperties: false must always be set in objects".
        if kept("type").is_some_and(|it| it == "object") {
            let named: BTreeSet<&str> = kept("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
                .map(|it| it.0.as_str())
                .collect();
            let required: BTreeSet<&str> = kept("required")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            if named != required {
                return Some(
                    "'required' is required to be an array including every key in properties"
                        .to_owned(),
                );
            }
            if kept("additionalProperties") != Some(&Value::Bool(false)) {
                return Some(
                    "'additionalProperties' is required to be supplied and to be false".to_owned(),
                );
            }
            properties += named.len();
            characters += named.iter().map(|name| name.len()).sum::<usize>();
        }
        // The answer of the service to others: "Objects provided via 'anyOf' must not share identical first keys".
        let first =
            |branch: &Value| Some(branch.get("properties")?.as_object()?.keys().next()?.clone());
        let branches = kept("anyOf").and_then(Value::as_array).into_iter().flatten();
        let firsts: Vec<String> = branches.filter_map(|it| first(resolved(root, it))).collect();
        if firsts.iter().collect::<BTreeSet<_>>().len() < firsts.len() {
            return Some(
                "objects provided via 'anyOf' must not share identical first keys".to_owned(),
            );
        }
        let listed = kept("enum").and_then(Value::as_array).map_or(0, Vec::len);
        let texts =
            kept("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let length: usize = texts.map(str::len).sum();
        // "A single enum property with string values: 15,000 characters when there are more than 250 enum values".
        if listed > 250 && length > 15_000 {
            return Some("an enum is too long".to_owned());
        }
        values += listed;
        characters += length;
    }
    characters +=
        root["$defs"].as_object().into_iter().flatten().map(|(name, _)| name.len()).sum::<usize>();
    // "Up to 5000 object properties total, with up to 10 levels of nesting", "total string length .. cannot exceed 120,000 characters",
    // "up to 1000 enum values across all enum properties". Recursive schemas are supported, so a reference is no level.
    let depth = root["$defs"].as_object().into_iter().flatten().map(|(_, it)| levels(it)).max();
    let depth = depth.unwrap_or(0).max(levels(root));
    let limits = [
        ("properties", properties, 5_000),
        ("levels", depth, 10),
        ("characters", characters, 120_000),
        ("enum values", values, 1_000),
    ];
    limits
        .iter()
        .find(|(_, used, most)| used > most)
        .map(|(what, used, most)| format!("{used} {what}, at most {most}"))
}

/// `GenerationConfig` in the reference of the API, ai.google.dev/api/generate-content, `responseJsonSchema`.
fn gemini(root: &Value) -> Option<String> {
    // "The following keywords are supported".
    const SUPPORTED: &[&str] = &[
        "$id",
        "$defs",
        "$ref",
        "$anchor",
        "type",
        "format",
        "title",
        "description",
        "enum",
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "minimum",
        "maximum",
        "anyOf",
        "oneOf",
        "properties",
        "additionalProperties",
        "required",
        "propertyOrdering",
    ];
    for keywords in subschemas(root) {
        if let Some(unknown) = keywords.keys().find(|it| !SUPPORTED.contains(&it.as_str())) {
            return Some(format!("{unknown} is not supported"));
        }
        // "If $ref is set on a sub-schema, no other properties, except for than those starting as a $, may be set".
        if keywords.contains_key("$ref") && !keywords.keys().all(|it| it.starts_with('$')) {
            return Some("$ref stands alone".to_owned());
        }
        // "enum (for strings and numbers)".
        let mut listed = keywords.get("enum").and_then(Value::as_array).into_iter().flatten();
        if listed.any(|it| !it.is_string() && !it.is_number()) {
            return Some("enum is for strings and numbers".to_owned());
        }
    }
    // "Cyclic references are unrolled to a limited degree and, as such, may only be used within non-required properties".
    let definitions = root["$defs"].as_object();
    let needed: BTreeMap<&str, BTreeSet<&str>> = definitions
        .into_iter()
        .flatten()
        .map(|(name, schema)| (name.as_str(), needed(schema)))
        .collect();
    let is_cyclic = |name: &&&str| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![**name]);
        while let Some(at) = open.pop() {
            for next in needed.get(at).into_iter().flatten() {
                if *next == **name {
                    return true;
                }
                if seen.insert(*next) {
                    open.push(next);
                }
            }
        }
        false
    };
    needed.keys().find(is_cyclic).map(|name| format!("{name} needs itself"))
}

/// The definitions that whatever fits a schema may have to have something of: those behind required properties, elements and
/// alternatives.
fn needed(schema: &Value) -> BTreeSet<&str> {
    let (mut found, mut open) = (BTreeSet::new(), vec![schema]);
    while let Some(schema) = open.pop() {
        found.extend(schema["$ref"].as_str().and_then(|it| it.strip_prefix("#/$defs/")));
        open.extend(schema.get("items"));
        open.extend(["anyOf", "oneOf"].iter().filter_map(|it| schema[*it].as_array()).flatten());
        let required =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        open.extend(required.filter_map(|name| schema["properties"].get(name)));
    }
    found
}

/// A schema, or the definition that it refers to.
fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let name = schema["$ref"].as_str().and_then(|it| it.strip_prefix("#/$defs/"));
    name.and_then(|name| root["$defs"].get(name)).unwrap_or(schema)
}

/// The schemas that are directly inside of one.
fn inside(schema: &Value) -> impl Iterator<Item = &Value> {
    let named =
        ["properties"].into_iter().filter_map(|it| schema[it].as_object()).flatten().map(|it| it.1);
    let one = ["items", "additionalProperties", "not"].into_iter().filter_map(|it| schema.get(it));
    let lists = ["anyOf", "oneOf", "allOf", "prefixItems"];
    named.chain(one).chain(lists.into_iter().filter_map(|it| schema[it].as_array()).flatten())
}

/// All schemas in one, itself and its definitions included.
fn subschemas(root: &Value) -> Vec<&Map<String, Value>> {
    let mut open = vec![root];
    open.extend(root["$defs"].as_object().into_iter().flatten().map(|it| it.1));
    let mut found = Vec::new();
    while let Some(schema) = open.pop() {
        open.extend(inside(schema));
        found.extend(schema.as_object());
    }
    found
}

/// How deep objects nest in a schema as it is written.
fn levels(schema: &Value) -> usize {
    let below = inside(schema).map(levels).max().unwrap_or(0);
    below + usize::from(schema["type"] == "object")
}
