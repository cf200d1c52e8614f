//! What a model says can't be said in a plan, or done by an extractor.

use serde_json::{Map, Value, json};

use crate::diagnostics::untrusted::sanitize;
use crate::plan;

/// The field beside those of a plan.
pub(super) const FIELD: &str = "cannot_express";

/// How many statements are kept.
const MAX_STATEMENTS: usize = 10;

/// How long one of them may be, in characters.
const STATEMENT_CHARS: usize = 300;

/// The fields without any of which there is no plan.
const OF_PLANS: &[&str] = &["target_entity_name", "key_field", "property_fields", "nodes", "edges"];

/// The JSON Schema of an answer: that of a plan, beside which, or in the place of which, it may be said what can't be said in one.
#[must_use]
pub fn schema() -> Value {
    let mut schema = plan::schema();
    let said = json!({
        "description": "What the rule asks for and a plan can't say, a sentence each. With a plan, what that leaves out; without one, why there is none.",
        "type": "array",
        "items": {"type": "string"},
    });
    if let Some(Value::Object(fields)) = schema.get_mut("properties") {
        fields.insert(FIELD.to_owned(), said);
    }
    if let Some(Value::Array(forms)) = schema.get_mut("anyOf") {
        forms.push(json!({"required": [FIELD]}));
    }
    schema
}

/// Takes the statements out of an answer, each on one line, escaped and cut. What isn't a list of texts is left in it, to be
/// reported as any other field that plans don't have.
pub(super) fn take(answer: &mut Map<String, Value>) -> Vec<String> {
    let texts: Option<Vec<&str>> = match answer.get(FIELD) {
        Some(Value::String(text)) => Some(vec![text]),
        Some(Value::Array(items)) => items.iter().map(Value::as_str).collect(),
        Some(Value::Null) => Some(Vec::new()),
        _ => None,
    };
    let Some(texts) = texts else { return Vec::new() };
    let said = texts.iter().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    let said = said.filter(|text| !text.is_empty()).take(MAX_STATEMENTS);
    let said = said.map(|text| sanitize(&text, STATEMENT_CHARS)).collect();
    answer.remove(FIELD);
    said
}

/// Whether there is nothing of a plan in an answer.
pub(super) fn is_without_plan(answer: &Map<String, Value>) -> bool {
    let is_there = |field: &&&str| answer.get(**field).is_some_and(|value| !value.is_null());
    !OF_PLANS.iter().any(|field| is_there(&field))
}
