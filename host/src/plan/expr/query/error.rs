//! What can be wrong with an expression: when it is read, and when it is evaluated.

use crate::diagnostics::codes::{self, Code};

/// Why a text is no expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: expected {expected}{}", found.as_ref().map(|it| format!(", found {it}")).unwrap_or_default())]
pub struct QueryError {
    /// What kind of problem.
    pub code: Code,
    /// Where, in characters from the beginning, counted from 1.
    pub column: usize,
    /// What was expected, on one line.
    pub expected: String,
    /// What was found instead, on one line, where that says more than what was expected.
    pub found: Option<String>,
}

/// The same, at an offset in bytes rather than a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) code: Code,
    pub(crate) at: usize,
    pub(crate) expected: String,
    pub(crate) found: Option<String>,
}

impl Mistake {
    pub(crate) fn new(
        code: Code,
        at: usize,
        expected: impl Into<String>,
        found: impl Into<Option<String>>,
    ) -> Self {
        Self { code, at, expected: expected.into(), found: found.into() }
    }

    pub(crate) fn syntax(
        at: usize,
        expected: impl Into<String>,
        found: impl Into<Option<String>>,
    ) -> Self {
        Self::new(codes::SYNTAX, at, expected, found)
    }

    pub(crate) fn in_text(self, text: &str) -> QueryError {
        let column = column(text, self.at);
        QueryError { code: self.code, column, expected: self.expected, found: self.found }
    }
}

/// The column of an offset: characters before it, and one.
pub(crate) fn column(text: &str, at: usize) -> usize {
    text.char_indices().take_while(|(offset, _)| *offset < at).count() + 1
}

/// Why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// A function or an operator doesn't take values of this type.
    InvalidType,
    /// The type is right, and the value isn't.
    InvalidValue,
    /// A division by zero, or a result beyond the numbers of JSON.
    NotANumber,
    /// No `let` binds the variable.
    UndefinedVariable,
    /// Lists and texts on the way have more bytes than they may.
    TooLarge,
}

impl FailureKind {
    pub(crate) fn code(self) -> Code {
        match self {
            Self::InvalidType => codes::INVALID_TYPE,
            Self::InvalidValue => codes::INVALID_VALUE,
            Self::NotANumber => codes::NOT_A_NUMBER,
            Self::UndefinedVariable => codes::UNDEFINED_VARIABLE,
            Self::TooLarge => codes::EXPRESSION_TOO_LARGE,
        }
    }
}

/// A failure, where in the expression it comes from, and what was expected there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    /// Offset in bytes.
    pub(crate) at: usize,
    pub(crate) expected: &'static str,
}

impl Failure {
    pub(super) fn in_text(self, text: &str) -> QueryError {
        QueryError {
            code: self.kind.code(),
            column: column(text, self.at),
            expected: self.expected.to_owned(),
            found: None,
        }
    }
}
