//! The elements of an iteration, which lie in an event that was found valid.

use std::borrow::Cow;
use std::collections::HashMap;

use super::trie::Trie;
use super::walk::{Visit, Walk};
use crate::abi::slot::{Slot, SlotKind};
use crate::json::{scan, string, walk};

/// Where the paths of one level lead: into the event, into an element, or into an element of that.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct View<'a> {
    trie: Option<&'a Trie>,
    slots: &'a [Slot],
    /// An entry of an object, as an object.
    entry: &'a [u8],
}

impl<'a> View<'a> {
    pub(super) fn new(trie: &'a Trie, slots: &'a [Slot]) -> Self {
        Self { trie: Some(trie), slots, entry: &[] }
    }

    /// Where the path with this number leads.
    pub(crate) fn slot(&self, path: usize) -> Slot {
        let slot = self.trie.and_then(|trie| self.slots.get(trie.position(path)));
        slot.copied().unwrap_or_default()
    }

    /// An entry of an object, as an object.
    pub(crate) fn entry(&self) -> &'a [u8] {
        self.entry
    }
}

/// One element, reused for the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct ElementSlots {
    slots: Vec<Slot>,
    visits: Vec<Visit>,
    entry: Vec<u8>,
}

/// An entry of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Where the quote of the key is.
    key: usize,
    /// Where the value begins.
    value: usize,
}

impl Entry {
    /// Its key, in an event that was found valid.
    pub(crate) fn name<'e>(&self, event: &'e [u8]) -> Option<Cow<'e, str>> {
        let start = self.key + 1;
        let (end, escaped) = scan::string(event, start).ok()?;
        let inside = std::str::from_utf8(event.get(start..end - 1)?).ok()?;
        if escaped { string::unescape(inside).map(Cow::Owned) } else { Some(Cow::Borrowed(inside)) }
    }
}

impl ElementSlots {
    /// Finds the paths of `trie` in the element that begins at `start`, and where it ends.
    pub(crate) fn read(&mut self, trie: &Trie, event: &[u8], start: usize) -> Option<usize> {
        self.clear(trie);
        let mut walk = Walk::new(trie, event, &mut self.slots, &mut self.visits);
        walk.root(start).ok()
    }

    /// Finds the paths of `trie` in an entry, which is seen as an object with the keys `key` and `value`.
    pub(crate) fn read_entry(&mut self, trie: &Trie, event: &[u8], entry: Entry) -> Option<()> {
        self.clear(trie);
        let mut walk = Walk::new(trie, event, &mut self.slots, &mut self.visits);
        let (start, end) = walk.entry(entry.key, entry.value).ok()?;
        let whole = trie.root().own();
        if !whole.is_empty() {
            let key = event.get(start.clone()).unwrap_or_default();
            let value = event.get(end).unwrap_or_default();
            self.entry.clear();
            for part in [b"{\"key\":", key, b",\"value\":", value, b"}"] {
                self.entry.extend_from_slice(part);
            }
            let end = u32::try_from(self.entry.len()).ok()?;
            let slot = Slot { kind: SlotKind::Object, escaped: false, start: 0, end };
            self.slots.get_mut(whole)?.fill(slot);
        }
        Some(())
    }

    pub(crate) fn view<'a>(&'a self, trie: &'a Trie) -> View<'a> {
        View { trie: Some(trie), slots: &self.slots, entry: &self.entry }
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
pub(crate) fn first_element(event: &[u8], start: usize) -> Option<usize> {
    let at = scan::token(event, start + 1);
    (scan::byte(event, at) != b']').then_some(at)
}

/// The offset of the element after the one that ends at `end`.
pub(crate) fn next_element(event: &[u8], end: usize) -> Option<usize> {
    match scan::next(event, end, b']') {
        Ok((true, behind)) => Some(scan::token(event, behind)),
        _ => None,
    }
}

/// The entries of an object whose brace is at `start`, one for each key: the last of equal ones, at the place of the first.
/// `None`, when there are more than `limit`.
pub(crate) fn entries(event: &[u8], start: usize, limit: usize) -> Option<Vec<Entry>> {
    let mut found: Vec<Entry> = Vec::new();
    let mut places: HashMap<Cow<'_, [u8]>, usize> = HashMap::new();
    walk::members(event, start, |key, value| {
        let entry = Entry { key: key.at - 1, value };
        let next = found.len();
        match found.get_mut(*places.entry(key.text()).or_insert(next)) {
            Some(earlier) => *earlier = entry,
            None if next == limit => return None,
            None => found.push(entry),
        }
        walk::end(event, value)
    })?;
    Some(found)
}
