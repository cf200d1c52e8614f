//! Problems of the plan parser as findings, without what would fix them.

use crate::diagnostics::finding::Finding;
use crate::diagnostics::problem::{Coded, Stage};
use crate::diagnostics::untrusted::bounded;
use crate::plan::{PlanParseError, PlanParseErrorCode as Code};

/// How much of an unknown field's name a pointer repeats, in characters.
const MAX_POINTER: usize = 300;

/// A problem as a finding, at a pointer.
pub(super) fn described(problem: &PlanParseError, at: &str) -> Finding {
    let (expected, observed) = expected_and_observed(problem);
    Finding::new(Stage::Plan, problem.code(), bounded_pointer(at), expected, observed)
}

fn expected_and_observed(problem: &PlanParseError) -> (&str, &str) {
    let message = problem.message.as_str();
    let (expected, observed) = match message.split_once(", found ") {
        Some((expected, observed)) => {
            (expected.strip_prefix("expected ").unwrap_or(expected), observed)
        }
        None => match message.strip_prefix("found ") {
            Some(observed) => ("a field that plans have", observed),
            None => (message.strip_prefix("expected ").unwrap_or(message), "something else"),
        },
    };
    (expected, if problem.code == Code::EmptyString { "an empty one" } else { observed })
}

/// A pointer to show: one that names an unknown field holds whatever the field is called.
fn bounded_pointer(at: &str) -> String {
    if at.chars().all(|c| c.is_ascii_graphic()) && at.len() <= MAX_POINTER {
        return at.to_owned();
    }
    bounded(at, MAX_POINTER)
}
