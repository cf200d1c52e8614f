//! The input block of ABI version 1: what the host writes into a guest's memory for one event.
//!
//! All numbers are little-endian and 32 bits wide.
//!
//! | offset | what |
//! | --- | --- |
//! | 0 | the ABI version, 1 |
//! | 4 | the number of slots, one for each declared input, in the order of declaration |
//! | 8 + 12 i | slot i: its kind ([`SlotKind`]), then offset and length of its text, counted from the block's first byte |
//! | after the slots | the rows of each iteration that has columns, in the order of declaration: a record like a slot's for each column, those of one row side by side |
//! | after the rows | the texts: JSON, one after another |
//!
//! A slot that is absent or denied has offset and length 0. A column's slot has the offset of its record in the first row, and the
//! number of rows as its length; without rows both are 0. A string's text has its quotes, and its escapes are canonical: the
//! same string has the same text, whatever way the event wrote it. Numbers, arrays and objects that aren't converted are the
//! bytes of the event.

mod bindings;
mod costliest;
mod deadline;
mod described;
mod error;
mod fill;
mod limits;
mod record;
mod value;
mod writer;

pub use costliest::{Costliest, CostlyPart, FuelUse};
pub use deadline::Deadline;
pub use error::BlockError;
pub use fill::{CELL_FUEL, ROW_FUEL};
pub use limits::{BlockLimits, Spent};
pub use writer::{BlockWriter, KEPT_BYTES};

pub use crate::abi::slot::SlotKind;

/// Bytes before the first slot.
pub const HEADER_BYTES: usize = 8;
/// Bytes of a slot's record.
pub const SLOT_BYTES: usize = 12;

/// Most rows of one event, over all iterations, unless the caller says otherwise: 65,536.
pub const DEFAULT_MAX_ROWS: usize = 65_536;
