//! Where evaluation finds values.

use std::cell::RefCell;

use crate::plan::expr::{Empty, KeyTables, SharedValues};

/// Where the values of an event are to be found.
pub(crate) trait Lookup {
    /// The JSON of the value at the reference that was registered under this number: valid, without white space around it,
    /// strings in their quotes and possibly with escapes. None where there is no value.
    fn value(&self, index: usize) -> Option<&[u8]>;

    /// The same where an empty string is a value like any other, whatever the plan says: expressions see events as they are.
    fn as_it_is(&self, index: usize) -> Option<&[u8]> {
        self.value(index)
    }

    /// What an expression counts as that gives an empty string.
    fn empty(&self) -> Empty {
        Empty::Value
    }

    /// Where lists that were gone over are remembered, if anywhere.
    fn key_tables(&self) -> Option<&RefCell<KeyTables>> {
        None
    }

    /// Where the values of parts that expressions share are kept, if anywhere, and the number of the element at each level.
    fn shared_values(&self) -> Option<(&RefCell<SharedValues>, &[u32])> {
        None
    }

    /// Whether no object and no array may be made of what is at that reference: what `parse_json` gives of one is absent. The
    /// default withholds nothing.
    fn withholds_nested(&self, _index: usize) -> bool {
        false
    }
}
