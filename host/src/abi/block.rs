//! The input block of ABI version 1: what the host writes into a guest's memory for one event.
//!
//! All numbers are little-endian and 32 bits wide.
//!
//! | offset | what |
//! | --- | --- |
//! | 0 | the ABI version, 1 |
//! | 4 | the number of slots, one for each declared input, in the order of declaration |
//! | 8 + 12 i | slot i: its kind ([`Kind`]), then offset and length of its text, counted from the block's first byte |
//! | behind the slots | the texts: JSON, one behind the other |
//!
//! A slot that is absent has offset and length 0. A string's text has its quotes, and its escapes are canonical: the same
//! string has the same text, whatever way the event wrote it. Numbers, arrays and objects are the bytes of the event.

use thiserror::Error;

use super::section::{ABI_VERSION, What};
use crate::event::{Projection, Projector, Slot};
use crate::problem::Coded;

/// What a slot holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
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
    /// The path is there, and a policy keeps it from the guest.
    Denied = 8,
}

impl Kind {
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

/// Bytes before the first slot.
pub const HEADER_BYTES: usize = 8;
/// Bytes of a slot's record.
pub const SLOT_BYTES: usize = 12;

/// The block is larger than what the host allows a guest to be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the declared inputs of this event take {used} bytes, {allowed} are allowed")]
pub struct InputTooLarge {
    /// Bytes that the block needs.
    pub used: usize,
    /// Bytes that it may have.
    pub allowed: usize,
}

impl InputTooLarge {
    /// The code of this error.
    pub const CODES: &'static [&'static str] = &["input_too_large"];
}

impl Coded for InputTooLarge {
    fn code(&self) -> &'static str {
        "input_too_large"
    }
}

/// Writes blocks; keeps its buffer from event to event.
#[derive(Clone, Debug, Default)]
pub struct BlockWriter {
    block: Vec<u8>,
}

impl BlockWriter {
    /// The block for the inputs of `event`, which `projector` has just read into `projection`.
    ///
    /// # Errors
    /// [`InputTooLarge`], when the block would have more than `limit` bytes.
    pub fn write(
        &mut self,
        projector: &Projector,
        event: &[u8],
        projection: &Projection,
        limit: usize,
    ) -> Result<&[u8], InputTooLarge> {
        // Offsets have 32 bits.
        let limit = limit.min(u32::MAX as usize);
        let slots = projector.len();
        let records = HEADER_BYTES + slots * SLOT_BYTES;
        if records > limit {
            return Err(InputTooLarge { used: records, allowed: limit });
        }
        self.block.clear();
        self.block.resize(records, 0);
        put(&mut self.block, 0, ABI_VERSION);
        put(&mut self.block, 4, slots as u32);
        for index in 0..slots {
            let slot = projector.slot(projection, index);
            if slot.kind == Kind::Absent {
                continue;
            }
            let offset = self.block.len();
            let text = event.get(slot.start as usize..slot.end as usize).unwrap_or_default();
            let kind = match projector.what(index) {
                Some(What::Truthy(_)) => {
                    let word: &[u8] = if is_truthy(slot.kind, text) { b"true" } else { b"false" };
                    self.block.extend_from_slice(word);
                    Kind::Boolean
                }
                _ => {
                    self.push_json(slot, text);
                    slot.kind
                }
            };
            let length = self.block.len() - offset;
            if self.block.len() > limit {
                return Err(InputTooLarge { used: self.block.len(), allowed: limit });
            }
            let record = HEADER_BYTES + index * SLOT_BYTES;
            put(&mut self.block, record, kind as u32);
            put(&mut self.block, record + 4, offset as u32);
            put(&mut self.block, record + 8, length as u32);
        }
        Ok(&self.block)
    }

    fn push_json(&mut self, slot: Slot, text: &[u8]) {
        if slot.escaped {
            self.push_canonical(text);
        } else {
            self.block.extend_from_slice(text);
        }
    }

    /// A string with escapes, written as `serde_json` writes it.
    #[cold]
    fn push_canonical(&mut self, text: &[u8]) {
        let content = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
        match crate::event::unescape(content).and_then(|text| serde_json::to_vec(&text).ok()) {
            Some(canonical) => self.block.extend_from_slice(&canonical),
            None => self.block.extend_from_slice(text),
        }
    }
}

fn put(block: &mut [u8], at: usize, value: u32) {
    if let Some(field) = block.get_mut(at..at + 4) {
        field.copy_from_slice(&value.to_le_bytes());
    }
}

/// Whether a valid JSON value counts as true: everything but `null`, `false`, a number that is zero, and what is empty.
fn is_truthy(kind: Kind, text: &[u8]) -> bool {
    match kind {
        Kind::Absent | Kind::Null | Kind::Denied => false,
        Kind::Boolean => text.first() == Some(&b't'),
        // Zero by its text, so that no rounding decides: no digit but 0 before the exponent.
        Kind::Number => text
            .iter()
            .take_while(|byte| **byte | 0x20 != b'e')
            .any(|byte| matches!(byte, b'1'..=b'9')),
        Kind::String => text.len() > 2,
        Kind::Object | Kind::Array | Kind::List => {
            let inside = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
            inside.iter().any(|byte| !byte.is_ascii_whitespace())
        }
    }
}
