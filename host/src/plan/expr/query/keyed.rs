//! Elements of lists, found by what is under one of their keys: `attributes[?key=='http.route']`, as telemetry writes what other
//! formats have objects for. A list is gone over once for all that is looked up in it while one event is served.

use crate::json::string;
use crate::json::tape::{Doc, TapeIndex};

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

/// The lists of an event that were gone over, each with what is under one key of its elements, by their numbers on the event's tape;
/// [`begin`](Self::begin) forgets all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyTables {
    tables: Vec<KeyTable>,
    /// How many of them hold a list of this event.
    used: usize,
    /// Which one is taken next where all do.
    oldest: usize,
}

#[derive(Clone, Debug, Default)]
struct KeyTable {
    list: TapeIndex,
    key: String,
    entries: Vec<KeyEntry>,
}

/// An element with a string under the key.
#[derive(Clone, Copy, Debug)]
struct KeyEntry {
    /// The string.
    value: TapeIndex,
    element: TapeIndex,
}

/// The table of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyTablePlace(usize);

impl KeyTables {
    /// Forgets all lists: what is looked up from now on is in another event.
    pub(super) fn begin(&mut self) {
        (self.used, self.oldest) = (0, 0);
        if self.tables.iter().map(|table| table.entries.capacity()).sum::<usize>() > KEPT_ELEMENTS {
            self.tables = Vec::new();
        }
    }

    /// Bytes that are held on to.
    pub(super) fn capacity(&self) -> usize {
        let entries = self.tables.iter().map(|table| table.entries.capacity()).sum::<usize>();
        entries * size_of::<KeyEntry>()
    }

    /// The table of a list, where it was gone over for that key.
    pub(super) fn known(&self, list: TapeIndex, key: &str) -> Option<KeyTablePlace> {
        let mut tables = self.tables.iter().take(self.used);
        tables.position(|table| table.list == list && table.key == key).map(KeyTablePlace)
    }

    /// Goes over a list of the event; gives its table, and how many members of elements were looked at.
    pub(super) fn read(
        &mut self,
        doc: Doc<'_>,
        list: TapeIndex,
        key: &str,
    ) -> (KeyTablePlace, usize) {
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
        let seen = self.tables.get_mut(place).map_or(0, |table| table.read(doc, list, key));
        (KeyTablePlace(place), seen)
    }

    /// How many elements a table has.
    pub(super) fn len(&self, place: KeyTablePlace) -> usize {
        self.tables.get(place.0).map_or(0, |table| table.entries.len())
    }

    /// Hands out the elements whose string under the key is this one, in their order.
    pub(super) fn find(
        &self,
        place: KeyTablePlace,
        doc: Doc<'_>,
        equals: &str,
        mut each: impl FnMut(TapeIndex),
    ) {
        let entries = self.tables.get(place.0).map(|table| table.entries.as_slice());
        for entry in entries.unwrap_or_default() {
            if is(doc, entry.value, equals) {
                each(entry.element);
            }
        }
    }
}

impl KeyTable {
    fn read(&mut self, doc: Doc<'_>, list: TapeIndex, key: &str) -> usize {
        self.list = list;
        self.key.clear();
        self.key.push_str(key);
        self.entries.clear();
        let text = doc.text.as_bytes();
        let (mut inside, mut all) = (doc.tape.inside(list), 0);
        while let Some(element) = inside.next(doc.tape) {
            all += 1;
            if first(doc, element) != Some(&b'{') {
                continue;
            }
            let (value, seen) = doc.tape.member(text, element, key);
            all += seen;
            let value = value.filter(|value| first(doc, *value) == Some(&b'"'));
            self.entries.extend(value.map(|value| KeyEntry { value, element }));
        }
        all
    }
}

fn first<'t>(doc: Doc<'t>, index: TapeIndex) -> Option<&'t u8> {
    doc.text.as_bytes().get(doc.tape.range(index).0 as usize)
}

/// Whether a string has these characters.
fn is(doc: Doc<'_>, index: TapeIndex, text: &str) -> bool {
    let (start, end) = doc.tape.range(index);
    let written = doc.part(start + 1, end - 1);
    if !doc.tape.is_escaped(index) {
        return written == text;
    }
    string::unescape(written).is_some_and(|written| written == text)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use crate::json::tape::Tape;

    fn found(
        tables: &mut KeyTables,
        doc: Doc<'_>,
        list: TapeIndex,
        key: &str,
        equals: &str,
    ) -> Vec<String> {
        let known = tables.known(list, key);
        let place = known.unwrap_or_else(|| tables.read(doc, list, key).0);
        let mut found = Vec::new();
        tables.find(place, doc, equals, |element| {
            let (start, end) = doc.tape.range(element);
            found.push(doc.part(start, end).to_owned());
        });
        found
    }

    #[test]
    fn elements_are_found_by_the_characters_under_their_key() {
        let text = r#"[ {"key":"a","n":1}, {"k\u0065y" : "\u0061" , "n":2},{"key":"b"}, 3, "a", ["a"], null,
            {"key":["a"]}, {"key":"b","key":"a"}, {"key":"a","key":7}, {"other":"a"}, {"key":"a\u0000"} ]"#;
        let mut tape = Tape::default();
        tape.read(text.as_bytes(), 0, 0).unwrap();
        let doc = Doc { text, tape: &tape };
        let tables = &mut KeyTables::default();
        for _ in 0..2 {
            let expected = [
                r#"{"key":"a","n":1}"#,
                r#"{"k\u0065y" : "\u0061" , "n":2}"#,
                r#"{"key":"b","key":"a"}"#,
            ];
            assert_eq!(found(tables, doc, 0, "key", "a"), expected);
            assert_eq!(found(tables, doc, 0, "key", "a\0"), [r#"{"key":"a\u0000"}"#]);
            assert_eq!(found(tables, doc, 0, "other", "a"), [r#"{"other":"a"}"#]);
            assert!(found(tables, doc, 0, "key", "").is_empty());
        }
        let place = tables.known(0, "key").unwrap();
        assert_eq!(tables.len(place), 5);
        assert!(tables.known(0, "no key").is_none());
    }

    #[test]
    fn more_lists_than_are_remembered_are_gone_over_again() {
        let lists = 3 * LISTS;
        let all: Vec<String> = (0..lists).map(|n| format!(r#"[{{"key":"{n}"}}]"#)).collect();
        let text = &format!("[{}]", all.join(","));
        let mut tape = Tape::default();
        tape.read(text.as_bytes(), 0, 0).unwrap();
        let doc = Doc { text, tape: &tape };
        let tables = &mut KeyTables::default();
        for _ in 0..2 {
            let mut inside = tape.inside(0);
            for n in 0..lists {
                let list = inside.next(&tape).unwrap();
                let expected = [format!(r#"{{"key":"{n}"}}"#)];
                assert_eq!(found(tables, doc, list, "key", &n.to_string()), expected);
            }
        }
        assert!(tables.tables.len() <= LISTS);
        tables.begin();
        let first = tape.inside(0).next(&tape).unwrap();
        assert!(tables.known(first, "key").is_none());
    }
}
