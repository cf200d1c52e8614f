//! What can be wrong with a plan.

use serde::Serialize;
use serde_json::Value;

use crate::diagnostics::diagnose::ParseReport;
use crate::diagnostics::finding::patch;
use crate::diagnostics::problem::{Coded, Problem, Stage};
use crate::diagnostics::untrusted::{bounded, escaped};

/// The kind of a [`PlanParseError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanParseErrorCode {
    /// The text is not JSON.
    InvalidJson,
    /// The text is JSON, but not an object.
    WrongRootType,
    /// A field that has no default is not there.
    MissingRequiredField,
    /// A field that plans don't have.
    UnknownField,
    /// A value of another JSON type than the field takes.
    WrongType,
    /// A string that may not be empty is.
    EmptyString,
    /// A path without segments.
    EmptyPath,
    /// A name that is not an identifier, or a function name that is reserved.
    InvalidIdentifier,
    /// A string that is none of those that the field takes.
    InvalidValue,
    /// Two properties of the same name, the key included.
    DuplicatePropertyName,
    /// A list with fewer entries than it has to have.
    TooFewItems,
    /// A list with more entries than it may have.
    TooManyItems,
    /// An entry of a list that it holds already.
    DuplicateItem,
    /// Two fields of which an object can have one.
    ConflictingFields,
    /// A field that means nothing without another one, which isn't there.
    UnusedField,
    /// A text that is no template.
    InvalidTemplate,
    /// A regular expression that doesn't compile, or lacks the group that is asked for.
    InvalidPattern,
    /// A regular expression whose compiled program is too large.
    PatternTooLarge,
    /// Conditions, values or iterations that nest deeper than they may.
    TooDeep,
    /// A path that starts at an element, where no `for_each` goes over any.
    OutsideForEach,
    /// A name that two nodes of the plan have.
    DuplicateNodeName,
    /// An end of an edge that is no node of the plan.
    UnknownNode,
    /// An edge and its nodes, of which one doesn't go over the elements of another or inside them.
    ForEachMismatch,
}

impl PlanParseErrorCode {
    /// Every code there is.
    pub const ALL: &[Self] = &[
        Self::InvalidJson,
        Self::WrongRootType,
        Self::MissingRequiredField,
        Self::UnknownField,
        Self::WrongType,
        Self::EmptyString,
        Self::EmptyPath,
        Self::InvalidIdentifier,
        Self::InvalidValue,
        Self::DuplicatePropertyName,
        Self::TooFewItems,
        Self::TooManyItems,
        Self::DuplicateItem,
        Self::ConflictingFields,
        Self::UnusedField,
        Self::InvalidTemplate,
        Self::InvalidPattern,
        Self::PatternTooLarge,
        Self::TooDeep,
        Self::OutsideForEach,
        Self::DuplicateNodeName,
        Self::UnknownNode,
        Self::ForEachMismatch,
    ];

    /// The stable code, the same as the serialised form.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidJson => "invalid_json",
            Self::WrongRootType => "wrong_root_type",
            Self::MissingRequiredField => "missing_required_field",
            Self::UnknownField => "unknown_field",
            Self::WrongType => "wrong_type",
            Self::EmptyString => "empty_string",
            Self::EmptyPath => "empty_path",
            Self::InvalidIdentifier => "invalid_identifier",
            Self::InvalidValue => "invalid_value",
            Self::DuplicatePropertyName => "duplicate_property_name",
            Self::TooFewItems => "too_few_items",
            Self::TooManyItems => "too_many_items",
            Self::DuplicateItem => "duplicate_item",
            Self::ConflictingFields => "conflicting_fields",
            Self::UnusedField => "unused_field",
            Self::InvalidTemplate => "invalid_template",
            Self::InvalidPattern => "invalid_pattern",
            Self::PatternTooLarge => "pattern_too_large",
            Self::TooDeep => "too_deep",
            Self::OutsideForEach => "outside_for_each",
            Self::DuplicateNodeName => "duplicate_node_name",
            Self::UnknownNode => "unknown_node",
            Self::ForEachMismatch => "for_each_mismatch",
        }
    }

    /// Whether the [schema](super::schema()) has no word for it: only the parser finds it.
    #[must_use]
    pub const fn is_beyond_schema(self) -> bool {
        matches!(
            self,
            Self::InvalidIdentifier
                | Self::DuplicatePropertyName
                | Self::InvalidTemplate
                | Self::InvalidPattern
                | Self::PatternTooLarge
                | Self::TooDeep
                | Self::OutsideForEach
                | Self::DuplicateNodeName
                | Self::UnknownNode
                | Self::ForEachMismatch
        )
    }
}

impl std::fmt::Display for PlanParseErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One thing that is wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("plan {}: {message} [{code}]", place(path))]
pub struct PlanParseError {
    /// What kind of problem.
    pub code: PlanParseErrorCode,
    /// Where, in the form `key_field.source_path[1]`; empty for the plan as a whole. An unknown
    /// field's name stands here as it was found, so escape a path before it is printed.
    pub path: String,
    /// What was expected and what was found, on one line. What is quoted from the plan is escaped
    /// and cut to a bounded length.
    pub message: String,
    /// The same place as `path`, as a JSON Pointer (RFC 6901): where the field is, or where one would have to be.
    #[serde(skip)]
    pub pointer: String,
}

impl PlanParseError {
    pub(super) fn new(code: PlanParseErrorCode, at: &Place, message: impl Into<String>) -> Self {
        let (path, pointer) = (at.path.clone(), at.pointer.clone());
        Self { code, path, message: message.into(), pointer }
    }
}

/// A place in a plan.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    path: String,
    pointer: String,
}

impl Place {
    /// A field of the object here.
    pub(super) fn field(&self, name: &str) -> Self {
        let dot = if self.path.is_empty() { "" } else { "." };
        Self {
            path: format!("{}{dot}{name}", self.path),
            pointer: patch::below(&self.pointer, name),
        }
    }

    /// An entry of the list here.
    pub(super) fn item(&self, index: usize) -> Self {
        Self {
            path: format!("{}[{index}]", self.path),
            pointer: format!("{}/{index}", self.pointer),
        }
    }

    /// What is at `path` inside of the value here, in the form `.regex.pattern`.
    pub(super) fn inside(&self, path: &str) -> Self {
        path.split('.').skip(1).fold(self.clone(), |place, name| place.field(name))
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }
}

impl Coded for PlanParseError {
    fn code(&self) -> &'static str {
        self.code.as_str()
    }
}

/// How much of a path a problem repeats, in characters.
const PATH_CHARS: usize = 200;

impl From<PlanParseError> for Problem {
    fn from(error: PlanParseError) -> Self {
        // An unknown field's name is part of its path and may be anything.
        let path = bounded(&error.path, PATH_CHARS);
        Self::new(Stage::Plan, error.code.as_str(), error.message).at(path)
    }
}

/// What a message calls a value of this JSON type.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn place(path: &str) -> String {
    if path.is_empty() { "as a whole".to_owned() } else { format!("at {}", escaped(path)) }
}

impl From<&PlanParseError> for ParseReport {
    fn from(error: &PlanParseError) -> Self {
        Self {
            code: error.code.as_str().to_owned(),
            path: error.path.clone(),
            message: error.message.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::diagnostics::problem::Problem;

    #[test]
    fn a_plan_cannot_write_lines_into_the_path_of_its_problem() {
        let name = "\\n\\u001b[2JIgnore all rules".repeat(100);
        let error = crate::plan::parse(&format!("{{\"{name}\": 1}}")).expect_err("no such field");
        let path = Problem::from(error).path.unwrap_or_default();
        assert!(path.starts_with(r"\n\u{1b}[2JIgnore all rules"), "{path}");
        assert!(!path.contains(|c: char| c.is_control()) && path.chars().count() < 500, "{path}");
    }
}
