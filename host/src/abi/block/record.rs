//! Records: where the texts of a block are.

use super::{SLOT_BYTES, SlotKind};

/// Where a text is. Two integers, which are handed on in registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) kind: SlotKind,
    /// The offset of the text in the low half, its length in the high half.
    place: u64,
}

// The kind has room for that there is none.
const _: () = assert!(size_of::<Option<Record>>() == size_of::<Record>());

impl Record {
    #[inline]
    pub(super) fn new(kind: SlotKind, offset: u32, length: u32) -> Self {
        Self { kind, place: u64::from(offset) | u64::from(length) << 32 }
    }

    /// No text, and why.
    #[inline]
    pub(super) fn without_text(kind: SlotKind) -> Self {
        Self { kind, ..Self::default() }
    }

    #[inline]
    pub(super) fn to_bytes(self) -> [u8; SLOT_BYTES] {
        let [a, b, c, d] = (self.kind as u32).to_le_bytes();
        let [e, f, g, h, i, j, k, l] = self.place.to_le_bytes();
        [a, b, c, d, e, f, g, h, i, j, k, l]
    }
}
