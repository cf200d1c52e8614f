//! Text of JSON that is being written.

#![allow(unsafe_code, reason = "what is written ahead is added later")]

use alloc::vec::Vec;

use crate::piece::{Buffer, Piece};
use crate::{number, scan};

/// A buffer that is only written to with whole pieces of JSON.
#[derive(Debug, Default)]
pub struct Out {
    bytes: Buffer,
    /// How many arrays and objects of a property are open.
    levels: u32,
}

/// How deep a property may nest: a result nests 127 levels, of which five are around it.
const MAX_LEVELS: u32 = 122;

impl Out {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { bytes: Buffer::with_capacity(capacity), levels: 0 }
    }

    /// Writes pieces, one behind another.
    #[inline(always)]
    pub(crate) fn put(&mut self, pieces: impl Piece) {
        self.bytes.push(pieces);
    }

    /// The same in the place of the last few bytes.
    #[inline(always)]
    pub(crate) fn put_over(&mut self, bytes: usize, pieces: impl Piece) {
        self.bytes.truncate(self.bytes.len().saturating_sub(bytes));
        self.bytes.push(pieces);
    }

    #[inline]
    pub(crate) fn raw(&mut self, text: &str) {
        self.append(text.as_bytes());
    }

    #[inline]
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        self.put(bytes);
    }

    #[inline]
    pub(crate) fn byte(&mut self, byte: u8) {
        self.put(byte);
    }

    /// Opens an array or an object of a property.
    ///
    /// # Panics
    /// Where the property nests deeper than results may.
    pub(crate) fn open(&mut self, bracket: u8) {
        self.levels += 1;
        self.check_levels(0);
        self.byte(bracket);
    }

    /// Closes what was opened last.
    pub(crate) fn close(&mut self, bracket: u8) {
        self.levels -= 1;
        self.byte(bracket);
    }

    /// Writes JSON that is an array or an object. What isn't inside another one is the event's own, which the host judges.
    ///
    /// # Panics
    /// As [`open`](Self::open).
    pub(crate) fn nested(&mut self, json: &str) {
        if self.levels > 0 {
            self.check_levels(scan::levels(json.as_bytes()));
        }
        self.raw(json);
    }

    fn check_levels(&self, inside: u32) {
        assert!(
            self.levels.saturating_add(inside) <= MAX_LEVELS,
            "a property nests more than {MAX_LEVELS} levels, and a result has no room for that"
        );
    }

    /// Text inside a string, escaped as the host writes it.
    pub(crate) fn escaped(&mut self, text: &str) {
        let mut rest = text.as_bytes();
        loop {
            let (plain, after) = rest.split_at_checked(scan::plain(rest)).unwrap_or((rest, &[]));
            self.append(plain);
            let Some((special, after)) = after.split_first() else { return };
            self.escape(*special);
            rest = after;
        }
    }

    #[cold]
    fn escape(&mut self, byte: u8) {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let short = match byte {
            8 => b'b',
            9 => b't',
            10 => b'n',
            12 => b'f',
            13 => b'r',
            b'"' | b'\\' => byte,
            _ => {
                self.raw("\\u00");
                self.byte(HEX[usize::from(byte >> 4)]);
                return self.byte(HEX[usize::from(byte & 15)]);
            }
        };
        self.append(&[b'\\', short]);
    }

    pub(crate) fn string(&mut self, text: &str) {
        self.byte(b'"');
        self.escaped(text);
        self.byte(b'"');
    }

    pub(crate) fn unsigned(&mut self, number: u64) {
        let mut digits = [0; 20];
        let at = number::digits(number, &mut digits);
        self.append(digits.get(at..).unwrap_or_default());
    }

    pub(crate) fn signed(&mut self, number: i64) {
        if number < 0 {
            self.byte(b'-');
        }
        self.unsigned(number.unsigned_abs());
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn truncate(&mut self, length: usize) {
        self.bytes.truncate(length);
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.truncate(0);
    }

    /// Takes a piece out.
    pub(crate) fn remove(&mut self, from: usize, to: usize) {
        if from <= to && to <= self.bytes.len() {
            self.bytes.remove(from, to);
        }
    }

    /// A piece of what was written; empty where there is no such piece.
    pub(crate) fn piece(&self, from: usize, to: usize) -> &[u8] {
        self.as_slice().get(from..to).unwrap_or_default()
    }

    /// Writes pieces behind the end without adding them yet, where they fit into the room that is always there.
    #[inline(always)]
    pub(crate) fn write_ahead(&mut self, pieces: impl Piece) -> Option<usize> {
        self.bytes.write_ahead(pieces)
    }

    /// Adds what was written ahead, and pieces behind it.
    ///
    /// # Safety
    /// So many bytes were written ahead, and nothing was done with this since.
    #[inline(always)]
    pub(crate) unsafe fn put_behind(&mut self, ahead: usize, pieces: impl Piece) {
        // SAFETY: as for the caller.
        unsafe { self.bytes.push_behind(ahead, pieces) };
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    /// Takes all that was written.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.bytes).into_bytes()
    }
}

/// Anything that is formatted, inside a string.
impl core::fmt::Write for Out {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.escaped(text);
        Ok(())
    }
}
