//! Problems of the plan parser as findings, without what would fix them.

use crate::diagnostics::finding::Finding;
use crate::diagnostics::problem::{Coded, Stage};
use crate::diagnostics::untrusted::bounded;
use crate::plan::{PlanParseError, PlanParseErrorCode as Code};

/// How much of an unknown field's name a pointer repeats, in characters.
const MAX_POINTER: usize = 300;

/// A problem as a finding, at a pointer.
pub(super) fn described(problem: &PlanParseError, at: &str) -> Finding {
    let observed = match (problem.code, &problem.observed) {
        (Code::EmptyString, _) => "an empty one",
        (_, Some(observed)) => observed,
        (_, None) => "something else",
    };
    let expected = match (&problem.expected, &problem.observed) {
        (Some(expected), _) => expected,
        (None, Some(_)) => "a field that plans have",
        (None, None) => problem.message.as_str(),
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
