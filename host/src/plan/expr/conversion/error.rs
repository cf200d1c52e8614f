//! Why a value is no conversion.

use crate::diagnostics::codes::{self, Code};

/// Why a value is no conversion.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}{}", observed.as_ref().map(|it| format!(", found {it}")).unwrap_or_default())]
pub struct ConversionError {
    /// Where inside the value, in the form `.regex.pattern`; empty for the value as a whole.
    pub at: String,
    /// What kind of problem, as in a plan.
    pub code: Code,
    /// What was expected, on one line.
    pub expected: String,
    /// What was found instead, on one line, where that says more than what was expected.
    pub observed: Option<String>,
}

impl ConversionError {
    pub(super) fn new(
        at: impl Into<String>,
        code: Code,
        expected: impl Into<String>,
        observed: impl Into<Option<String>>,
    ) -> Self {
        Self { at: at.into(), code, expected: expected.into(), observed: observed.into() }
    }
    pub(super) fn wrong_type(at: impl Into<String>, expected: impl Into<String>) -> Self {
        Self::new(at, codes::WRONG_TYPE, expected, None)
    }
}
