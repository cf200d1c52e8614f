//! Lines of a stream, in bounded memory.

use std::io::{self, Read};

use memchr::memchr;

use super::chunks::{CHUNK_BYTES, Chunk, Chunks, LinePosition};

/// Reads lines of up to a limited length.
///
/// ```
/// use retort::runtime::{Line, Lines};
///
/// let mut lines = Lines::new("{}\n\n[1, 2, 3]\n{}".as_bytes(), 4);
/// assert_eq!(lines.next_line()?, Some(Line::Whole { number: 1, text: b"{}" }));
/// assert_eq!(lines.next_line()?, Some(Line::TooLong { number: 3, bytes: 9 }));
/// assert_eq!(lines.next_line()?, Some(Line::Whole { number: 4, text: b"{}" }));
/// assert_eq!(lines.next_line()?, None);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Lines<R> {
    chunks: Chunks<R>,
    chunk: Chunk,
    cursor: LineCursor,
    limit: usize,
}

/// One line that isn't blank, without the line feed at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A line within the limit.
    Whole {
        /// Its number, from 1; blank lines count.
        number: u64,
        /// Its bytes. A carriage return at the end is still there: to JSON it is white space.
        text: &'a [u8],
    },
    /// A line beyond the limit, which was skipped.
    TooLong {
        /// Its number, from 1.
        number: u64,
        /// How many bytes it has.
        bytes: u64,
    },
}

impl<R: Read> Lines<R> {
    /// The lines of `reader`; those of more than `limit` bytes are skipped.
    pub fn new(reader: R, limit: usize) -> Self {
        Self::with_reads(reader, limit, CHUNK_BYTES)
    }

    fn with_reads(reader: R, limit: usize, size: usize) -> Self {
        let chunks = Chunks::new(reader, limit, size, LinePosition::default());
        Self { chunks, chunk: Chunk::default(), cursor: LineCursor::default(), limit }
    }

    /// The next line that isn't blank; `None` at the end.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            if let Some(place) = self.chunk.next_place(&mut self.cursor, self.limit) {
                return Ok(Some(self.chunk.line(&self.cursor, place)));
            }
            match self.chunks.next(&mut self.chunk) {
                Ok(true) => self.cursor = self.chunk.cursor(),
                Ok(false) => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// How far the lines of a chunk were gone through.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LineCursor {
    pub(super) at: usize,
    /// The lines before, blank ones too: the number of the last one.
    pub(super) line: u64,
}

/// Where a line is in its chunk.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LinePlace {
    Whole { start: usize, end: usize },
    TooLong { bytes: u64 },
}

impl LineCursor {
    /// The next line in `bytes` that isn't blank.
    pub(super) fn next_place(&mut self, bytes: &[u8], limit: usize) -> Option<LinePlace> {
        loop {
            let start = self.at;
            let rest = bytes.get(start..).filter(|rest| !rest.is_empty())?;
            let length = memchr(b'\n', rest).unwrap_or(rest.len());
            let end = start + length;
            self.at = end + 1;
            self.line += 1;
            let text = rest.get(..length).unwrap_or_default();
            if text.trim_ascii_start().is_empty() {
                continue;
            }
            return Some(match length <= limit {
                true => LinePlace::Whole { start, end },
                false => LinePlace::TooLong { bytes: length as u64 },
            });
        }
    }
}

impl Chunk {
    /// The line at a place to which the cursor has just come.
    pub(crate) fn line(&self, cursor: &LineCursor, place: LinePlace) -> Line<'_> {
        let number = cursor.line;
        match place {
            LinePlace::Whole { start, end } => {
                Line::Whole { number, text: self.bytes().get(start..end).unwrap_or_default() }
            }
            LinePlace::TooLong { bytes } => Line::TooLong { number, bytes },
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use proptest::prelude::*;

    use super::*;

    fn read(text: &[u8], limit: usize, size: usize) -> Vec<(u64, Result<Vec<u8>, u64>)> {
        let mut lines = Lines::with_reads(text, limit, size);
        let mut found = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            found.push(match line {
                Line::Whole { number, text } => (number, Ok(text.to_vec())),
                Line::TooLong { number, bytes } => (number, Err(bytes)),
            });
        }
        assert!(lines.chunk.is_within(limit + 2 * size), "{lines:?}");
        found
    }

    fn expected(text: &[u8], limit: usize) -> Vec<(u64, Result<Vec<u8>, u64>)> {
        text.split(|byte| *byte == b'\n')
            .enumerate()
            .filter(|(_, line)| !line.trim_ascii().is_empty())
            .map(|(index, line)| {
                let line =
                    if line.len() > limit { Err(line.len() as u64) } else { Ok(line.to_vec()) };
                (index as u64 + 1, line)
            })
            .collect()
    }

    proptest! {
        #[test]
        fn lines_are_the_same_whatever_is_read_at_once(
            text in "[a \r\n]{0,60}",
            limit in 1usize..20,
            size in 1usize..30,
        ) {
            let found = read(text.as_bytes(), limit, size);
            prop_assert_eq!(found, expected(text.as_bytes(), limit));
        }
    }
}
