//! Which inputs and iterations an extractor declares, and where each value lies in the input block.

use std::collections::HashMap;

use crate::abi::block::{HEADER_BYTES, SLOT_BYTES};
use crate::abi::result::form::RecordPlace;
use crate::abi::section::{Input, Rows};
use crate::plan::expr::{ForEach, Iteration};

/// The declared inputs and iterations, each once, in the order in which they are first asked for.
#[derive(Default)]
pub(super) struct InputNumbers {
    declared: Vec<Input>,
    /// Where the value of each lies.
    slots: Vec<InputSlot>,
    /// The place of each in that order.
    places: HashMap<Input, usize>,
    rows: Vec<Rows>,
    row_places: HashMap<(Iteration, Option<usize>), usize>,
    /// The columns of each iteration.
    columns: Vec<Columns>,
}

/// The columns of an iteration.
#[derive(Clone, Copy, Default)]
struct Columns {
    /// The first one, by its place among the inputs.
    first: Option<usize>,
    count: u32,
}

/// The record of a value: of an input without rows, in the table of slots; of a column, in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct InputSlot {
    in_row: bool,
    at: u32,
}

/// Where the rows of an iteration lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InputTable {
    /// The slot of the first column: its text is the first row, its length the number of rows.
    pub(super) head: InputSlot,
    /// Bytes of a row.
    pub(super) stride: u32,
}

impl InputNumbers {
    /// Declares an input, or finds it declared; gives its place.
    pub(super) fn declare(&mut self, input: Input) -> usize {
        let next = self.declared.len();
        *self.places.entry(input).or_insert_with_key(|input| {
            let slot = match input.rows.and_then(|rows| self.columns.get_mut(rows)) {
                Some(columns) => {
                    columns.first.get_or_insert(next);
                    columns.count += 1;
                    InputSlot { in_row: true, at: (columns.count - 1) * SLOT_BYTES as u32 }
                }
                None => InputSlot::of_input(next),
            };
            self.slots.push(slot);
            self.declared.push(input.clone());
            next
        })
    }

    /// Where the value of a declared input lies.
    pub(super) fn slot(&self, place: usize) -> InputSlot {
        self.slots.get(place).copied().unwrap_or(InputSlot::of_input(place))
    }

    /// Declares the iterations of a `for_each`, or finds them declared; gives the place of the innermost. Without `gate`
    /// being true they have no rows.
    pub(super) fn iterate(&mut self, for_each: &ForEach, gate: Option<usize>) -> usize {
        let mut within = None;
        let mut innermost = 0;
        for iteration in for_each.levels() {
            let next = self.rows.len();
            innermost = *self.row_places.entry((iteration.clone(), within)).or_insert_with(|| {
                self.rows.push(Rows { iteration: iteration.clone(), within, only_if: gate });
                self.columns.push(Columns::default());
                next
            });
            within = Some(innermost);
        }
        innermost
    }

    /// Where the rows of an iteration lie, once all its columns are declared; `None` where it has none.
    pub(super) fn table(&self, rows: usize) -> Option<InputTable> {
        let columns = self.columns.get(rows)?;
        Some(InputTable {
            head: InputSlot::of_input(columns.first?),
            stride: columns.count * SLOT_BYTES as u32,
        })
    }

    /// All that is declared.
    pub(super) fn declared(&self) -> (Vec<Input>, Vec<Rows>) {
        (self.declared.clone(), self.rows.clone())
    }
}

impl InputSlot {
    fn of_input(place: usize) -> Self {
        // A declaration of more inputs than fit in 32 bits is refused before a record is used.
        Self { in_row: false, at: (HEADER_BYTES + SLOT_BYTES * place) as u32 }
    }

    /// Where the record is.
    pub(super) fn place(self) -> RecordPlace {
        RecordPlace { in_row: self.in_row, at: self.at as usize }
    }

    /// Code for the address of the record.
    pub(super) fn address(self) -> String {
        format!("(i32.add (local.get {}) (i32.const {}))", self.base(), self.at)
    }

    /// Code that loads the value's kind.
    pub(super) fn kind(self) -> String {
        self.load("i32.load", 0)
    }

    /// Code that loads the offset of the value's text.
    pub(super) fn offset(self) -> String {
        self.load("i32.load", 4)
    }

    /// Code that loads the length of the value's text.
    pub(super) fn length(self) -> String {
        self.load("i32.load", 8)
    }

    /// The same, in 64 bits.
    pub(super) fn wide_length(self) -> String {
        self.load("i64.load32_u", 8)
    }

    fn load(self, instruction: &str, field: u32) -> String {
        format!("({instruction} offset={} (local.get {}))", self.at + field, self.base())
    }

    /// The local that offsets count from.
    fn base(self) -> &'static str {
        if self.in_row { "$row" } else { "$block" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::expr::Over;

    #[test]
    fn an_input_is_declared_once_for_each_conversion() {
        let mut inputs = InputNumbers::default();
        let (a, b) = (["a".to_owned()], ["b".to_owned()]);
        let places = [Input::json(&a), Input::json(&b), Input::truthy(&a), Input::json(&b)]
            .map(|input| inputs.declare(input));
        assert_eq!(places, [0, 1, 2, 1]);
        assert_eq!(places.map(|place| inputs.slot(place).at), [8, 20, 32, 20]);
        assert_eq!(inputs.declared().0.len(), 3);
    }

    #[test]
    fn columns_lie_side_by_side_and_their_head_in_the_table_of_slots() {
        let mut inputs = InputNumbers::default();
        let iteration = |key: &str| Iteration::new(Over::Array, vec![key.to_owned()]);
        let outer = inputs.iterate(&ForEach::new(iteration("a")), None);
        let inner = inputs.iterate(&ForEach::new(iteration("a")).around(iteration("b")), None);
        assert_eq!((outer, inner), (0, 1));
        let (a, b) = (["a".to_owned()], ["b".to_owned()]);
        let column = |input: Input, rows| Input { rows: Some(rows), ..input };
        inputs.declare(Input::json(&a));
        let first = inputs.declare(column(Input::json(&a), inner));
        let second = inputs.declare(column(Input::json(&b), inner));
        assert_eq!((inputs.slot(first).at, inputs.slot(second).at), (0, 12));
        assert_eq!(
            inputs.table(inner),
            Some(InputTable { head: InputSlot::of_input(1), stride: 24 })
        );
        assert_eq!(inputs.table(outer), None);
    }
}
