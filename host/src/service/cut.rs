//! Lines of a body that comes in pieces.

use std::collections::VecDeque;

use memchr::{memchr, memchr_iter, memrchr};

/// A line that isn't blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CutLine {
    Whole {
        /// Its number, from 1; blank lines count.
        number: u64,
        text: Vec<u8>,
    },
    /// One beyond the limit, of which nothing but its length was kept.
    TooLong { number: u64, bytes: u64 },
}

/// Cuts pieces into lines, with no more of a line in memory than it may have. The lines are those that
/// [`Lines`](crate::runtime::Lines) gives, which pulls where this is pushed: an asynchronous body has no thread that could wait.
#[derive(Debug)]
pub(super) struct Cutter {
    limit: usize,
    /// The line that was begun.
    begun: Vec<u8>,
    /// Bytes of it, where they are beyond the limit and weren't kept.
    skipped: Option<Skipped>,
    /// Lines that have come to their ends.
    ended: u64,
    /// Bytes of whole lines that were given.
    given: u64,
}

#[derive(Clone, Copy, Debug)]
struct Skipped {
    bytes: u64,
    is_blank: bool,
}

impl Cutter {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, begun: Vec::new(), skipped: None, ended: 0, given: 0 }
    }

    /// How many lines have come to their ends, blank ones too.
    pub(super) fn ended(&self) -> u64 {
        self.ended
    }

    /// Bytes that are an event's, or may become one's. Those of lines that are too long aren't, nor are blank lines and the ends of lines.
    pub(super) fn kept(&self) -> u64 {
        self.given + self.begun.len() as u64
    }

    pub(super) fn push(&mut self, mut piece: &[u8], lines: &mut VecDeque<CutLine>) {
        loop {
            piece = self.skip_blank(piece);
            let Some(feed) = memchr(b'\n', piece) else { break };
            self.grow(piece.get(..feed).unwrap_or_default());
            lines.extend(self.end());
            piece = piece.get(feed + 1..).unwrap_or_default();
        }
        self.grow(piece);
    }

    /// Counts the blank lines that a piece begins with, and gives what follows them. A few packed bytes make millions of them, so that they are
    /// taken all at once.
    fn skip_blank<'a>(&mut self, piece: &'a [u8]) -> &'a [u8] {
        if !self.begun.is_empty() || self.skipped.is_some() {
            return piece;
        }
        let text = piece.iter().position(|byte| !byte.is_ascii_whitespace());
        let (blank, _) = piece.split_at(text.unwrap_or(piece.len()));
        let Some(last) = memrchr(b'\n', blank) else { return piece };
        self.ended += memchr_iter(b'\n', blank).count() as u64;
        piece.get(last + 1..).unwrap_or_default()
    }

    /// The last line, where it has no end.
    pub(super) fn finish(&mut self) -> Option<CutLine> {
        if self.begun.is_empty() && self.skipped.is_none() { None } else { self.end() }
    }

    fn grow(&mut self, part: &[u8]) {
        let is_blank = |text: &[u8]| text.trim_ascii_start().is_empty();
        match &mut self.skipped {
            Some(skipped) => {
                skipped.bytes += part.len() as u64;
                skipped.is_blank = skipped.is_blank && is_blank(part);
            }
            None if self.begun.len().saturating_add(part.len()) <= self.limit => {
                self.begun.extend_from_slice(part);
            }
            None => {
                let begun = std::mem::take(&mut self.begun);
                self.skipped = Some(Skipped {
                    bytes: (begun.len() + part.len()) as u64,
                    is_blank: is_blank(&begun) && is_blank(part),
                });
            }
        }
    }

    fn end(&mut self) -> Option<CutLine> {
        self.ended += 1;
        let number = self.ended;
        if let Some(Skipped { bytes, is_blank }) = self.skipped.take() {
            return (!is_blank).then_some(CutLine::TooLong { number, bytes });
        }
        let text = std::mem::take(&mut self.begun);
        if text.trim_ascii_start().is_empty() {
            return None;
        }
        self.given += text.len() as u64;
        Some(CutLine::Whole { number, text })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use proptest::prelude::*;

    use super::*;
    use crate::runtime::{Line, Lines};

    proptest! {
        #[test]
        fn lines_are_those_of_a_reader_whatever_the_pieces(
            text in "[a \r\n]{0,60}",
            limit in 1usize..20,
            size in 1usize..30,
        ) {
            let (mut cutter, mut found) = (Cutter::new(limit), VecDeque::new());
            for piece in text.as_bytes().chunks(size) {
                cutter.push(piece, &mut found);
                prop_assert!(cutter.begun.len() <= limit);
            }
            found.extend(cutter.finish());
            let whole = found.iter().filter_map(|line| match line {
                CutLine::Whole { text, .. } => Some(text.len() as u64),
                CutLine::TooLong { .. } => None,
            });
            prop_assert_eq!(cutter.kept(), whole.sum::<u64>());
            let mut lines = Lines::new(text.as_bytes(), limit);
            let mut expected = Vec::new();
            while let Some(line) = lines.next_line().unwrap() {
                expected.push(match line {
                    Line::Whole { number, text } => CutLine::Whole { number, text: text.to_vec() },
                    Line::TooLong { number, bytes } => CutLine::TooLong { number, bytes },
                });
            }
            prop_assert_eq!(Vec::from(found), expected);
        }
    }
}
