//! Which inputs an extractor declares, and where each of them lies in the input block.

use crate::abi::block::{HEADER_BYTES, SLOT_BYTES};
use crate::abi::section::{As, Input};

/// The declared inputs, each once, in the order in which they are first asked for.
#[derive(Default)]
pub(super) struct Inputs {
    declared: Vec<Input>,
}

/// Offset of a slot's record in the input block.
#[derive(Clone, Copy)]
pub(super) struct Record(u32);

impl Inputs {
    /// Declares an input, or finds it declared.
    pub(super) fn declare(&mut self, path: &[String], conversion: As) -> Record {
        let known = self
            .declared
            .iter()
            .position(|input| input.path == path && input.conversion == conversion);
        let index = known.unwrap_or_else(|| {
            self.declared.push(Input { path: path.to_vec(), conversion });
            self.declared.len() - 1
        });
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
