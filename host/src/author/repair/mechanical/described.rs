//! Problems of the plan parser as findings, without what would fix them.

use super::pointer::step_around;
use crate::diagnostics::codes;
use crate::diagnostics::finding::Finding;
use crate::diagnostics::problem::{Coded, Stage};
use crate::diagnostics::untrusted::bounded;
use crate::plan::PlanParseError;

/// How much of an unknown field's name a pointer repeats, in characters.
const MAX_POINTER: usize = 300;

/// What is expected in place of an unknown field.
const A_FIELD: &str = "a field that plans have";

/// A problem as a finding, at a pointer.
pub(super) fn described(problem: &PlanParseError, at: &str) -> Finding {
    let is_conversion = || step_around(&problem.pointer).is_some();
    let (expected, observed) = match (problem.expected.as_deref(), problem.observed.as_deref()) {
        // What is lost with the field may have to be said in place of the names that there are.
        (Some(known), Some(unknown))
            if problem.code == codes::UNKNOWN_FIELD && !is_conversion() =>
        {
            (A_FIELD, format!("{unknown}; expected {known}"))
        }
        (Some(expected), Some(observed)) => (expected, observed.to_owned()),
        (None, Some(observed)) => (A_FIELD, observed.to_owned()),
        (expected, None) => {
            let is_empty = problem.code == codes::EMPTY_STRING;
            let observed = if is_empty { "an empty one" } else { "something else" };
            (expected.unwrap_or(&problem.message), observed.to_owned())
        }
    };
    Finding::new(Stage::Plan, problem.entry(), bounded_pointer(at), expected, observed)
}

/// A pointer to show: one that names an unknown field holds whatever the field is called.
fn bounded_pointer(at: &str) -> String {
    if at.chars().all(|c| c.is_ascii_graphic()) && at.len() <= MAX_POINTER {
        return at.to_owned();
    }
    bounded(at, MAX_POINTER)
}
