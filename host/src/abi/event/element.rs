//! The elements of an iteration, which lie in a text that is known to be valid, on a tape.

use foldhash::{HashMap, HashMapExt};
use std::borrow::Cow;

use super::trie::Trie;
use super::walk::{Visit, Walk};
use crate::abi::slot::Slot;
use crate::json::tape::{Doc, Tape, TapeIndex};

/// Where the paths of one level lead: into the event, into an element, or into an element of that.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct View<'a> {
    slots: &'a [Slot],
    /// What the slots are places of: the event, the entry of an object as an object of its own, or what an expression has made.
    doc: Doc<'a>,
}

impl<'a> View<'a> {
    pub(super) fn new(slots: &'a [Slot], doc: Doc<'a>) -> Self {
        Self { slots, doc }
    }

    /// What is in the slot with this number.
    #[inline]
    pub(crate) fn slot(&self, slot: usize) -> Slot {
        self.slots.get(slot).copied().unwrap_or_default()
    }

    /// What the slots are places of.
    #[inline]
    pub(crate) fn doc(&self) -> Doc<'a> {
        self.doc
    }
}

/// One element, reused for the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct ElementSlots {
    slots: Vec<Slot>,
    visits: Vec<Visit>,
    /// An entry as an object.
    entry: String,
    /// What is in that.
    tape: Tape,
}

/// An entry of an object: its value, whose key is the entry's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry(TapeIndex);

impl Entry {
    /// Its key.
    pub(crate) fn name<'e>(&self, doc: Doc<'e>) -> Option<Cow<'e, str>> {
        doc.tape.key_text(doc.text, self.0)
    }
}

impl ElementSlots {
    /// What the paths of `trie` lead to in an element.
    pub(crate) fn read<'a>(
        &'a mut self,
        trie: &Trie,
        doc: Doc<'a>,
        element: TapeIndex,
    ) -> View<'a> {
        self.clear(trie);
        let walk = Walk::new(trie, doc.text.as_bytes(), &mut self.slots, &mut self.visits);
        walk.taped_root(doc.tape, element);
        View::new(&self.slots, doc)
    }

    /// What the paths of `trie` lead to in an entry, which is seen as an object with the keys `key` and `value`.
    pub(crate) fn read_entry<'a>(
        &'a mut self,
        trie: &Trie,
        doc: Doc<'_>,
        entry: Entry,
    ) -> Option<View<'a>> {
        self.clear(trie);
        let (key, _) = doc.tape.key(doc.text.as_bytes(), entry.0)?;
        let (start, end) = doc.tape.range(entry.0);
        self.entry.clear();
        for part in ["{\"key\":\"", doc.text.get(key)?, "\",\"value\":", doc.part(start, end), "}"]
        {
            self.entry.push_str(part);
        }
        self.tape.clear();
        // It nests no deeper than the object that it is an entry of.
        self.tape.read(self.entry.as_bytes(), 0, 0).ok()?;
        let walk = Walk::new(trie, self.entry.as_bytes(), &mut self.slots, &mut self.visits);
        walk.taped_root(&self.tape, 0);
        Some(View::new(&self.slots, Doc { text: &self.entry, tape: &self.tape }))
    }

    /// Bytes that are held on to.
    pub(crate) fn capacity(&self) -> usize {
        self.entry.capacity()
            + self.tape.capacity()
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

/// The entries of an object, one for each key: the last of equal ones, at the place of the first. `None`, when there are more than
/// `limit`.
pub(crate) fn entries(doc: Doc<'_>, object: TapeIndex, limit: usize) -> Option<Vec<Entry>> {
    let mut found: Vec<Entry> = Vec::new();
    let mut places: HashMap<Cow<'_, str>, usize> = HashMap::new();
    let mut inside = doc.tape.inside(object);
    while let Some(member) = inside.next(doc.tape) {
        let next = found.len();
        let name = doc.tape.key_text(doc.text, member)?;
        match found.get_mut(*places.entry(name).or_insert(next)) {
            Some(earlier) => *earlier = Entry(member),
            None if next == limit => return None,
            None => found.push(Entry(member)),
        }
    }
    Some(found)
}
