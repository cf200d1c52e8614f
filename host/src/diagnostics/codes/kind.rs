//! The kinds of failure, by what would help.

use serde::{Deserialize, Serialize};

use crate::diagnostics::stage::Stage;

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
    /// A code that isn't registered.
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

    /// What a failure of a stage is, unless its code says otherwise: most stages fail in one way only.
    pub(super) const fn of_stage(stage: Stage) -> Self {
        match stage {
            Stage::Plan => Self::SchemaInvalid,
            Stage::Policy => Self::UnsafeRequest,
            Stage::Fit | Stage::Source => Self::ReasoningError,
            // What runs was rendered by Retort, from a plan that can be read.
            Stage::Render | Stage::Compile | Stage::Inspect | Stage::Load | Stage::Bundle => {
                Self::ToolError
            }
            Stage::Event | Stage::Run | Stage::Smoke | Stage::Graph | Stage::Expected => {
                Self::TestFailed
            }
            Stage::Model => Self::CommandFailed,
            Stage::Input => Self::MissingContext,
        }
    }
}

impl std::fmt::Display for FailureKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::FailureKind;

    #[test]
    fn kinds_are_saved_under_their_names() {
        for kind in FailureKind::ALL {
            let saved = serde_json::to_value(kind).expect("a name");
            assert_eq!(saved, kind.as_str());
            assert_eq!(serde_json::from_value::<FailureKind>(saved).expect("the same"), *kind);
        }
    }
}
