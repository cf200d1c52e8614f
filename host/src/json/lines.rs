//! Lines of a stream, in bounded memory.

use std::io::{self, BufRead};

use memchr::memchr;

/// Reads lines of up to a limited length. A line that lies whole in the reader's own buffer is not copied.
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
    reader: R,
    limit: usize,
    number: u64,
    /// A line that spans buffers of the reader, as far as it was read.
    partial: Vec<u8>,
    /// Bytes of the reader's buffer that were handed out and not yet consumed.
    pending: usize,
    /// Bytes after them that the reader holds already.
    buffered: usize,
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

impl<R: BufRead> Lines<R> {
    /// The lines of `reader`; those of more than `limit` bytes are skipped.
    pub fn new(reader: R, limit: usize) -> Self {
        Self { reader, limit, number: 0, partial: Vec::new(), pending: 0, buffered: 0 }
    }

    /// Whether the next line may have to wait for the reader's source: what depends on earlier lines is better written
    /// out before.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.buffered == 0
    }

    /// The next line that isn't blank; `None` at the end.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            self.consume_pending();
            self.partial.clear();
            match self.find()? {
                LinePlace::End => return Ok(None),
                LinePlace::Blank => {}
                LinePlace::TooLong { bytes } => {
                    return Ok(Some(Line::TooLong { number: self.number, bytes }));
                }
                LinePlace::Partial => {
                    return Ok(Some(Line::Whole { number: self.number, text: &self.partial }));
                }
                LinePlace::Buffered { length } => {
                    // The buffer isn't empty, so that this reads nothing.
                    let buffer = self.reader.fill_buf()?;
                    let text = buffer.get(..length).unwrap_or_default();
                    return Ok(Some(Line::Whole { number: self.number, text }));
                }
            }
        }
    }

    fn consume_pending(&mut self) {
        self.reader.consume(self.pending);
        self.pending = 0;
    }

    /// Goes to the end of the next line, and says where it is.
    fn find(&mut self) -> io::Result<LinePlace> {
        // Of this line in earlier buffers: how many bytes, and whether all of them are white space.
        let mut before: u64 = 0;
        let mut is_blank = true;
        loop {
            let buffer = match self.reader.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let at_end = buffer.is_empty();
            if at_end && before == 0 {
                self.buffered = 0;
                return Ok(LinePlace::End);
            }
            let feed = memchr(b'\n', buffer);
            let part = buffer.get(..feed.unwrap_or(buffer.len())).unwrap_or_default();
            let used = part.len() + usize::from(feed.is_some());
            self.buffered = buffer.len() - used;
            let bytes = before + part.len() as u64;
            let is_within = bytes <= self.limit as u64;
            is_blank = is_blank && part.trim_ascii().is_empty();
            if feed.is_some() || at_end {
                self.number += 1;
            }
            if feed.is_some() && before == 0 {
                self.pending = used;
                return Ok(match (is_blank, is_within) {
                    (true, _) => LinePlace::Blank,
                    (false, true) => LinePlace::Buffered { length: used - 1 },
                    (false, false) => LinePlace::TooLong { bytes },
                });
            }
            if is_within {
                self.partial.extend_from_slice(part);
            }
            self.reader.consume(used);
            if feed.is_some() || at_end {
                return Ok(match (is_blank, is_within) {
                    (true, _) => LinePlace::Blank,
                    (false, true) => LinePlace::Partial,
                    (false, false) => LinePlace::TooLong { bytes },
                });
            }
            before = bytes;
        }
    }
}

/// Where a line is.
enum LinePlace {
    /// There is none.
    End,
    Blank,
    TooLong {
        bytes: u64,
    },
    /// In the reader's buffer, of this many bytes.
    Buffered {
        length: usize,
    },
    /// In the partial line.
    Partial,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    fn read(text: &[u8], limit: usize, buffer: usize) -> Vec<(u64, Result<Vec<u8>, u64>)> {
        let mut lines = Lines::new(BufReader::with_capacity(buffer, text), limit);
        let mut found = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            found.push(match line {
                Line::Whole { number, text } => (number, Ok(text.to_vec())),
                Line::TooLong { number, bytes } => (number, Err(bytes)),
            });
        }
        assert!(lines.partial.capacity() <= 2 * limit.max(buffer) + 8, "{lines:?}");
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
        fn lines_are_the_same_whatever_the_buffer(
            text in "[a \r\n]{0,60}",
            limit in 1usize..20,
            buffer in 1usize..30,
        ) {
            let found = read(text.as_bytes(), limit, buffer);
            prop_assert_eq!(found, expected(text.as_bytes(), limit));
        }
    }

    #[test]
    fn a_reader_that_is_drained_says_so() {
        let mut lines = Lines::new(BufReader::with_capacity(4, &b"a\nb\nc\n"[..]), 10);
        assert!(lines.is_drained());
        let mut seen = Vec::new();
        while lines.next_line().unwrap().is_some() {
            seen.push(lines.is_drained());
        }
        assert_eq!(seen, [false, true, true]);
    }
}
