//! From text to a plan, strictly.

mod condition;
mod edge;
mod event_type;
mod fields;
mod for_each;
mod mapping;
mod node;
mod plan;
mod reader;
mod span;
mod value;

use serde_json::Value;

use super::error::{Place, PlanParseError, PlanParseErrorCode as Code, kind};
use super::model::Plan;
use crate::diagnostics::problem::json_fault;
use crate::json::tally;
use reader::{Reader, expected};

/// Reads a plan from JSON text.
///
/// Nothing is guessed at: unknown fields, empty names and paths, and null where only a default
/// may stand are refused. The last of two equal JSON keys counts.
///
/// # Errors
/// The first problem, in the order: root, unknown fields (by code point), missing fields
/// (likewise), fields that exclude each other, `event_type`, `when`, `target_entity_name`,
/// `function_name`, `key_field`, `property_fields` item by item, duplicate names, `nodes`, `edges`,
/// `on_duplicate`, `session_id_path`, `span_handling`. [`problems`] gives all of them.
///
/// # Example
///
/// ```
/// let error = retort::plan::parse(r#"{"event_type": 1}"#).unwrap_err();
/// assert_eq!((error.code.as_str(), error.path.as_str()), ("missing_required_field", "function_name"));
/// ```
pub fn parse(text: &str) -> Result<Plan, PlanParseError> {
    read_text(text).map_err(|rejection| rejection.first)
}

/// Reads a plan from a JSON value, as [`parse`] does from text.
///
/// # Errors
/// As [`parse`], save `invalid_json`.
pub fn from_value(value: &Value) -> Result<Plan, PlanParseError> {
    read(value).map_err(|rejection| rejection.first)
}

/// All that is wrong with the text of a plan, in the order that [`parse`] states; nothing where
/// it is a plan. The first is the one that [`parse`] gives.
///
/// What follows from another problem is left out: a text that isn't an object has one problem,
/// and a name that isn't an identifier isn't compared with the others. Of a list that is too long
/// no more entries are read than it may have.
#[must_use]
pub fn problems(text: &str) -> Vec<PlanParseError> {
    read_text(text).err().map(Rejection::into_list).unwrap_or_default()
}

/// All that is wrong with a value that should be a plan, as [`problems`] does for text.
#[must_use]
pub fn problems_of_value(value: &Value) -> Vec<PlanParseError> {
    read(value).err().map(Rejection::into_list).unwrap_or_default()
}

/// The problems of a plan: at least one.
struct Rejection {
    first: PlanParseError,
    others: Vec<PlanParseError>,
}

impl Rejection {
    fn one(code: Code, message: String) -> Self {
        Self { first: PlanParseError::new(code, &Place::default(), message), others: Vec::new() }
    }

    fn into_list(self) -> Vec<PlanParseError> {
        std::iter::once(self.first).chain(self.others).collect()
    }
}

fn read_text(text: &str) -> Result<Plan, Rejection> {
    // Encoders that follow IEEE 754 rather than RFC 8259 write these for numbers. A document
    // that is one of them is no plan for want of an object, not for want of a parser.
    if matches!(text.trim_matches([' ', '\t', '\n', '\r']), "NaN" | "Infinity" | "-Infinity") {
        return Err(Rejection::one(Code::WrongRootType, expected("an object", "a number")));
    }
    // What is broken at its end would be a tree by then, of many times the text's bytes.
    let value = tally::check(text).and_then(|()| serde_json::from_str::<Value>(text));
    let value = value.map_err(|error| {
        let fault = json_fault(text, &error);
        Rejection::one(Code::InvalidJson, format!("not JSON: {fault}"))
    })?;
    read(&value)
}

fn read(value: &Value) -> Result<Plan, Rejection> {
    let Value::Object(fields) = value else {
        return Err(Rejection::one(Code::WrongRootType, expected("an object", kind(value))));
    };
    let mut reader = Reader::default();
    let plan = reader.plan(fields);
    let mut problems = reader.into_problems().into_iter();
    match problems.next() {
        None => Ok(plan),
        Some(first) => Err(Rejection { first, others: problems.collect() }),
    }
}
