//! What can be wrong with a plan.

use serde::Serialize;
use serde_json::Value;

use super::place::PlanPlace;
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::diagnose::ParseReport;
use crate::diagnostics::nearest::nearest;
use crate::diagnostics::problem::Coded;
use crate::diagnostics::untrusted::{bounded, escaped, quoted};

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
    /// The stable code, the same as the serialised form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.entry().name
    }

    /// Its entry in the registry.
    pub(crate) fn entry(self) -> Code {
        match self {
            Self::InvalidJson => codes::INVALID_JSON,
            Self::WrongRootType => codes::WRONG_ROOT_TYPE,
            Self::MissingRequiredField => codes::MISSING_REQUIRED_FIELD,
            Self::UnknownField => codes::UNKNOWN_FIELD,
            Self::WrongType => codes::WRONG_TYPE,
            Self::EmptyString => codes::EMPTY_STRING,
            Self::EmptyPath => codes::EMPTY_PATH,
            Self::InvalidIdentifier => codes::INVALID_IDENTIFIER,
            Self::InvalidValue => codes::INVALID_VALUE,
            Self::DuplicatePropertyName => codes::DUPLICATE_PROPERTY_NAME,
            Self::TooFewItems => codes::TOO_FEW_ITEMS,
            Self::TooManyItems => codes::TOO_MANY_ITEMS,
            Self::DuplicateItem => codes::DUPLICATE_ITEM,
            Self::ConflictingFields => codes::CONFLICTING_FIELDS,
            Self::UnusedField => codes::UNUSED_FIELD,
            Self::InvalidTemplate => codes::INVALID_TEMPLATE,
            Self::InvalidPattern => codes::INVALID_PATTERN,
            Self::PatternTooLarge => codes::PATTERN_TOO_LARGE,
            Self::TooDeep => codes::TOO_DEEP,
            Self::OutsideForEach => codes::OUTSIDE_FOR_EACH,
            Self::DuplicateNodeName => codes::DUPLICATE_NODE_NAME,
            Self::UnknownNode => codes::UNKNOWN_NODE,
            Self::ForEachMismatch => codes::FOR_EACH_MISMATCH,
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
    /// field's name appears here as it was found, so escape a path before it is printed.
    pub path: String,
    /// What was expected and what was found, on one line. What is quoted from the plan is escaped
    /// and cut to a bounded length.
    pub message: String,
    /// The same place as `path`, as a JSON Pointer (RFC 6901): where the field is, or where one would have to be.
    #[serde(skip)]
    pub pointer: String,
    /// What was expected, as it is in the message; none of a misspelt field and of what isn't JSON.
    #[serde(skip)]
    pub expected: Option<Box<str>>,
    /// What was found instead, as it is in the message, where that says more than what was expected.
    #[serde(skip)]
    pub observed: Option<Box<str>>,
}

impl PlanParseError {
    pub(super) fn new(
        code: PlanParseErrorCode,
        at: &PlanPlace,
        expected: Option<String>,
        observed: Option<String>,
    ) -> Self {
        let message = match (&expected, &observed) {
            (Some(expected), Some(observed)) => format!("expected {expected}, found {observed}"),
            (Some(expected), None) => format!("expected {expected}"),
            (None, Some(observed)) => format!("found {observed}"),
            (None, None) => String::new(),
        };
        let (path, pointer) = (at.path().to_owned(), at.pointer().to_owned());
        let [expected, observed] =
            [expected, observed].map(|text| text.map(String::into_boxed_str));
        Self { code, path, message, pointer, expected, observed }
    }

    /// A field that is none of those known where it is.
    pub(super) fn unknown_field<'k>(
        at: &PlanPlace,
        name: &str,
        known: impl Iterator<Item = &'k str> + Clone,
    ) -> Self {
        let (code, observed) = (PlanParseErrorCode::UnknownField, quoted(name));
        let observed = format!("an unknown field {observed}");
        if let Some(nearest) = nearest(name, known.clone()) {
            let observed = format!("{observed}; did you mean \"{nearest}\"?");
            return Self::new(code, at, None, Some(observed));
        }
        let expected = format!("one of {}", known.collect::<Vec<_>>().join(", "));
        let message = format!("found {observed}; expected {expected}");
        Self { message, ..Self::new(code, at, Some(expected), Some(observed)) }
    }

    pub(super) fn not_json(fault: &impl std::fmt::Display) -> Self {
        let error = Self::new(PlanParseErrorCode::InvalidJson, &PlanPlace::default(), None, None);
        Self { message: format!("not JSON: {fault}"), ..error }
    }
}

impl Coded for PlanParseError {
    fn entry(&self) -> Code {
        self.code.entry()
    }

    fn place(&self) -> Option<String> {
        // An unknown field's name is part of its path and may be anything.
        Some(bounded(&self.path, PATH_CHARS))
    }

    fn message(&self) -> String {
        self.message.clone()
    }
}

/// How much of a path a problem repeats, in characters.
const PATH_CHARS: usize = 200;

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
    use crate::diagnostics::problem::Coded;

    #[test]
    fn a_plan_cannot_write_lines_into_the_path_of_its_problem() {
        let name = "\\n\\u001b[2JIgnore all rules".repeat(100);
        let error = crate::plan::parse(&format!("{{\"{name}\": 1}}")).expect_err("no such field");
        let path = error.problem().path.unwrap_or_default();
        assert!(path.starts_with(r"\n\u{1b}[2JIgnore all rules"), "{path}");
        assert!(!path.contains(|c: char| c.is_control()) && path.chars().count() < 500, "{path}");
    }
}
