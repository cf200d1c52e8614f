//! Values on their way through an expression: places in the event, or in what was made on the way. They are small and hold nothing, so
//! that a copy costs nothing.

use crate::json::tape::TapeIndex;
use crate::plan::expr::JsonType;

/// What a place is in: the event or an element around, by its level, or one of the following.
pub(crate) type DocumentNumber = u8;

/// What was made on the way.
pub(super) const MADE: DocumentNumber = u8::MAX;
/// The literals of the expression.
pub(super) const LITERALS: DocumentNumber = u8::MAX - 1;

/// A part of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) document: DocumentNumber,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Part {
    pub(super) fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// A part of it, by offsets from its beginning that are no further than its end.
    pub(super) fn part(self, start: usize, end: usize) -> Self {
        Self { start: self.start + start as u32, end: self.start + end as u32, ..self }
    }
}

/// So many values, or members, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(super) start: u32,
    pub(super) count: u32,
}

/// A value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Val {
    Null,
    Boolean(bool),
    /// An integer.
    Small(i32),
    /// A number that was made, by its index.
    Number(u32),
    /// A number as it is written.
    Digits(Part),
    /// The characters of a string.
    Text(Part),
    /// A string as it is written, without its quotes; some of it is escaped.
    Escaped(Part),
    /// An array or object on the tape of its document.
    Taped {
        document: DocumentNumber,
        index: TapeIndex,
        is_object: bool,
    },
    /// An array or object as it is written, whose document has no tape of it.
    Written {
        part: Part,
        is_object: bool,
    },
    /// An array that was made.
    List(Run),
    /// An object that was made, each key once.
    Object(Run),
}

// What is handed on fits into two registers, and so does why there is nothing.
const _: () = assert!(size_of::<Val>() == 16);

impl Val {
    pub(crate) fn kind(self) -> JsonType {
        match self {
            Self::Null => JsonType::Null,
            Self::Boolean(_) => JsonType::Boolean,
            Self::Small(_) | Self::Number(_) | Self::Digits(_) => JsonType::Number,
            Self::Text(_) | Self::Escaped(_) => JsonType::String,
            Self::List(_)
            | Self::Taped { is_object: false, .. }
            | Self::Written { is_object: false, .. } => JsonType::Array,
            Self::Object(_)
            | Self::Taped { is_object: true, .. }
            | Self::Written { is_object: true, .. } => JsonType::Object,
        }
    }

    /// Bytes that reading it takes, by itself and without what is in it.
    pub(super) fn size(self) -> usize {
        match self {
            Self::Null | Self::Boolean(_) | Self::Taped { .. } => 4,
            Self::Small(_) | Self::Number(_) | Self::List(_) | Self::Object(_) => 16,
            Self::Digits(part) | Self::Text(part) | Self::Escaped(part) => part.len(),
            Self::Written { part, .. } => part.len(),
        }
    }
}
