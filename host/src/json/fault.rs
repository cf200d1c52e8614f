//! What can be wrong with a text that should be JSON.

use thiserror::Error;

/// What is wrong with the text at an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// The text ends where a value is due.
    #[error("expected a value, found the end of the text")]
    End,
    /// The text ends inside a string.
    #[error("expected a closing quote, found the end of the text")]
    EndInString,
    /// Something else than a value.
    #[error("expected a value: an object, an array, a string, a number, true, false or null")]
    Value,
    /// A byte order mark.
    #[error("expected a value, found a byte order mark: save the text without one")]
    ByteOrderMark,
    /// Something else than a key.
    #[error("expected a key in double quotes")]
    Key,
    /// No colon after a key.
    #[error("expected a colon behind the key")]
    Colon,
    /// Something else than a comma or a brace after a member.
    #[error("expected a comma or a closing brace")]
    ObjectEnd,
    /// Something else than a comma or a bracket after an element.
    #[error("expected a comma or a closing bracket")]
    ArrayEnd,
    /// A raw control character in a string.
    #[error("a control character in a string must be escaped")]
    ControlCharacter,
    /// An unknown escape, or one cut short.
    #[error("not an escape of JSON")]
    Escape,
    /// Half of a surrogate pair.
    #[error("half of a surrogate pair is not a character")]
    LoneSurrogate,
    /// Something that begins like a number and isn't one.
    #[error("not a number of JSON")]
    Number,
    /// A number too large for a double.
    #[error("the number is outside the range of a double")]
    NumberRange,
    /// More levels of nesting than [`MAX_DEPTH`](super::scan::MAX_DEPTH).
    #[error("arrays and objects are nested more than {} levels deep", super::scan::MAX_DEPTH)]
    Depth,
    /// Text after the value.
    #[error("expected the end of the text behind the value")]
    Trailing,
}
