//! The values that an input is computed from.

use std::cell::RefCell;

use crate::abi::event::Slot;
use crate::abi::event::declared::{PreparedSection, ValuePlace};
use crate::abi::event::element::View;
use crate::json::tape::Doc;
use crate::plan::expr::{Empty, Found, Json, Level, Lookup, Memory};

/// How deep iterations nest.
pub(super) const DEPTH: usize = Level::DEEPEST.0 as usize;

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

    #[inline]
    pub(super) fn slot(&self, place: ValuePlace) -> Slot {
        let view = self.views.get(usize::from(place.level()));
        place.read(view.map_or_else(Slot::default, |view| view.slot(place.slot())))
    }

    /// What the path of a place is looked for in.
    pub(super) fn view(&self, place: ValuePlace) -> View<'a> {
        self.views.get(usize::from(place.level())).copied().unwrap_or_default()
    }

    /// What is read at a level.
    #[inline]
    pub(super) fn document(&self, level: u8) -> Doc<'a> {
        self.views.get(usize::from(level)).map_or_else(Doc::default, View::doc)
    }

    /// The text of what the slot of a place says.
    #[inline]
    pub(super) fn text(&self, place: ValuePlace, slot: Slot) -> &'a str {
        self.document(place.level()).part(slot.start, slot.end)
    }

    /// The JSON of the value at a place, if there is one.
    #[inline]
    pub(super) fn json(&self, place: ValuePlace) -> Option<Json<'a>> {
        let slot = self.slot(place);
        let json = || Json { text: self.text(place, slot), may_escape: slot.escaped };
        slot.kind.is_there().then(json)
    }

    /// Its bytes.
    #[inline]
    pub(super) fn bytes(&self, place: ValuePlace, slot: Slot) -> &'a [u8] {
        self.document(place.level()).bytes(slot.start, slot.end)
    }
}

/// The values of an input, by the number under which its evaluator knows them.
pub(super) struct BoundValues<'a> {
    bindings: &'a Bindings<'a>,
    places: &'a [ValuePlace],
    empty: Empty,
    memory: &'a RefCell<Memory>,
    /// By level, the number of the element that is being read.
    numbers: &'a [u32],
}

impl<'a> BoundValues<'a> {
    pub(super) fn new(
        bindings: &'a Bindings<'a>,
        places: &'a [ValuePlace],
        declared: &PreparedSection,
        memory: &'a RefCell<Memory>,
        numbers: &'a [u32],
    ) -> Self {
        Self { bindings, places, empty: declared.empty, memory, numbers }
    }
}

impl Lookup for BoundValues<'_> {
    #[inline]
    fn is_there(&self, index: usize) -> bool {
        self.places.get(index).is_some_and(|place| self.bindings.slot(*place).kind.is_there())
    }

    #[inline]
    fn json(&self, index: usize) -> Option<Json<'_>> {
        self.bindings.json(*self.places.get(index)?)
    }

    fn found(&self, index: usize) -> Option<Found<'_>> {
        let place = self.places.get(index)?.as_it_is();
        let slot = self.bindings.slot(place);
        if !slot.kind.is_there() {
            return None;
        }
        // Most elements are the event's own, and found there whichever level they are of.
        let event = self.bindings.document(0);
        let is_event = place.level() == 0
            || std::ptr::eq(event.tape, self.bindings.document(place.level()).tape);
        let document = if is_event { 0 } else { place.level() };
        let Slot { start, end, escaped, .. } = slot;
        Some(Found::Placed { document, start, end, escaped, taped: slot.on_tape() })
    }

    fn document(&self, number: u8) -> Doc<'_> {
        self.bindings.document(number)
    }

    fn empty(&self) -> Empty {
        self.empty
    }

    fn memory(&self) -> Option<&RefCell<Memory>> {
        Some(self.memory)
    }

    fn elements(&self) -> &[u32] {
        self.numbers
    }

    fn withholds_nested(&self, index: usize) -> bool {
        self.places.get(index).is_some_and(|place| place.is_withheld())
    }
}
