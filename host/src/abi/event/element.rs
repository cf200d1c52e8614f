//! The elements of an iteration, which lie in a text that is known to be valid.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use super::trie::Trie;
use super::walk::{Visit, Walk};
use crate::abi::slot::Slot;
use crate::json::{scan, string, walk};

/// Where the paths of one level lead: into the event, into an element, or into an element of that.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct View<'a> {
    trie: Option<&'a Trie>,
    slots: &'a [Slot],
    /// What the slots are places of: the event, the entry of an object as an object of its own, or what an expression has made.
    text: &'a [u8],
}

impl<'a> View<'a> {
    pub(super) fn new(trie: &'a Trie, slots: &'a [Slot], text: &'a [u8]) -> Self {
        Self { trie: Some(trie), slots, text }
    }

    /// Where the path with this number leads.
    pub(crate) fn slot(&self, path: usize) -> Slot {
        let slot = self.trie.and_then(|trie| self.slots.get(trie.position(path)));
        slot.copied().unwrap_or_default()
    }

    /// What the slots are places of.
    pub(crate) fn text(&self) -> &'a [u8] {
        self.text
    }
}

/// One element, reused for the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct ElementSlots {
    slots: Vec<Slot>,
    visits: Vec<Visit>,
    /// An entry as an object.
    entry: Vec<u8>,
}

/// An entry of an object: where the key is, with its quotes, and where the value is.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    key: Range<usize>,
    value: Range<usize>,
}

impl Entry {
    /// Its key, in the text that it is of.
    pub(crate) fn name<'e>(&self, text: &'e [u8]) -> Option<Cow<'e, str>> {
        let start = self.key.start + 1;
        let (end, escaped) = scan::string(text, start).ok()?;
        let inside = std::str::from_utf8(text.get(start..end - 1)?).ok()?;
        if escaped { string::unescape(inside).map(Cow::Owned) } else { Some(Cow::Borrowed(inside)) }
    }
}

impl ElementSlots {
    /// What the paths of `trie` lead to in the element that begins at `start`, and where it ends.
    pub(crate) fn read<'a>(
        &'a mut self,
        trie: &'a Trie,
        text: &'a [u8],
        start: usize,
    ) -> Option<(View<'a>, usize)> {
        self.clear(trie);
        let end = Walk::new(trie, text, &mut self.slots, &mut self.visits).root(start).ok()?;
        Some((View::new(trie, &self.slots, text), end))
    }

    /// What the paths of `trie` lead to in an entry, which is seen as an object with the keys `key` and `value`.
    pub(crate) fn read_entry<'a>(
        &'a mut self,
        trie: &'a Trie,
        text: &[u8],
        entry: &Entry,
    ) -> Option<View<'a>> {
        self.clear(trie);
        let (key, value) = (text.get(entry.key.clone())?, text.get(entry.value.clone())?);
        self.entry.clear();
        for part in [b"{\"key\":", key, b",\"value\":", value, b"}"] {
            self.entry.extend_from_slice(part);
        }
        Walk::new(trie, &self.entry, &mut self.slots, &mut self.visits).root(0).ok()?;
        Some(View::new(trie, &self.slots, &self.entry))
    }

    /// Bytes that are held on to.
    pub(crate) fn capacity(&self) -> usize {
        self.entry.capacity()
            + self.slots.capacity() * size_of::<Slot>()
            + self.visits.capacity() * size_of::<Visit>()
    }

    fn clear(&mut self, trie: &Trie) {
        self.slots.clear();
        self.slots.resize(trie.len(), Slot::default());
        self.visits.clear();
        self.visits.resize(trie.nodes().len(), Visit::default());
    }
}

/// The offset of the first element of the array whose bracket is at `start`.
pub(crate) fn first_element(text: &[u8], start: usize) -> Option<usize> {
    let at = scan::token(text, start + 1);
    (scan::byte(text, at) != b']').then_some(at)
}

/// The offset of the element after the one that ends at `end`.
pub(crate) fn next_element(text: &[u8], end: usize) -> Option<usize> {
    match scan::next(text, end, b']') {
        Ok((true, behind)) => Some(scan::token(text, behind)),
        _ => None,
    }
}

/// The entries of an object whose brace is at `start`, one for each key: the last of equal ones, at the place of the first.
/// `None`, when there are more than `limit`.
pub(crate) fn entries(text: &[u8], start: usize, limit: usize) -> Option<Vec<Entry>> {
    let mut found: Vec<Entry> = Vec::new();
    let mut places: HashMap<Cow<'_, [u8]>, usize> = HashMap::new();
    walk::members(text, start, |key, value| {
        let end = walk::end(text, value)?;
        let entry = Entry { key: key.at - 1..key.at + key.content.len() + 1, value: value..end };
        let next = found.len();
        match found.get_mut(*places.entry(key.text()).or_insert(next)) {
            Some(earlier) => *earlier = entry,
            None if next == limit => return None,
            None => found.push(entry),
        }
        Some(end)
    })?;
    Some(found)
}
