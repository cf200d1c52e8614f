//! Where evaluation finds values.

/// Where the values of an event are to be found.
pub(crate) trait Lookup {
    /// The JSON of the value at the reference that was registered under this number: valid, without white space around it,
    /// strings in their quotes and possibly with escapes. None where there is no value.
    fn value(&self, index: usize) -> Option<&[u8]>;

    /// Whether no object and no array may be made of what is at that reference: what `parse_json` gives of one is absent. The
    /// default withholds nothing.
    fn withholds_nested(&self, _index: usize) -> bool {
        false
    }
}
