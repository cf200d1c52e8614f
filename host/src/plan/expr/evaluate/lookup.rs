//! Where evaluation finds values.

use std::cell::RefCell;

use crate::json::tape::{Doc, TapeIndex};
use crate::plan::expr::conversion::Json;
use crate::plan::expr::{Empty, Memory};

/// What an expression finds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found<'e> {
    /// A value of a [document](Lookup::document).
    Placed {
        /// The number of the document.
        document: u8,
        /// Offset of its first byte.
        start: u32,
        /// Offset after its last byte.
        end: u32,
        /// Whether it is a string with escapes.
        escaped: bool,
        /// Its number on the tape of the document, if it is there.
        taped: Option<TapeIndex>,
    },
    /// Its JSON, as [`json`](Lookup::json) has it.
    Text(&'e str),
}

/// Where the values of an event are to be found.
pub(crate) trait Lookup {
    /// The JSON of the value at the reference that was registered under this number. None where there is no value.
    fn json(&self, index: usize) -> Option<Json<'_>>;

    /// Whether there is a value.
    fn is_there(&self, index: usize) -> bool {
        self.json(index).is_some()
    }

    /// The same for expressions, which see events as they are: an empty string is a value like any other, whatever the plan says.
    fn found(&self, index: usize) -> Option<Found<'_>> {
        self.json(index).map(|json| Found::Text(json.text))
    }

    /// What a value is placed in: the event has the number 0.
    fn document(&self, _number: u8) -> Doc<'_> {
        Doc::default()
    }

    /// What an expression counts as that gives an empty string.
    fn empty(&self) -> Empty {
        Empty::Value
    }

    /// Where expressions remember what they have found out about the event, if anywhere.
    fn memory(&self) -> Option<&RefCell<Memory>> {
        None
    }

    /// By level, the number of the element that is being read.
    fn elements(&self) -> &[u32] {
        &[]
    }

    /// Whether no object and no array may be made of what is at that reference: what `parse_json` gives of one is absent. The
    /// default withholds nothing.
    fn withholds_nested(&self, _index: usize) -> bool {
        false
    }
}
