//! Objects and arrays, gone through: in JSON that was found valid.

use std::borrow::Cow;

use super::{scan, string};

/// A key, as the text writes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key<'t> {
    /// What is between the quotes.
    pub(crate) content: &'t [u8],
    escaped: bool,
}

impl<'t> Key<'t> {
    /// Whether it is this name, however it is escaped.
    pub(crate) fn is(self, name: &str) -> bool {
        if self.escaped { string::is(self.content, name) } else { self.content == name.as_bytes() }
    }

    /// Its characters.
    pub(crate) fn text(self) -> Cow<'t, [u8]> {
        if self.escaped { string::characters(self.content) } else { Cow::Borrowed(self.content) }
    }
}

/// Hands out the members of the object whose brace is at `at`: the key, and where the value begins. `member` gives the offset
/// after the value, or `None` to end here. Gives the offset after the object; `None` where it ended before that, or there is
/// no object.
#[inline]
pub(crate) fn members<'t>(
    text: &'t [u8],
    at: usize,
    mut member: impl FnMut(Key<'t>, usize) -> Option<usize>,
) -> Option<usize> {
    if scan::byte(text, at) != b'{' {
        return None;
    }
    let mut at = scan::token(text, at + 1);
    if scan::byte(text, at) == b'}' {
        return Some(at + 1);
    }
    loop {
        let (from, to, escaped, value) = scan::key(text, at).ok()?;
        let key = Key { content: text.get(from..to)?, escaped };
        let end = member(key, scan::token(text, value))?;
        let (more, behind) = scan::next(text, end, b'}').ok()?;
        at = behind;
        if !more {
            return Some(at);
        }
    }
}

/// Hands out where each element of the array begins whose bracket is at `at`; otherwise as [`members`].
#[inline]
pub(crate) fn elements(
    text: &[u8],
    at: usize,
    mut element: impl FnMut(usize) -> Option<usize>,
) -> Option<usize> {
    if scan::byte(text, at) != b'[' {
        return None;
    }
    let mut at = scan::token(text, at + 1);
    if scan::byte(text, at) == b']' {
        return Some(at + 1);
    }
    loop {
        let end = element(scan::token(text, at))?;
        let (more, behind) = scan::next(text, end, b']').ok()?;
        at = behind;
        if !more {
            return Some(at);
        }
    }
}

/// The JSON of the value of the last member of an object with that key.
pub(crate) fn member<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let mut found = None;
    members(text.as_bytes(), 0, |name, value| {
        let end = end(text.as_bytes(), value)?;
        if name.is(key) {
            found = text.get(value..end);
        }
        Some(end)
    });
    found
}

/// The offset after the value at `at`.
pub(crate) fn end(text: &[u8], at: usize) -> Option<usize> {
    scan::value(text, at, 0).ok().map(|(end, _)| end)
}
