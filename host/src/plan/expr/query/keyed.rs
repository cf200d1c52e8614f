//! Elements of lists, found by what is under one of their keys: `attributes[?key=='http.route']`, as telemetry writes what other
//! formats have objects for. A list is gone over once for all that is looked up in it while one event is served.

use crate::json::{string, walk};

/// How many lists are remembered at one time. The oldest one goes first.
const LISTS: usize = 8;
/// Elements that are remembered of all lists together, from event to event: more take their memory with them.
const KEPT_ELEMENTS: usize = 4_096;

/// What a filter compares: the string under a key of each element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyTest {
    /// The key.
    pub(crate) key: String,
    /// The characters of the string.
    pub(crate) equals: String,
}

/// The lists of an event that were gone over, each with what is under one key of its elements. Lists are told apart by where they
/// are, which holds as long as the event is there; [`begin`](Self::begin) forgets all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyTables {
    /// Where the event is, from its first byte to behind its last.
    event: (usize, usize),
    tables: Vec<KeyTable>,
    /// How many of them hold a list of this event.
    used: usize,
    /// Which one is taken next where all do.
    oldest: usize,
}

#[derive(Clone, Debug, Default)]
struct KeyTable {
    /// Where the list begins, and its bytes.
    list: (usize, usize),
    key: String,
    entries: Vec<KeyEntry>,
}

/// An element with a string under the key; places count from the first byte of the list.
#[derive(Clone, Copy, Debug)]
struct KeyEntry {
    /// Where the characters of the string are, as they are written.
    text: (u32, u32),
    /// Whether some of them are escaped.
    escaped: bool,
    element: (u32, u32),
}

impl KeyTables {
    /// Forgets all lists: what is looked up from now on is in this event.
    pub(crate) fn begin(&mut self, event: &[u8]) {
        let start = event.as_ptr() as usize;
        self.event = (start, start + event.len());
        (self.used, self.oldest) = (0, 0);
        if self.tables.iter().map(|table| table.entries.capacity()).sum::<usize>() > KEPT_ELEMENTS {
            self.tables = Vec::new();
        }
    }

    /// Bytes that are held on to.
    pub(crate) fn capacity(&self) -> usize {
        let entries = self.tables.iter().map(|table| table.entries.capacity()).sum::<usize>();
        entries * size_of::<KeyEntry>()
    }

    /// Whether a list is a part of the event, and so stays what it is where it is.
    pub(super) fn covers(&self, list: &[u8]) -> bool {
        let start = list.as_ptr() as usize;
        start >= self.event.0 && start + list.len() <= self.event.1
    }

    /// How many elements of a list have a string under the key; `None` where it wasn't gone over for that key yet.
    pub(super) fn known(&self, list: &[u8], key: &str) -> Option<usize> {
        let table = self.place(list, key).and_then(|place| self.tables.get(place));
        table.map(|table| table.entries.len())
    }

    /// The elements of a list whose string under the key is this one, in their order. The list is an array that was found valid
    /// and that the event [covers](Self::covers).
    pub(super) fn find<'l>(&mut self, list: &'l [u8], test: &KeyTest) -> Vec<&'l [u8]> {
        let place = self.place(list, &test.key).unwrap_or_else(|| self.read(list, &test.key));
        let entries = self.tables.get(place).map(|table| table.entries.as_slice());
        let part = |(start, end): (u32, u32)| list.get(start as usize..end as usize);
        let found = entries.unwrap_or_default().iter().filter_map(|entry| {
            is(part(entry.text)?, entry.escaped, &test.equals).then_some(part(entry.element)?)
        });
        found.collect()
    }

    fn place(&self, list: &[u8], key: &str) -> Option<usize> {
        let mut tables = self.tables.iter().take(self.used);
        tables.position(|table| table.list == identity(list) && table.key == key)
    }

    /// Goes over a list; gives the place of its table.
    fn read(&mut self, list: &[u8], key: &str) -> usize {
        let place = if self.used < LISTS {
            self.used += 1;
            self.used - 1
        } else {
            self.oldest = (self.oldest + 1) % LISTS;
            self.oldest
        };
        if self.tables.len() <= place {
            self.tables.resize_with(place + 1, KeyTable::default);
        }
        if let Some(table) = self.tables.get_mut(place) {
            table.read(list, key);
        }
        place
    }
}

impl KeyTable {
    fn read(&mut self, list: &[u8], key: &str) {
        self.list = identity(list);
        self.key.clear();
        self.key.push_str(key);
        self.entries.clear();
        walk::elements(list, 0, |start| {
            let mut text = None;
            let end = match list.get(start) {
                Some(b'{') => walk::members(list, start, |name, value| {
                    let end = walk::end(list, value)?;
                    // Of equal keys the last one counts.
                    if name.is(key) {
                        text = Some((value, end));
                    }
                    Some(end)
                }),
                _ => walk::end(list, start),
            }?;
            self.entries.extend(text.and_then(|text| KeyEntry::new(list, (start, end), text)));
            Some(end)
        });
    }
}

impl KeyEntry {
    /// Of an element, and of where the value under its key is; none where that is no string.
    fn new(list: &[u8], element: (usize, usize), value: (usize, usize)) -> Option<Self> {
        let written = list.get(value.0..value.1)?;
        let content = written.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        // Events have fewer than four gigabytes.
        let place = |(start, end): (usize, usize)| {
            Some((u32::try_from(start).ok()?, u32::try_from(end).ok()?))
        };
        Some(Self {
            text: place((value.0 + 1, value.1 - 1))?,
            escaped: memchr::memchr(b'\\', content).is_some(),
            element: place(element)?,
        })
    }
}

/// Whether a string as it is written has these characters.
fn is(written: &[u8], escaped: bool, text: &str) -> bool {
    if !escaped {
        return written == text.as_bytes();
    }
    let written = std::str::from_utf8(written).ok();
    written.and_then(string::unescape).is_some_and(|written| written == text)
}

fn identity(list: &[u8]) -> (usize, usize) {
    (list.as_ptr() as usize, list.len())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use std::ops::Range;

    use super::*;

    fn test(key: &str, equals: &str) -> KeyTest {
        KeyTest { key: key.to_owned(), equals: equals.to_owned() }
    }

    fn found(tables: &mut KeyTables, list: &str, key: &str, equals: &str) -> Vec<String> {
        let found = tables.find(list.as_bytes(), &test(key, equals));
        found.into_iter().map(|json| String::from_utf8(json.to_vec()).unwrap()).collect()
    }

    #[test]
    fn elements_are_found_by_the_characters_under_their_key() {
        let list = r#"[ {"key":"a","n":1}, {"k\u0065y" : "\u0061" , "n":2},{"key":"b"}, 3, "a", ["a"], null,
            {"key":["a"]}, {"key":"b","key":"a"}, {"key":"a","key":7}, {"other":"a"}, {"key":"a\u0000"} ]"#;
        let tables = &mut KeyTables::default();
        for _ in 0..2 {
            let expected = [
                r#"{"key":"a","n":1}"#,
                r#"{"k\u0065y" : "\u0061" , "n":2}"#,
                r#"{"key":"b","key":"a"}"#,
            ];
            assert_eq!(found(tables, list, "key", "a"), expected);
            assert_eq!(found(tables, list, "key", "a\0"), [r#"{"key":"a\u0000"}"#]);
            assert_eq!(found(tables, list, "other", "a"), [r#"{"other":"a"}"#]);
            assert!(found(tables, list, "key", "").is_empty());
        }
        assert_eq!(tables.known(list.as_bytes(), "key"), Some(5));
        assert_eq!(tables.known(list.as_bytes(), "no key"), None);
        assert!(found(tables, "[]", "key", "a").is_empty());
    }

    #[test]
    fn more_lists_than_are_remembered_are_gone_over_again() {
        let event: String = (0..3 * LISTS).map(|n| format!(r#"[{{"key":"{n}"}}]"#)).collect();
        let ends = event.match_indices(']').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(ends.clone());
        let lists: Vec<Range<usize>> = starts.zip(ends).map(|(start, end)| start..end).collect();
        let tables = &mut KeyTables::default();
        tables.begin(event.as_bytes());
        for _ in 0..2 {
            for (n, list) in lists.iter().enumerate() {
                let list = event.get(list.clone()).unwrap();
                assert!(tables.covers(list.as_bytes()));
                assert_eq!(
                    found(tables, list, "key", &n.to_string()),
                    [format!(r#"{{"key":"{n}"}}"#)]
                );
            }
        }
        assert!(tables.tables.len() <= LISTS);
        assert!(!tables.covers("[]".as_bytes()));
        tables.begin(b"[]");
        assert!(!tables.covers(event.as_bytes()));
        assert_eq!(tables.known(event.get(lists[0].clone()).unwrap().as_bytes(), "key"), None);
    }
}
