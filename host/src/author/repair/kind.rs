//! What kind of failure a stable code stands for.

use serde::{Deserialize, Serialize};

use crate::diagnostics::explain;
use crate::diagnostics::problem::Stage;

/// The kinds of failure, by what would help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The answer is JSON, and not of the form that a plan has.
    SchemaInvalid,
    /// The answer is no JSON object, or not all of one.
    JsonInvalid,
    /// The extractor ran, and its results aren't what they have to be.
    TestFailed,
    /// A program or service that should have answered failed.
    CommandFailed,
    /// Something that has to be known is in none of rule, schema, graph spec and samples.
    MissingContext,
    /// The plan can be read, and contradicts what is known about events or graph.
    ReasoningError,
    /// The same failure again, more often than is allowed.
    RepeatedFailure,
    /// The plan reaches for something that it may not have.
    UnsafeRequest,
    /// Retort itself, its sandbox or its disk failed.
    ToolError,
    /// A code that nobody explains.
    Unknown,
}

impl FailureKind {
    /// Every kind.
    pub const ALL: &[Self] = &[
        Self::SchemaInvalid,
        Self::JsonInvalid,
        Self::TestFailed,
        Self::CommandFailed,
        Self::MissingContext,
        Self::ReasoningError,
        Self::RepeatedFailure,
        Self::UnsafeRequest,
        Self::ToolError,
        Self::Unknown,
    ];

    /// The kind's name, the same as the serialised form.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SchemaInvalid => "schema_invalid",
            Self::JsonInvalid => "json_invalid",
            Self::TestFailed => "test_failed",
            Self::CommandFailed => "command_failed",
            Self::MissingContext => "missing_context",
            Self::ReasoningError => "reasoning_error",
            Self::RepeatedFailure => "repeated_failure",
            Self::UnsafeRequest => "unsafe_request",
            Self::ToolError => "tool_error",
            Self::Unknown => "unknown",
        }
    }
}

impl std::fmt::Display for FailureKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Codes whose kind isn't that of their stage.
const EXCEPTIONS: &[(FailureKind, &[&str])] = &[
    (
        FailureKind::JsonInvalid,
        &["invalid_json", "wrong_root_type", "ambiguous_response", "truncated_response"],
    ),
    (FailureKind::MissingContext, &["event_type_without_sample", "rule_missing", "rule_too_long"]),
    (FailureKind::MissingContext, &["composite_key", "max_attempts_too_small"]),
    (FailureKind::MissingContext, &["policy_invalid_path", "policy_syntax", "policy_too_large"]),
    (FailureKind::ReasoningError, &["rejected_by_caller"]),
    (FailureKind::ReasoningError, &["plan_too_large", "source_too_large", "module_too_large"]),
    (FailureKind::UnsafeRequest, &["import_refused", "feature_disabled", "start_function"]),
    (FailureKind::SchemaInvalid, &["plan_not_declarable"]),
    (FailureKind::ToolError, &["gates_interrupted", "oracle_mismatch"]),
    (FailureKind::ToolError, &["stream_unreadable", "stream_unwritable"]),
    (FailureKind::TestFailed, &["smoke_failure", "invalid_event_types"]),
    (FailureKind::RepeatedFailure, &["repeated_failure"]),
];

/// The kind of a failure with this code, found by this stage.
///
/// Most stages fail in one way only; codes that differ from their stage are listed. A code that `retort explain` doesn't
/// know, of a caller's own say, is [`FailureKind::Unknown`].
///
/// # Example
/// ```
/// use retort::diagnostics::problem::Stage;
/// use retort::author::repair::{FailureKind, classify_failure};
///
/// assert_eq!(classify_failure(Stage::Graph, "type_mismatch"), FailureKind::TestFailed);
/// assert_eq!(classify_failure(Stage::Plan, "invalid_json"), FailureKind::JsonInvalid);
/// assert_eq!(classify_failure(Stage::Plan, "no_such_code"), FailureKind::Unknown);
/// ```
#[must_use]
pub fn classify_failure(stage: Stage, code: &str) -> FailureKind {
    let exception = EXCEPTIONS.iter().find(|(_, codes)| codes.contains(&code));
    if let Some((kind, _)) = exception {
        return *kind;
    }
    if explain::lookup(code).is_none() {
        return FailureKind::Unknown;
    }
    match stage {
        Stage::Plan => FailureKind::SchemaInvalid,
        Stage::Policy => FailureKind::UnsafeRequest,
        Stage::Fit => FailureKind::ReasoningError,
        // What runs was rendered by Retort, from a plan that can be read.
        Stage::Render | Stage::Compile | Stage::Inspect | Stage::Load | Stage::Bundle => {
            FailureKind::ToolError
        }
        Stage::Event | Stage::Run | Stage::Smoke | Stage::Graph => FailureKind::TestFailed,
        Stage::Model => FailureKind::CommandFailed,
        Stage::Input => FailureKind::MissingContext,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_that_is_explained_has_a_kind() {
        for entry in explain::all() {
            let kind = classify_failure(entry.stage, entry.code);
            assert_ne!(kind, FailureKind::Unknown, "{}", entry.code);
        }
    }

    #[test]
    fn every_exception_is_a_code_and_is_one() {
        for (kind, codes) in EXCEPTIONS {
            for code in *codes {
                // The one name here that is a reason for which a loop stops, and no code of a stage.
                if *code == FailureKind::RepeatedFailure.as_str() {
                    continue;
                }
                let entry = explain::lookup(code).unwrap_or_else(|| panic!("{code} is no code"));
                assert_eq!(classify_failure(entry.stage, code), *kind);
            }
        }
    }

    #[test]
    fn kinds_are_saved_under_their_names() {
        for kind in FailureKind::ALL {
            let saved = serde_json::to_value(kind).expect("a name");
            assert_eq!(saved, kind.as_str());
            assert_eq!(serde_json::from_value::<FailureKind>(saved).expect("the same"), *kind);
        }
    }

    #[test]
    fn codes_of_one_stage_may_be_of_several_kinds() {
        for (stage, code, kind) in [
            (Stage::Plan, "unknown_field", FailureKind::SchemaInvalid),
            (Stage::Plan, "wrong_root_type", FailureKind::JsonInvalid),
            (Stage::Smoke, "nonempty_floor", FailureKind::TestFailed),
            (Stage::Smoke, "event_type_without_sample", FailureKind::MissingContext),
            (Stage::Smoke, "oracle_mismatch", FailureKind::ToolError),
            (Stage::Run, "out_of_fuel", FailureKind::TestFailed),
            (Stage::Model, "model_timeout", FailureKind::CommandFailed),
            (Stage::Inspect, "import_refused", FailureKind::UnsafeRequest),
        ] {
            assert_eq!(classify_failure(stage, code), kind, "{code}");
        }
    }
}
