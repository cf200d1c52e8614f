//! Where the value of an input is, and of what kind.

use crate::json::tape::TapeIndex;
use crate::plan::expr::JsonType;

/// Where a declared input was found in the event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// What kind of value it is; for an input declared `as: truthy`, the kind of the value that was judged.
    pub kind: SlotKind,
    /// Whether it is a string that holds escapes, so that its text isn't canonical.
    pub escaped: bool,
    /// Offset of the value's first byte in the event.
    pub start: u32,
    /// Offset after its last byte.
    pub end: u32,
    /// One more than its number on the tape of the text that it is in; 0 for what isn't on it.
    pub(crate) taped: u32,
}

impl Slot {
    /// Its number on the tape.
    pub(crate) fn on_tape(self) -> Option<TapeIndex> {
        self.taped.checked_sub(1)
    }
}

/// What a slot holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum SlotKind {
    /// The event has no such path.
    #[default]
    Absent = 0,
    /// `null`.
    Null = 1,
    /// `true` or `false`.
    Boolean = 2,
    /// A number, as the event writes it.
    Number = 3,
    /// A string.
    String = 4,
    /// An object.
    Object = 5,
    /// An array.
    Array = 6,
    /// A column: one value for each row.
    List = 7,
    /// An object or an array is there, and a policy withholds it from the guest.
    Denied = 8,
}

impl SlotKind {
    /// The kind of a valid JSON value by its first byte.
    #[must_use]
    #[inline(always)]
    pub fn of(first: u8) -> Self {
        match first {
            b'"' => Self::String,
            b'{' => Self::Object,
            b'[' => Self::Array,
            b't' | b'f' => Self::Boolean,
            b'n' => Self::Null,
            _ => Self::Number,
        }
    }

    /// Whether there is a text: the event has the value, and nothing withholds it.
    #[must_use]
    #[inline(always)]
    pub fn is_there(self) -> bool {
        !matches!(self, Self::Absent | Self::Denied)
    }

    /// The kind's name in a sentence.
    #[must_use]
    pub fn with_article(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Object => "an object",
            Self::Array => "an array",
            Self::List => "a column",
            Self::Denied => "denied",
        }
    }
}

impl From<JsonType> for SlotKind {
    fn from(json_type: JsonType) -> Self {
        match json_type {
            JsonType::Null => Self::Null,
            JsonType::Boolean => Self::Boolean,
            JsonType::Number => Self::Number,
            JsonType::String => Self::String,
            JsonType::Object => Self::Object,
            JsonType::Array => Self::Array,
        }
    }
}
