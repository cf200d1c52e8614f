//! The JSON Schema of plans: all the rules that a schema can say.

use serde_json::Value;

/// The schema as text (JSON Schema, draft 2020-12), with a description for each field.
///
/// What it can't say, only the parser checks, under the codes that are [beyond the
/// schema](super::PlanParseErrorCode::is_beyond_schema).
pub const SCHEMA_TEXT: &str = include_str!("schema.json");

/// The schema as a value of its own, which the caller may change.
///
/// # Example: hand it to whatever constrains a model's output
///
/// ```
/// let schema = retort::plan::schema();
/// assert_eq!(schema["anyOf"][0]["required"][1], "key_field");
/// ```
#[must_use]
pub fn schema() -> Value {
    serde_json::from_str(SCHEMA_TEXT).expect("the schema is a constant, and a test parses it")
}
