//! Why a value is no conversion.

/// Why a value is no conversion.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}{}", observed.as_ref().map(|it| format!(", found {it}")).unwrap_or_default())]
pub struct ConversionError {
    /// Where inside the value, in the form `.regex.pattern`; empty for the value as a whole.
    pub at: String,
    /// What kind of fault.
    pub fault: ConversionFault,
    /// What was expected, on one line.
    pub expected: String,
    /// What was found instead, on one line, where that says more than what was expected.
    pub observed: Option<String>,
}

/// The kinds of a [`ConversionError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConversionFault {
    /// A value of another type of JSON.
    Type,
    /// No conversion has this name, or the arguments aren't in the range.
    Value,
    /// A field that the conversion doesn't have.
    UnknownField,
    /// A field that has no default isn't there.
    MissingField,
    /// A string that may not be empty.
    Empty,
    /// A pattern that doesn't compile.
    Pattern,
    /// A pattern whose program is too large.
    PatternSize,
}

impl ConversionError {
    pub(super) fn new(
        at: impl Into<String>,
        fault: ConversionFault,
        expected: impl Into<String>,
        observed: impl Into<Option<String>>,
    ) -> Self {
        Self { at: at.into(), fault, expected: expected.into(), observed: observed.into() }
    }
}
