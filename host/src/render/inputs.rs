//! Which inputs an extractor declares, and where each of them lies in the input block.

use std::collections::HashMap;

use crate::abi::block::{HEADER_BYTES, SLOT_BYTES};
use crate::abi::section::Input;

/// The declared inputs, each once, in the order in which they are first asked for.
#[derive(Default)]
pub(super) struct Inputs {
    declared: Vec<Input>,
    /// The place of each in that order.
    places: HashMap<Input, usize>,
}

/// Offset of a slot's record in the input block.
#[derive(Clone, Copy)]
pub(super) struct Record(u32);

impl Inputs {
    /// Declares an input, or finds it declared.
    pub(super) fn declare(&mut self, input: Input) -> Record {
        let next = self.declared.len();
        let index = *self.places.entry(input).or_insert_with_key(|input| {
            self.declared.push(input.clone());
            next
        });
        // A declaration of more inputs than fit in 32 bits is refused before a record is used.
        Record((HEADER_BYTES + SLOT_BYTES * index) as u32)
    }

    pub(super) fn into_declared(self) -> Vec<Input> {
        self.declared
    }
}

impl Record {
    /// Offset of the slot's kind.
    pub(super) fn kind(self) -> u32 {
        self.0
    }

    /// Offset of the offset of the slot's text.
    pub(super) fn offset(self) -> u32 {
        self.0 + 4
    }

    /// Offset of the length of the slot's text.
    pub(super) fn length(self) -> u32 {
        self.0 + 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_declared_once_for_each_conversion() {
        let mut inputs = Inputs::default();
        let (a, b) = (["a".to_owned()], ["b".to_owned()]);
        let kinds = [Input::json(&a), Input::json(&b), Input::truthy(&a), Input::json(&b)]
            .map(|input| inputs.declare(input).kind());
        assert_eq!(kinds, [8, 20, 32, 20]);
        assert_eq!(inputs.into_declared().len(), 3);
    }
}
