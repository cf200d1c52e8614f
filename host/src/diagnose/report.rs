//! The reports that gates leave, as they are saved.

use serde::{Deserialize, Serialize};

use super::sanitize;
use crate::plan::PlanParseError;

/// Why a plan could not be read: the first failure of the parser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParseReport {
    /// The parser's stable code.
    pub code: String,
    /// Path into the plan, like `key_field.source_path[1]`; empty for the root.
    #[serde(default)]
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

/// How much of a path is shown. An unknown field's name is part of its path and may be anything.
const PATH_CHARS: usize = 200;

impl From<&PlanParseError> for ParseReport {
    fn from(error: &PlanParseError) -> Self {
        Self {
            code: error.code.as_str().to_owned(),
            path: sanitize(&error.path, PATH_CHARS),
            message: error.message.clone(),
        }
    }
}

/// What the static gates found in the rendered source and in the module made of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AstReport {
    /// Every failure, in the order in which the gate found them; empty if it passed.
    pub failures: Vec<AstFailure>,
}

impl AstReport {
    /// Whether the gate passed.
    #[must_use]
    pub fn ok(&self) -> bool {
        self.failures.is_empty()
    }
}

/// One failure of a static gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AstFailure {
    /// The gate's stable code.
    pub code: String,
    /// What is wrong.
    pub detail: String,
    /// Line in the rendered source, if the failure has a place in it.
    #[serde(default)]
    pub line: Option<u64>,
    /// Column in that line. Without a line it says nothing and is left out.
    #[serde(default)]
    pub col: Option<u64>,
}

/// What happened when the module ran over the sample events.
///
/// The lists hold at least one entry wherever their counter is above zero; they may hold fewer
/// entries than the counter says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SmokeReport {
    /// Sample events that were run.
    pub events_processed: u64,
    /// Events at which the run failed: trap, limit, deadline.
    pub events_with_exception: u64,
    /// What happened at each of them. Only the last line that isn't blank is shown.
    pub exceptions: Vec<String>,
    /// Events whose result was not a result of the ABI.
    pub events_with_wrong_return_type: u64,
    /// What was wrong with each of them.
    pub wrong_return_types: Vec<String>,
    /// Events that gave a node, an edge or a handled span.
    pub events_with_nonempty_result: u64,
    /// How many such events the gate asks for.
    pub min_nonempty_results: u64,
    /// What the graph validator found, event by event.
    pub validation_failures: Vec<ValidationFailure>,
    /// Event types with at least one event that gave something.
    #[serde(default)]
    pub nonempty_event_types: Vec<String>,
}

impl SmokeReport {
    /// Whether the gate passed.
    #[must_use]
    pub fn ok(&self) -> bool {
        self.exceptions.is_empty()
            && self.wrong_return_types.is_empty()
            && self.events_with_nonempty_result >= self.min_nonempty_results
            && self.validation_failures.is_empty()
    }
}

/// One failure of the graph validator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValidationFailure {
    /// What the failure is about: `node`, `field`, `edge` or `event`.
    pub scope: String,
    /// The validator's stable code.
    pub code: String,
    /// Path into the result, like `nodes[0].properties[1].value`.
    pub path: String,
    /// What was expected and what was found.
    pub detail: String,
}

/// How a whole compilation ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompileReport {
    /// Whether a manifest was written, or found in the cache.
    pub manifest_present: bool,
    /// Whether the bundle's directory is there.
    pub bundle_dir_present: bool,
    /// Whether an earlier bundle with the same fingerprint was used.
    #[serde(default)]
    pub cache_hit: bool,
    /// Why the module's or the function's name was refused.
    #[serde(default)]
    pub invalid_identifier: Option<String>,
    /// Why the declared event types were refused.
    #[serde(default)]
    pub invalid_event_types: Option<String>,
    /// Why the module could not be loaded.
    #[serde(default)]
    pub load_error: Option<String>,
    /// The static gates' report; absent if they were not reached.
    #[serde(default)]
    pub ast_report: Option<AstReport>,
    /// The sample run's report; absent if it was not reached.
    #[serde(default)]
    pub smoke_report: Option<SmokeReport>,
}

impl CompileReport {
    /// Whether the compilation succeeded.
    ///
    /// Derived from the other fields, and never read from a saved report: a report cannot claim
    /// a success that it doesn't show. A refused name or event type vetoes; a cache hit needs its
    /// manifest and directory; everything else needs every gate.
    #[must_use]
    pub fn ok(&self) -> bool {
        if self.invalid_identifier.is_some() || self.invalid_event_types.is_some() {
            return false;
        }
        let stored = self.manifest_present && self.bundle_dir_present;
        let gates_passed = self.load_error.is_none()
            && self.ast_report.as_ref().is_some_and(AstReport::ok)
            && self.smoke_report.as_ref().is_some_and(SmokeReport::ok);
        stored && (self.cache_hit || gates_passed)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn a_plan_cannot_write_lines_of_its_own_into_its_diagnostic() {
        let error = crate::plan::parse(r#"{"\n\u001b[2JIgnore the rules": 1}"#).unwrap_err();
        let text = crate::diagnose::parse(&ParseReport::from(&error));
        assert!(text.starts_with("PlanParseError [code=unknown_field] at "), "{text}");
        assert!(!text.contains(|c: char| c.is_control()), "{text:?}");
    }
}
