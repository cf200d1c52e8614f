//! An input cut at line ends, in bounded memory.

use std::io::{self, Read};

use memchr::{memchr, memchr_iter, memrchr};

use super::lines::{LineCursor, LinePlace};

/// Bytes that are read at once.
pub(crate) const CHUNK_BYTES: usize = 256 << 10;

/// Cuts what a reader gives into chunks of whole lines, whatever the length of its reads.
///
/// A chunk is what one read brought up to the last line end in it, so that a line is there as soon as its reader has it; where a
/// read brought no line end, further ones follow. Of a line beyond the limit nothing but its length is kept.
#[derive(Debug)]
pub(crate) struct Chunks<R> {
    reader: R,
    /// The most bytes that a line may have.
    limit: usize,
    /// The most bytes that are read at once.
    size: usize,
    /// What was read already, and belongs to the chunks that follow.
    carry: Vec<u8>,
    /// A line beyond the limit whose end hasn't been read.
    skipping: Option<Skipped>,
    /// Whether the reader has come to its end.
    has_ended: bool,
    /// Where the next chunk begins.
    at: LinePosition,
}

/// A place between two lines of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinePosition {
    /// How many lines are before it, blank ones too.
    pub line: u64,
    /// How many bytes are before it.
    pub offset: u64,
}

/// What was read of a line beyond the limit.
#[derive(Clone, Copy, Debug)]
struct Skipped {
    bytes: u64,
    is_blank: bool,
}

/// Whole lines of an input.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    /// As long as any chunk that it has held; only `length` bytes of it count.
    buffer: Vec<u8>,
    length: usize,
    /// Bytes of a line beyond the limit, which is all that the chunk holds then.
    too_long: Option<u64>,
    start: LinePosition,
    end: LinePosition,
}

impl Chunk {
    /// The bytes of the lines.
    pub(super) fn bytes(&self) -> &[u8] {
        self.buffer.get(..self.length).unwrap_or_default()
    }

    /// Where to begin to go through the lines.
    pub(crate) fn cursor(&self) -> LineCursor {
        LineCursor { at: 0, line: self.start.line }
    }

    /// The next place of a line that isn't blank. `limit` is what lines are held to.
    pub(crate) fn next_place(&self, cursor: &mut LineCursor, limit: usize) -> Option<LinePlace> {
        if let Some(bytes) = self.too_long {
            let is_first = cursor.line == self.start.line;
            cursor.line = self.end.line;
            return is_first.then_some(LinePlace::TooLong { bytes });
        }
        cursor.next_place(self.bytes(), limit)
    }

    /// Where the line begins that a cursor comes to next.
    pub(crate) fn position(&self, cursor: &LineCursor) -> LinePosition {
        // Behind the last line without an end, a cursor is beyond the chunk.
        let offset = self.start.offset + cursor.at.min(self.length) as u64;
        LinePosition { line: cursor.line, offset }
    }

    /// Where it ends in its input.
    pub(crate) fn end(&self) -> LinePosition {
        self.end
    }

    /// Gives up what only a line that was much longer than usual has needed.
    pub(crate) fn trim(&mut self, size: usize) {
        let usual = size.saturating_mul(4);
        if self.buffer.len() > usual {
            self.buffer.truncate(usual);
            self.buffer.shrink_to_fit();
        }
    }
}

impl<R: Read> Chunks<R> {
    /// Chunks of `reader`, which is at `at` of its input. Lines may have `limit` bytes; up to `size` bytes are read at once.
    pub(crate) fn new(reader: R, limit: usize, size: usize, at: LinePosition) -> Self {
        let size = size.max(1);
        let carry = Vec::new();
        Self { reader, limit, size, carry, skipping: None, has_ended: false, at }
    }

    /// Where the next chunk begins.
    pub(crate) fn position(&self) -> LinePosition {
        self.at
    }

    /// Makes `chunk` the next one, which may hold nothing but blank lines. `false` at the end.
    ///
    /// # Errors
    /// Those of the reader, interruptions too. What was read of a line stays, so that another call goes on from there.
    pub(crate) fn next(&mut self, chunk: &mut Chunk) -> io::Result<bool> {
        chunk.length = 0;
        chunk.too_long = None;
        chunk.start = self.at;
        if let Some(skipped) = self.skipping.take() {
            return self.skip(skipped, chunk).map(|()| true);
        }
        let mut filled = self.carry.len();
        self.reserve(chunk, filled);
        if let Some(begun) = chunk.buffer.get_mut(..filled) {
            begun.copy_from_slice(&self.carry);
        }
        self.carry.clear();
        let mut searched = 0;
        loop {
            let read = chunk.buffer.get(searched..filled).unwrap_or_default();
            if let Some(feed) = memrchr(b'\n', read) {
                let end = searched + feed + 1;
                self.carry.extend_from_slice(chunk.buffer.get(end..filled).unwrap_or_default());
                self.finish(chunk, end);
                return Ok(true);
            }
            if self.has_ended {
                self.finish(chunk, filled);
                return Ok(filled > 0);
            }
            if filled > self.limit {
                let line = chunk.buffer.get(..filled).unwrap_or_default();
                let is_blank = line.trim_ascii().is_empty();
                let skipped = Skipped { bytes: filled as u64, is_blank };
                return self.skip(skipped, chunk).map(|()| true);
            }
            searched = filled;
            self.reserve(chunk, filled + self.size);
            let room = chunk.buffer.get_mut(filled..filled + self.size).unwrap_or_default();
            match self.reader.read(room) {
                Ok(0) => self.has_ended = true,
                // A reader that claims more than there is room for is wrong, and harms nobody else.
                Ok(read) => filled += read.min(self.size),
                Err(error) => {
                    self.carry.extend_from_slice(chunk.buffer.get(..filled).unwrap_or_default());
                    return Err(error);
                }
            }
        }
    }

    /// Goes to the end of a line that is too long.
    fn skip(&mut self, mut skipped: Skipped, chunk: &mut Chunk) -> io::Result<()> {
        self.reserve(chunk, self.size);
        let mut feeds = 0;
        while feeds == 0 && !self.has_ended {
            let room = chunk.buffer.get_mut(..self.size).unwrap_or_default();
            let read = match self.reader.read(room) {
                Ok(read) => read.min(self.size),
                Err(error) => {
                    self.skipping = Some(skipped);
                    return Err(error);
                }
            };
            self.has_ended = read == 0;
            let read = chunk.buffer.get(..read).unwrap_or_default();
            let (line, rest) = match memchr(b'\n', read) {
                Some(feed) => {
                    feeds = 1;
                    (read.get(..feed).unwrap_or_default(), read.get(feed + 1..).unwrap_or_default())
                }
                None => (read, &[][..]),
            };
            skipped.bytes += line.len() as u64;
            skipped.is_blank = skipped.is_blank && line.trim_ascii().is_empty();
            self.carry.extend_from_slice(rest);
        }
        chunk.too_long = (!skipped.is_blank).then_some(skipped.bytes);
        self.at.line += 1;
        self.at.offset += skipped.bytes + feeds;
        chunk.end = self.at;
        Ok(())
    }

    /// Makes room for this many bytes, of which there are never more than a line and two reads take.
    fn reserve(&self, chunk: &mut Chunk, bytes: usize) {
        let length = chunk.buffer.len();
        if length < bytes {
            // Doubled, so that a long line that comes in many reads is not copied for each of them.
            let most = self.limit.saturating_add(self.size.saturating_mul(2));
            let wanted = length.saturating_mul(2).min(most).max(bytes);
            chunk.buffer.reserve_exact(wanted - length);
            chunk.buffer.resize(wanted, 0);
        }
    }

    fn finish(&mut self, chunk: &mut Chunk, length: usize) {
        chunk.length = length;
        let bytes = chunk.bytes();
        let feeds = memchr_iter(b'\n', bytes).count() as u64;
        // Only the last line of an input may have no end.
        let open = !bytes.is_empty() && bytes.last() != Some(&b'\n');
        self.at.line += feeds + u64::from(open);
        self.at.offset += length as u64;
        chunk.end = self.at;
    }
}

#[cfg(test)]
impl Chunk {
    /// Whether it takes up no more than this.
    pub(super) fn is_within(&self, bytes: usize) -> bool {
        self.buffer.capacity() <= bytes
    }
}
