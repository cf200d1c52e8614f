//! Keys that are looked for in objects, compared as words.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// A key that is looked for.
#[derive(Clone, Debug, Eq)]
pub(crate) struct WantedKey {
    text: Arc<str>,
    ends: KeyEnds,
    /// Its first eight bytes; of a shorter key all of them, the quote behind it, and zeros.
    front: u64,
    /// The bits of `front` that are of those.
    mask: u64,
    /// Whether no part of it is escaped wherever it is written: what has an escape may be written without one as well.
    is_plain: bool,
}

/// The first eight bytes of a key and the last eight, which are all of it where it has no more than 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KeyEnds(u64, u64);

impl KeyEnds {
    /// Of a key that lies in `text`.
    #[inline(always)]
    pub(crate) fn of(text: &[u8], key: &Range<usize>) -> Self {
        let first = first_word(text, key);
        let last = match key.len() {
            0..8 => first,
            _ => first_word(text, &(key.end - 8..key.end)),
        };
        Self(first, last)
    }
}

/// The first eight bytes of a key that lies in `text`, zero after its end.
#[inline(always)]
fn first_word(text: &[u8], key: &Range<usize>) -> u64 {
    let word = match text.get(key.start..).and_then(|rest| rest.first_chunk()) {
        Some(word) => u64::from_le_bytes(*word),
        None => {
            let mut word = [0; 8];
            let rest = text.get(key.start..).unwrap_or_default();
            word.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            u64::from_le_bytes(word)
        }
    };
    match key.len() {
        0 => 0,
        length @ 1..8 => word & (u64::MAX >> (64 - 8 * length)),
        _ => word,
    }
}

impl WantedKey {
    pub(crate) fn new(text: &str) -> Self {
        let ends = KeyEnds::of(text.as_bytes(), &(0..text.len()));
        let (front, mask) = match text.len() {
            // The quote is the last byte that counts.
            length @ ..8 => {
                (ends.0 | u64::from(b'"') << (8 * length), u64::MAX >> (8 * (7 - length)))
            }
            _ => (ends.0, u64::MAX),
        };
        Self {
            text: text.into(),
            ends,
            front,
            mask,
            is_plain: !text.bytes().any(|byte| matches!(byte, b'"' | b'\\' | ..b' ')),
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Which of it and a key whose ends are known comes first: by the ends, so that texts are only compared where those are the same.
    #[inline(always)]
    pub(crate) fn order(&self, key: &[u8], ends: KeyEnds) -> Ordering {
        self.ends.cmp(&ends).then_with(|| self.text.as_bytes().cmp(key))
    }

    /// Whether it is this key, whose ends are known.
    #[inline(always)]
    pub(crate) fn is(&self, key: &[u8], ends: KeyEnds) -> bool {
        self.ends == ends
            && self.text.len() == key.len()
            && (key.len() <= 16 || *self.text.as_bytes() == *key)
    }

    /// Whether it is the key without escapes whose content begins at `at`.
    #[inline(always)]
    pub(crate) fn is_at(&self, text: &[u8], at: usize) -> bool {
        let front = text.get(at..at + 8).and_then(|front| front.first_chunk());
        match front.map(|front| (u64::from_le_bytes(*front) ^ self.front) & self.mask == 0) {
            Some(false) => false,
            // The quote was compared as well, and ends a key that holds none itself.
            Some(true) if self.text.len() < 8 => self.is_plain,
            Some(true) | None => self.is_all_at(text, at),
        }
    }

    #[inline(never)]
    fn is_all_at(&self, text: &[u8], at: usize) -> bool {
        let end = at + self.text.len();
        // A key without escapes holds no quote and no backslash, and so ends at the first quote.
        self.is_plain
            && text.get(end) == Some(&b'"')
            && text.get(at..end).is_some_and(|key| *key == *self.text.as_bytes())
    }
}

impl PartialEq for WantedKey {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.is(other.text.as_bytes(), other.ends)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_has_to_be_escaped_is_in_no_key_without_escapes() {
        for (wanted, text) in [("a\":\"b", r#"a":"b""#), ("a\\", r#"a\""#), ("\n", "\n\"")] {
            // At the end of a text, and with enough behind it that eight bytes are compared.
            for text in [text.to_owned(), format!("{text}:\"12345678\"")] {
                assert!(!WantedKey::new(wanted).is_at(text.as_bytes(), 0), "{wanted}");
            }
        }
    }

    proptest! {
        #[test]
        fn keys_are_the_same_where_their_texts_are(
            wanted in "[a-c]{0,9}([ab]{14,17})?", found in "[a-c]{0,9}([ab]{14,17})?", same: bool, behind in "\"[a-c]{0,9}"
        ) {
            let found = if same { &wanted } else { &found };
            let text = format!("{{\"{found}{behind}");
            let key = WantedKey::new(&wanted);
            prop_assert_eq!(key.is_at(text.as_bytes(), 2), *found == wanted);
            let range = 2..2 + found.len();
            let ends = KeyEnds::of(text.as_bytes(), &range);
            prop_assert_eq!(key.is(found.as_bytes(), ends), *found == wanted);
        }
    }
}
