//! The values that an input is computed from, and what expressions have found out about them.

use std::cell::RefCell;

use crate::abi::event::Slot;
use crate::abi::event::declared::{PreparedSection, ValuePlace};
use crate::abi::event::element::View;
use crate::plan::expr::{Empty, KeyTables, Level, Lookup, SharedValues};

/// How deep iterations nest.
pub(super) const DEPTH: usize = Level::DEEPEST.0 as usize;

/// What expressions have found out about one event, for the next ones that ask.
#[derive(Clone, Debug, Default)]
pub(super) struct Remembered {
    /// The lists in which something was looked up by a key.
    key_tables: RefCell<KeyTables>,
    /// What parts of expressions have come to.
    shared_values: RefCell<SharedValues>,
}

impl Remembered {
    /// Forgets everything: an event comes, over which expressions share so many parts.
    pub(super) fn begin(&mut self, event: &[u8], parts: usize) {
        self.key_tables.get_mut().begin(event);
        self.shared_values.get_mut().begin(parts);
    }

    /// Bytes that are held on to.
    pub(super) fn capacity(&self) -> usize {
        self.key_tables.borrow().capacity()
    }
}

/// Where the values are that an input is computed from.
#[derive(Clone, Copy, Default)]
pub(super) struct Bindings<'a> {
    /// By level.
    views: [View<'a>; DEPTH + 1],
}

impl<'a> Bindings<'a> {
    pub(super) fn with(mut self, level: usize, view: View<'a>) -> Self {
        if let Some(place) = self.views.get_mut(level) {
            *place = view;
        }
        self
    }

    pub(super) fn slot(&self, place: ValuePlace) -> Slot {
        place.read(self.view(place).slot(place.path))
    }

    /// What the path of a place is looked for in.
    pub(super) fn view(&self, place: ValuePlace) -> View<'a> {
        self.views.get(place.level).copied().unwrap_or_default()
    }

    /// The text of what the slot of a place says.
    pub(super) fn text(&self, place: ValuePlace, slot: Slot) -> &'a [u8] {
        let text = self.view(place).text();
        text.get(slot.start as usize..slot.end as usize).unwrap_or_default()
    }
}

/// The values of an input, by the number under which its evaluator knows them.
pub(super) struct BoundValues<'a> {
    bindings: Bindings<'a>,
    places: &'a [ValuePlace],
    empty: Empty,
    remembered: &'a Remembered,
    /// By level, the number of the element that is being read.
    numbers: [u32; DEPTH + 1],
}

impl<'a> BoundValues<'a> {
    pub(super) fn new(
        bindings: &Bindings<'a>,
        places: &'a [ValuePlace],
        declared: &PreparedSection,
        remembered: &'a Remembered,
        numbers: [u32; DEPTH + 1],
    ) -> Self {
        Self { bindings: *bindings, places, empty: declared.empty, remembered, numbers }
    }

    fn at(&self, place: ValuePlace) -> Option<&[u8]> {
        let slot = self.bindings.slot(place);
        slot.kind.is_there().then(|| self.bindings.text(place, slot))
    }
}

impl Lookup for BoundValues<'_> {
    fn value(&self, index: usize) -> Option<&[u8]> {
        self.at(*self.places.get(index)?)
    }

    fn as_it_is(&self, index: usize) -> Option<&[u8]> {
        self.at(self.places.get(index)?.as_it_is())
    }

    fn empty(&self) -> Empty {
        self.empty
    }

    fn key_tables(&self) -> Option<&RefCell<KeyTables>> {
        Some(&self.remembered.key_tables)
    }

    fn shared_values(&self) -> Option<(&RefCell<SharedValues>, &[u32])> {
        Some((&self.remembered.shared_values, &self.numbers))
    }

    fn withholds_nested(&self, index: usize) -> bool {
        self.places.get(index).is_some_and(|place| place.is_withheld())
    }
}
