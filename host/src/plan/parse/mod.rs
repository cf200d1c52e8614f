//! From text to a plan, strictly.

mod edge;
mod event_type;
mod for_each;
mod mapping;
mod node;
mod plan;
mod span;

use serde_json::Value;

use super::error::{PlanParseError, kind};
use super::expr::conversion::PatternBudget;
use super::language::{Dialect, LocatedValue, ObjectKind, ReadContext};
use super::model::Plan;
use super::place::PlanPlace;
use crate::diagnostics::codes;
use crate::diagnostics::wording::json_in_text;
use crate::json::tally;

/// Reads a plan from JSON text.
///
/// Nothing is guessed at: unknown fields, empty names and paths, and null in place of a default
/// are rejected. The last of two equal JSON keys counts.
///
/// # Errors
/// The first problem, in the order: root, unknown fields (by code point), missing fields
/// (likewise), fields that exclude each other, `time_zone`, `event_type`, `when`, `target_entity_name`,
/// `function_name`, `key_field`, `property_fields` item by item, duplicate names, `nodes`, `edges`,
/// `on_duplicate`, `empty`, `session_id_path`, `span_handling`. [`problems`] gives all of them.
///
/// # Example
///
/// ```
/// let error = retort::plan::parse(r#"{"event_type": 1}"#).unwrap_err();
/// assert_eq!((error.code.name, error.path.as_str()), ("missing_required_field", "function_name"));
/// ```
pub fn parse(text: &str) -> Result<Plan, PlanParseError> {
    read_text(text).map_err(first)
}

/// Reads a plan from a JSON value, as [`parse`] does from text.
///
/// # Errors
/// As [`parse`], save `invalid_json`.
pub fn from_value(value: &Value) -> Result<Plan, PlanParseError> {
    read(value).map_err(first)
}

/// All that is wrong with the text of a plan, in the order that [`parse`] states; nothing where
/// it is a plan. The first is the one that [`parse`] gives.
///
/// What follows from another problem is left out: a text that isn't an object has one problem,
/// and a name that isn't an identifier isn't compared with the others. Of a list that is too long
/// no more entries are read than it may have.
#[must_use]
pub fn problems(text: &str) -> Vec<PlanParseError> {
    read_text(text).err().unwrap_or_default()
}

/// All that is wrong with a value that should be a plan, as [`problems`] does for text.
#[must_use]
pub fn problems_of_value(value: &Value) -> Vec<PlanParseError> {
    read(value).err().unwrap_or_default()
}

fn first(problems: Vec<PlanParseError>) -> PlanParseError {
    problems.into_iter().next().expect("a plan that is rejected has a problem")
}

fn wrong_root(observed: &str) -> Vec<PlanParseError> {
    let (expected, observed) = (Some("an object".to_owned()), Some(observed.to_owned()));
    vec![PlanParseError::new(codes::WRONG_ROOT_TYPE, &PlanPlace::default(), expected, observed)]
}

/// The plan, or all its problems, of which there is at least one.
fn read_text(text: &str) -> Result<Plan, Vec<PlanParseError>> {
    // Encoders that follow IEEE 754 rather than RFC 8259 write these for numbers. A document
    // that is one of them is no plan for want of an object, not for want of a parser.
    if matches!(text.trim_matches([' ', '\t', '\n', '\r']), "NaN" | "Infinity" | "-Infinity") {
        return Err(wrong_root("a number"));
    }
    // What is broken at its end would be a tree by then, of many times the text's bytes.
    let value = tally::check(text).and_then(|()| serde_json::from_str::<Value>(text));
    let value =
        value.map_err(|error| vec![PlanParseError::not_json(&json_in_text(text, &error))])?;
    read(&value)
}

fn read(value: &Value) -> Result<Plan, Vec<PlanParseError>> {
    let context = ReadContext::new(Dialect::Plan, PatternBudget::default());
    let document = LocatedValue::root(value, PlanPlace::default(), &context);
    let Some(object) = document.object(ObjectKind::Plan.table()) else {
        return Err(wrong_root(kind(value)));
    };
    let plan = plan::plan(&object);
    let problems = context.into_problems();
    if problems.is_empty() { Ok(plan) } else { Err(problems) }
}
