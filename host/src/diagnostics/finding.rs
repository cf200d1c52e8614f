//! A problem of a plan as data, for whoever fixes it: a person, a program or a model.

pub(crate) mod patch;
mod text;

use json_patch::Patch;
use serde::{Serialize, Serializer};

pub(crate) use text::describe;
pub(crate) use text::shown;

use crate::diagnostics::codes::Code;
use crate::diagnostics::problem::{Problem, Stage};
use crate::diagnostics::untrusted::bounded;

/// How much of the smallest failing event is kept, in characters.
const EVENT_CHARS: usize = 400;

/// One thing that is wrong with a plan and, where that is known, what would fix it.
///
/// Text in here that came from a plan, an event or a guest is escaped and bounded by whoever makes the finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The stable code.
    pub code: Code,
    /// The gate that found it.
    pub gate: Stage,
    /// JSON Pointer (RFC 6901) into the plan; empty for the plan as a whole.
    pub pointer: String,
    /// What was expected there.
    pub expected: String,
    /// What was observed.
    pub observed: String,
    /// How much of a limit was used, in the limit's unit, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<u64>,
    /// How much of it was allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<u64>,
    /// The smallest sample event that shows it: its line, and its text, escaped and cut to 400 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<FailingEvent>,
    /// What would fix it. Serialised as `patch` and `certain`.
    #[serde(flatten, serialize_with = "as_patch_and_certain")]
    pub suggestion: Option<Suggestion>,
}

/// A change of the plan that would fix a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    /// The change, as a JSON Patch (RFC 6902) of the plan.
    pub patch: Patch,
    /// How sure it is that this is what is wanted.
    pub applicability: Applicability,
}

/// How sure a suggestion is, in the terms in which rustc says it of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Applicability {
    /// It may or may not be what is wanted.
    MaybeIncorrect,
    /// Nothing else could be meant, so that it may be applied without asking.
    MachineApplicable,
}

impl Applicability {
    /// Certain, or a guess.
    #[must_use]
    pub fn certain_if(is_certain: bool) -> Self {
        if is_certain { Self::MachineApplicable } else { Self::MaybeIncorrect }
    }
}

fn as_patch_and_certain<S: Serializer>(
    suggestion: &Option<Suggestion>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct PatchAndCertainty<'a> {
        patch: Option<&'a Patch>,
        certain: bool,
    }
    let patch = suggestion.as_ref().map(|it| &it.patch);
    let certain = suggestion.as_ref().is_some_and(Suggestion::is_certain);
    PatchAndCertainty { patch, certain }.serialize(serializer)
}

impl Suggestion {
    /// Whether it may be applied without asking.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        self.applicability == Applicability::MachineApplicable
    }
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
        code: Code,
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
            used: None,
            allowed: None,
            event: None,
            suggestion: None,
        }
    }

    /// The same, with what this problem says was used of a limit and allowed. What was expected then is no more than that.
    #[must_use]
    pub fn limited_as(self, problem: &Problem) -> Self {
        let expected = match (self.code.limit, problem.allowed) {
            (Some(limit), Some(allowed)) => format!("at most {allowed} {}", limit.unit),
            _ => self.expected,
        };
        Self { used: problem.used, allowed: problem.allowed, expected, ..self }
    }

    /// What was used of a limit and what was allowed, where both are known.
    #[must_use]
    pub fn usage(&self) -> Option<(u64, u64)> {
        self.used.zip(self.allowed)
    }

    /// The same, shown by a sample event.
    #[must_use]
    pub fn shown_by(mut self, event: FailingEvent) -> Self {
        self.event = Some(event);
        self
    }

    /// The same, with this suggestion, or without any.
    #[must_use]
    pub fn suggesting(self, suggestion: Option<impl Into<Suggestion>>) -> Self {
        Self { suggestion: suggestion.map(Into::into), ..self }
    }

    /// The same, with a patch that may or may not be what is wanted.
    #[must_use]
    pub fn with_suggestion(self, patch: Patch) -> Self {
        let applicability = Applicability::MaybeIncorrect;
        self.suggesting(Some(Suggestion { patch, applicability }))
    }

    /// The same, with the patch that fixes it: nothing else could be meant.
    #[must_use]
    pub fn with_fix(self, patch: Patch) -> Self {
        let applicability = Applicability::MachineApplicable;
        self.suggesting(Some(Suggestion { patch, applicability }))
    }

    /// Makes of a fix a suggestion: something else may be meant after all.
    pub fn doubt(&mut self) {
        if let Some(suggestion) = &mut self.suggestion {
            suggestion.applicability = Applicability::MaybeIncorrect;
        }
    }

    /// The patch of its suggestion, if it has one.
    #[must_use]
    pub fn patch(&self) -> Option<&Patch> {
        self.suggestion.as_ref().map(|it| &it.patch)
    }

    /// Whether it has a suggestion that may be applied without asking.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        self.suggestion.as_ref().is_some_and(Suggestion::is_certain)
    }
}

impl From<&Finding> for Problem {
    fn from(finding: &Finding) -> Self {
        let Finding { expected, observed, .. } = finding;
        let message = format!("expected {expected}, found {observed}");
        let problem = Self::new(finding.gate, finding.code, message).at(finding.pointer.clone());
        match finding.usage() {
            Some((used, allowed)) => problem.limit(used, allowed),
            None => problem,
        }
    }
}

/// A problem of what was made of a plan, which has no place in the plan itself.
impl From<&Problem> for Finding {
    fn from(problem: &Problem) -> Self {
        let place = problem.path.as_deref().map(|path| format!("{path}: ")).unwrap_or_default();
        let observed = format!("{place}{}", problem.message);
        Self::new(problem.stage, problem.code, "", "a plan that this gate lets pass", observed)
            .limited_as(problem)
    }
}
