//! A problem of a plan as data, for whoever mends it: a person, a program or a model.

pub(crate) mod patch;
mod text;

use json_patch::Patch;
use serde::Serialize;

pub use text::describe;

use crate::diagnostics::problem::{Problem, Stage};
use crate::diagnostics::untrusted::bounded;

/// How much of the smallest failing event is kept, in characters.
const EVENT_CHARS: usize = 400;

/// One thing that stands in the way of a plan, and where it can be told, what would mend it.
///
/// Text in here that came from a plan, an event or a guest is escaped and bounded by whoever makes the finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The stable code.
    pub code: &'static str,
    /// The gate that found it.
    pub gate: Stage,
    /// JSON Pointer (RFC 6901) into the plan; empty for the plan as a whole.
    pub pointer: String,
    /// What was expected there.
    pub expected: String,
    /// What was observed.
    pub observed: String,
    /// The smallest sample event that shows it: its line, and its text, escaped and cut to 400 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<FailingEvent>,
    /// What would mend it, as a JSON Patch (RFC 6902) of the plan.
    pub patch: Option<Patch>,
    /// Whether the patch is the one thing to do, so that it may be applied without asking.
    pub certain: bool,
}

/// A sample event that shows a problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailingEvent {
    /// The line of the sample, from 1.
    pub line: usize,
    /// Its text, escaped and bounded.
    pub text: String,
}

impl FailingEvent {
    /// The sample on `line`.
    #[must_use]
    pub fn new(line: usize, text: &str) -> Self {
        Self { line, text: bounded(text, EVENT_CHARS) }
    }
}

impl Finding {
    /// A finding without event or patch.
    #[must_use]
    pub fn new(
        gate: Stage,
        code: &'static str,
        pointer: impl Into<String>,
        expected: impl Into<String>,
        observed: impl Into<String>,
    ) -> Self {
        Self {
            code,
            gate,
            pointer: pointer.into(),
            expected: expected.into(),
            observed: observed.into(),
            event: None,
            patch: None,
            certain: false,
        }
    }

    /// The same, shown by a sample event.
    #[must_use]
    pub fn shown_by(mut self, event: FailingEvent) -> Self {
        self.event = Some(event);
        self
    }

    /// The same, with a patch that may or may not be what is wanted.
    #[must_use]
    pub fn perhaps(mut self, patch: Patch) -> Self {
        self.patch = Some(patch);
        self.certain = false;
        self
    }

    /// The same, with the patch that mends it: nothing else could be meant.
    #[must_use]
    pub fn mended_by(mut self, patch: Patch) -> Self {
        self.patch = Some(patch);
        self.certain = true;
        self
    }
}

impl From<&Finding> for Problem {
    fn from(finding: &Finding) -> Self {
        let Finding { expected, observed, .. } = finding;
        Self::new(finding.gate, finding.code, format!("expected {expected}, found {observed}"))
            .at(finding.pointer.clone())
    }
}
