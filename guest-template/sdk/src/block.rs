//! The input block: docs/abi.md has its form.

use alloc::borrow::Cow;
use core::marker::PhantomData;

use crate::declaration::Declaration;
use crate::value::Value;

/// Bytes before the first slot.
const HEADER: usize = 8;
/// Bytes of a slot, and of a record in a row.
const RECORD: usize = 12;
/// A column: the offset is that of its first record, the length the number of rows.
const LIST: u32 = 7;

/// Most records side by side that are read where they are asked for: each is some locals there, and functions may have few.
const MAX_LOCAL: usize = 16;

/// What [`extractor!`](crate::extractor) makes.
pub trait Extractor {
    /// What it declares.
    const DECLARATION: Declaration;

    /// Serves an event.
    fn call(block: Block<'_>) -> Cow<'static, [u8]>;
}

/// What is read from records that lie side by side.
pub trait Record<'a>: Sized {
    /// How many records.
    const COUNT: usize;

    /// The records, in order.
    fn read(records: &mut Records<'a>) -> Self;
}

/// An input block.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    bytes: &'a [u8],
}

impl<'a> Block<'a> {
    /// A block. Whatever is wrong with it, what is read of it is some value, or an absent one.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The slots, from the first one.
    #[must_use]
    pub fn records(self) -> Records<'a> {
        Records { block: self, at: HEADER }
    }

    #[inline]
    fn record(self, at: usize) -> Option<(u32, usize, usize)> {
        let record = self.piece(at, RECORD)?.first_chunk::<RECORD>()?;
        let [a, b, c, d, e, f, g, h, i, j, k, l] = *record;
        let word = |bytes: [u8; 4]| u32::from_le_bytes(bytes);
        let (offset, length) = (word([e, f, g, h]), word([i, j, k, l]));
        Some((word([a, b, c, d]), offset as usize, length as usize))
    }

    #[inline]
    fn value(self, at: usize) -> Value<'a> {
        let Some((kind, offset, length)) = self.record(at) else { return Value::ABSENT };
        self.piece(offset, length).map_or(Value::ABSENT, |text| Value::of_record(kind, text))
    }

    /// A piece of the block; `None` where it isn't inside.
    #[cfg(not(target_family = "wasm"))]
    fn piece(self, from: usize, length: usize) -> Option<&'a [u8]> {
        self.bytes.get(from..)?.get(..length)
    }

    /// A piece of the block.
    #[cfg(target_family = "wasm")]
    #[inline]
    #[allow(
        unsafe_code,
        reason = "half of what it takes to read a value would be looking whether it lies in the block"
    )]
    fn piece(self, from: usize, length: usize) -> Option<&'a [u8]> {
        // SAFETY: the host vouches for the block: it has a record for each input that is declared and for each column of each row,
        // and these, like the texts that they name, lie inside it.
        Some(unsafe { self.bytes.get_unchecked(from..from.unchecked_add(length)) })
    }
}

/// Records side by side, read from the first to the last.
#[derive(Clone, Copy, Debug)]
pub struct Records<'a> {
    block: Block<'a>,
    at: usize,
}

impl<'a> Records<'a> {
    /// The next value, of so many that are read.
    #[inline(always)]
    pub fn next_of(&mut self, count: usize) -> Value<'a> {
        let block = self.block;
        let at = self.at;
        self.at += RECORD;
        if count <= MAX_LOCAL { block.value(at) } else { enter(|| block.value(at)) }
    }

    /// The rows whose columns are the next few.
    #[inline]
    pub fn rows<T: Record<'a>>(&mut self) -> RowIter<'a, T> {
        let head = if T::COUNT == 0 { None } else { self.block.record(self.at) };
        self.at += RECORD * T::COUNT;
        let (at, left) = match head {
            Some((LIST, at, left)) => (at, left),
            _ => (0, 0),
        };
        RowIter { records: Records { block: self.block, at }, left, row: PhantomData }
    }
}

/// The rows of an iteration. It can be copied and gone over again.
#[derive(Debug)]
pub struct RowIter<'a, T> {
    records: Records<'a>,
    left: usize,
    row: PhantomData<fn() -> T>,
}

impl<T> Clone for RowIter<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for RowIter<'_, T> {}

impl<'a, T: Record<'a>> Iterator for RowIter<'a, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        Some(if T::COUNT <= MAX_LOCAL {
            T::read(&mut self.records)
        } else {
            enter(|| T::read(&mut self.records))
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }

    /// The row that many further on, without reading those between.
    fn nth(&mut self, index: usize) -> Option<T> {
        let Some(left) = self.left.checked_sub(index) else {
            self.left = 0;
            return None;
        };
        self.left = left;
        self.records.at = self.records.at.saturating_add(index.saturating_mul(T::COUNT * RECORD));
        self.next()
    }
}

impl<'a, T: Record<'a>> ExactSizeIterator for RowIter<'a, T> {}

/// Calls a function that stays one: were it a part of its caller, each field of an event would be a local of it, and functions
/// may have few.
#[inline(never)]
pub fn enter<R>(function: impl FnOnce() -> R) -> R {
    function()
}
