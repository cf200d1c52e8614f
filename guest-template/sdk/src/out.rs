//! Text of JSON that is being written.

use alloc::vec::Vec;

use crate::{number, scan};

/// A buffer that is only written to with whole pieces of JSON.
#[derive(Clone, Debug, Default)]
pub struct Out {
    bytes: Vec<u8>,
}

impl Out {
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { bytes: Vec::with_capacity(capacity) }
    }

    #[inline]
    pub(crate) fn raw(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    #[inline]
    pub(crate) fn append(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    #[inline]
    pub(crate) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
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

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(crate) fn truncate(&mut self, length: usize) {
        self.bytes.truncate(length);
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Takes a piece out.
    pub(crate) fn remove(&mut self, from: usize, to: usize) {
        if from <= to && to <= self.bytes.len() {
            self.bytes.drain(from..to);
        }
    }

    /// A piece of what was written; empty where there is no such piece.
    pub(crate) fn piece(&self, from: usize, to: usize) -> &[u8] {
        self.bytes.get(from..to).unwrap_or_default()
    }

    /// Copies a piece of what was written to the end.
    pub(crate) fn repeat(&mut self, from: usize, to: usize) {
        if from <= to && to <= self.bytes.len() {
            self.bytes.extend_from_within(from..to);
        }
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Anything that is formatted, inside a string.
impl core::fmt::Write for Out {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.escaped(text);
        Ok(())
    }
}
