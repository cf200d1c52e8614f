//! The values in an array or object as a flat list, noted in the pass that finds them valid: what is inside, and what comes next, is
//! then found without reading the text again.

use foldhash::{HashSet, HashSetExt};
use std::borrow::Cow;
use std::ops::Range;

use super::scan::{self, Scan};
use super::{Fault, WantedKey, string};

/// The values of some arrays and objects of one text, each with all that is in it, in the order of the text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tape {
    nodes: Vec<TapeNode>,
}

/// A value of a tape.
#[derive(Clone, Copy, Debug)]
struct TapeNode {
    /// Offset of its first byte.
    start: u32,
    /// Offset after its last byte.
    end: u32,
    /// The number of the node behind all that is in it, below the flag that it is a string with escapes. While it is open: that of
    /// the array or object that it is in.
    next: u32,
    /// Where the content of its key begins, below the flag that that holds escapes; 0 for what isn't a member of an object.
    key: u32,
}

/// The number of a value of a tape.
pub(crate) type TapeIndex = u32;

/// The most bytes of a text that a tape is made of: offsets and numbers leave a bit to spare.
pub(crate) const MAX_TEXT_BYTES: usize = i32::MAX as usize;

/// How many keys of an object are compared one by one.
const FEW_KEYS: usize = 16;

/// That a string or a key holds escapes.
const ESCAPED: u32 = 1 << 31;
/// What is open around the outermost value: nothing.
const NOTHING: u32 = ESCAPED - 1;

fn flag(escaped: bool) -> u32 {
    if escaped { ESCAPED } else { 0 }
}

/// Where the content of a key begins, with the flag; and where its value does.
#[inline(always)]
fn key(text: &[u8], at: usize) -> Scan<(u32, usize)> {
    let (from, _, escaped, value) = scan::key(text, at)?;
    Ok((from as u32 | flag(escaped), value))
}

impl Tape {
    /// Forgets all values.
    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
    }

    /// Bytes that are held on to.
    pub(crate) fn capacity(&self) -> usize {
        self.nodes.capacity() * size_of::<TapeNode>()
    }

    /// The number of the value that is read next.
    pub(crate) fn next_index(&self) -> TapeIndex {
        self.nodes.len() as TapeIndex
    }

    /// Forgets all values from this one on.
    pub(crate) fn truncate(&mut self, index: TapeIndex) {
        self.nodes.truncate(index as usize);
    }

    /// Appends the value of any kind whose first byte is at `at`, `outside` containers deep, with all that is in it, and gives the
    /// offset after it. The text has at most [`MAX_TEXT_BYTES`] and is known to be UTF-8, everything else is checked as [`scan::value`] does; after a fault the tape is of
    /// no use.
    pub(crate) fn read(&mut self, text: &[u8], mut at: usize, outside: usize) -> Scan<usize> {
        let mut objects: u128 = 0;
        let mut depth = outside;
        let mut open = NOTHING;
        let mut name = 0;
        loop {
            at = scan::token(text, at);
            let start = at as u32;
            let bracket = scan::byte(text, at);
            let own = self.nodes.len() as u32;
            if bracket == b'{' || bracket == b'[' {
                depth += 1;
                if depth > scan::MAX_DEPTH {
                    return scan::fault(Fault::Depth, at);
                }
                self.nodes.push(TapeNode { start, end: 0, next: open, key: name });
                open = own;
                let is_object = bracket == b'{';
                objects = objects << 1 | u128::from(is_object);
                at = scan::token(text, at + 1);
                // The closing bracket is two code points above the opening one in ASCII.
                if scan::byte(text, at) != bracket + 2 {
                    name = 0;
                    if is_object {
                        (name, at) = key(text, at)?;
                    }
                    continue;
                }
                at += 1;
                open = self.close(open, at);
                objects >>= 1;
                depth -= 1;
            } else {
                let (end, escaped) = if bracket == b'"' {
                    scan::string(text, at + 1)?
                } else {
                    scan::value(text, at, depth)?
                };
                at = end;
                let (end, next) = (end as u32, (own + 1) | flag(escaped));
                self.nodes.push(TapeNode { start, end, next, key: name });
            }
            // `at` is after a value: close what ends here, up to the next member or element.
            loop {
                if depth == outside {
                    return Ok(at);
                }
                let is_object = objects & 1 == 1;
                let (more, behind) = scan::next(text, at, if is_object { b'}' } else { b']' })?;
                at = behind;
                if more {
                    if is_object {
                        (name, at) = key(text, at)?;
                    }
                    break;
                }
                open = self.close(open, at);
                objects >>= 1;
                depth -= 1;
                name = 0;
            }
        }
    }

    /// Ends an array or object; gives the one that it is in.
    #[inline(always)]
    fn close(&mut self, open: u32, at: usize) -> u32 {
        let next = self.nodes.len() as u32;
        let Some(node) = self.nodes.get_mut(open as usize) else { return NOTHING };
        node.end = at as u32;
        std::mem::replace(&mut node.next, next)
    }

    /// Where a value is in the text; nowhere if there is no such value.
    #[inline]
    pub(crate) fn range(&self, index: TapeIndex) -> (u32, u32) {
        self.nodes.get(index as usize).map_or((0, 0), |node| (node.start, node.end))
    }

    /// Where a value is in the text, and whether it is a string with escapes.
    #[inline]
    pub(crate) fn placed(&self, index: TapeIndex) -> (u32, u32, bool) {
        let node = self.nodes.get(index as usize);
        node.map_or((0, 0, false), |node| (node.start, node.end, node.next & ESCAPED != 0))
    }

    /// The number behind all that is in a value.
    #[inline]
    fn behind(&self, index: TapeIndex) -> TapeIndex {
        self.nodes.get(index as usize).map_or(index, |node| node.next & NOTHING)
    }

    /// The values that an array or object holds.
    #[inline]
    pub(crate) fn inside(&self, index: TapeIndex) -> Inside {
        Inside { next: index + 1, end: self.behind(index) }
    }

    /// Where the content of the key of a member is in the text, and whether it holds escapes.
    #[inline]
    pub(crate) fn key(&self, text: &[u8], index: TapeIndex) -> Option<(Range<usize>, bool)> {
        let node = self.nodes.get(index as usize)?;
        let (from, value) = ((node.key & !ESCAPED) as usize, node.start as usize);
        // Between a key and its value there is a colon, and mostly nothing else.
        let end = match text.get(..value)? {
            [.., b'"', b':'] => value - 2,
            _ => scan::string(text, from).ok()?.0 - 1,
        };
        Some((from..end, node.key & ESCAPED != 0))
    }

    /// The characters of the key of a member.
    pub(crate) fn key_text<'t>(&self, text: &'t str, index: TapeIndex) -> Option<Cow<'t, str>> {
        let (range, escaped) = self.key(text.as_bytes(), index)?;
        let content = text.get(range)?;
        if escaped { string::unescape(content).map(Cow::Owned) } else { Some(content.into()) }
    }

    /// Whether some object in a value has a key twice.
    pub(crate) fn repeats_keys(&self, text: &str, index: TapeIndex) -> bool {
        (index..self.behind(index).max(index + 1)).any(|at| {
            let start = self.range(at).0 as usize;
            scan::byte(text.as_bytes(), start) == b'{' && self.repeats_own_keys(text, at)
        })
    }

    /// Whether an object has a key twice.
    fn repeats_own_keys(&self, text: &str, object: TapeIndex) -> bool {
        let mut keys: Vec<Cow<'_, str>> = Vec::new();
        let mut many: HashSet<Cow<'_, str>> = HashSet::new();
        let mut inside = self.inside(object);
        while let Some(member) = inside.next(self) {
            let Some(key) = self.key_text(text, member) else { return false };
            if keys.contains(&key) {
                return true;
            }
            if keys.len() < FEW_KEYS {
                keys.push(key);
            } else if !many.insert(key) {
                return true;
            }
        }
        false
    }

    /// The value of the last member of an object with that key, and how many members were looked at.
    #[inline(always)]
    pub(crate) fn member(
        &self,
        text: &[u8],
        object: TapeIndex,
        name: &WantedKey,
    ) -> (Option<TapeIndex>, usize) {
        let (mut found, mut seen) = (None, 0);
        let end = self.behind(object);
        let mut at = object + 1;
        while at < end {
            let Some(node) = self.nodes.get(at as usize) else { break };
            seen += 1;
            if is_key(text, *node, name) {
                found = Some(at);
            }
            at = node.next & NOTHING;
        }
        (found, seen)
    }
}

/// Whether this is the key of a member, however it is escaped.
#[inline(always)]
fn is_key(text: &[u8], node: TapeNode, name: &WantedKey) -> bool {
    let at = (node.key & !ESCAPED) as usize;
    if node.key & ESCAPED != 0 {
        is_escaped_key(text, at, name.text())
    } else {
        name.is_at(text, at)
    }
}

#[cold]
fn is_escaped_key(text: &[u8], at: usize, name: &str) -> bool {
    let content = scan::string(text, at).ok().and_then(|(behind, _)| text.get(at..behind - 1));
    content.is_some_and(|content| string::is(content, name))
}

/// A text with the tape of what is gone over in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Doc<'a> {
    pub(crate) text: &'a str,
    pub(crate) tape: &'a Tape,
}

static NO_VALUES: Tape = Tape { nodes: Vec::new() };

impl Default for Doc<'_> {
    fn default() -> Self {
        Self { text: "", tape: &NO_VALUES }
    }
}

impl<'a> Doc<'a> {
    /// What is between two offsets.
    #[inline]
    pub(crate) fn part(&self, start: u32, end: u32) -> &'a str {
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    /// Its bytes.
    #[inline]
    pub(crate) fn bytes(&self, start: u32, end: u32) -> &'a [u8] {
        self.text.as_bytes().get(start as usize..end as usize).unwrap_or_default()
    }
}

/// The values that an array or object of a tape holds, one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inside {
    pub(crate) next: TapeIndex,
    pub(crate) end: TapeIndex,
}

impl Inside {
    /// The next one.
    #[inline]
    pub(crate) fn next(&mut self, tape: &Tape) -> Option<TapeIndex> {
        let index = self.next;
        if index >= self.end {
            return None;
        }
        // What is behind a value is never before it: a tape without it ends here.
        self.next = tape.behind(index).max(index + 1);
        Some(index)
    }

    /// How many there are.
    pub(crate) fn count(mut self, tape: &Tape) -> usize {
        let mut count = 0;
        while self.next(tape).is_some() {
            count += 1;
        }
        count
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json::walk;

    /// A value of a tape as nested parts of the text: its JSON, and for each value in it the key and the same again.
    fn described(tape: &Tape, text: &str, index: TapeIndex, out: &mut Vec<String>) {
        let (start, end) = tape.range(index);
        out.push(text[start as usize..end as usize].to_owned());
        let is_object = text[start as usize..].starts_with('{');
        let mut inside = tape.inside(index);
        while let Some(inner) = inside.next(tape) {
            if is_object {
                out.push(tape.key_text(text, inner).unwrap().into_owned());
            }
            described(tape, text, inner, out);
        }
    }

    /// The same by going over the text.
    fn walked(text: &str, at: usize, out: &mut Vec<String>) -> Option<usize> {
        let bytes = text.as_bytes();
        let end = walk::end(bytes, at)?;
        out.push(text[at..end].to_owned());
        match bytes[at] {
            b'{' => walk::members(bytes, at, |key, value| {
                out.push(String::from_utf8(key.text().into_owned()).unwrap());
                walked(text, value, out)
            }),
            b'[' => walk::elements(bytes, at, |element| walked(text, element, out)),
            _ => Some(end),
        }
    }

    fn assert_taped(text: &str) {
        let start = scan::space(text.as_bytes(), 0);
        let mut tape = Tape::default();
        let read = tape.read(text.as_bytes(), start, 0);
        let valid = scan::value(text.as_bytes(), start, 0).map(|(end, _)| end);
        assert_eq!(read, valid, "{text}");
        if valid.is_ok() {
            let (mut found, mut expected) = (Vec::new(), Vec::new());
            described(&tape, text, 0, &mut found);
            walked(text, start, &mut expected).unwrap();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn a_tape_has_every_value_in_its_place() {
        for text in [
            "[]",
            "{}",
            " [ ] ",
            "7",
            r#""a\"b""#,
            "[1,[2,{}],[[]],3]",
            r#"{"a":{"b":[{"c":1}],"d":2},"e":[]}"#,
            r#"{ "a" : 1 , "\u0061" : { "b" : [ true , null ] } }"#,
            "[1",
            "[1,]",
            r#"{"a":[1}"#,
            r#"{"a"}"#,
            "{1:2}",
            r#"[{"a":"b"},{"a":{"a":["]","}"]}}]"#,
        ] {
            assert_taped(text);
        }
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert_taped(&nested(scan::MAX_DEPTH));
        assert_taped(&nested(scan::MAX_DEPTH + 1));
    }

    #[test]
    fn members_are_found_by_the_characters_of_their_key() {
        let text = r#"{"a":1,"b\"":2,"\u0061b":3,"a":{"a":5},"":4,"k" :"\"x"}"#;
        let mut tape = Tape::default();
        tape.read(text.as_bytes(), 0, 0).unwrap();
        let find = |name: &str| {
            let (found, seen) = tape.member(text.as_bytes(), 0, &WantedKey::new(name));
            assert_eq!(seen, 6);
            found.map(|index| {
                let (start, end) = tape.range(index);
                &text[start as usize..end as usize]
            })
        };
        let object = r#"{"a":5}"#;
        for (name, expected) in [
            ("a", Some(object)),
            ("b\"", Some("2")),
            ("ab", Some("3")),
            ("", Some("4")),
            ("b", None),
            ("b\\", None),
            ("b\\\"", None),
            ("k\" :", None),
            ("a\":1,", None),
            ("aa", None),
        ] {
            assert_eq!(find(name), expected, "{name}");
        }
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_is_there(text in r#"([\[\]{}:, "a1\\]|"[ab]*"|"\\u0061":|true|null|-1.5e3|\{"a":|\[1,){0,24}"#) {
            assert_taped(&text);
        }
    }
}
