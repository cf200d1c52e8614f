//! The rows of one event, computed: iterations over its elements, and what is in each of them.

use super::{Fill, Filled, Halt};
use crate::abi::block::bindings::{Bindings, BoundValues};
use crate::abi::block::record::Record;
use crate::abi::block::{BlockError, FuelUse, SLOT_BYTES, SlotKind};
use crate::abi::event::declared::{PreparedList, PreparedRows, ValuePlace};
use crate::abi::event::element::{self, ElementSlots, Entry};
use crate::json::tape::{Doc, Tape};
use crate::plan::expr::{CompiledValue, Evaluated, JsonType, Over, fuel};

/// Fuel that each row costs, whatever is in it.
pub const ROW_FUEL: u64 = 50;
/// Fuel on top for each column of a row, each key of the paths that are read in its element, and each iteration within it.
pub const CELL_FUEL: u64 = 10;

/// An element that is being read.
#[derive(Clone, Debug, Default)]
pub(super) struct IterationLevel {
    element: ElementSlots,
    /// The array that an expression has made, whose element it is.
    list: Vec<u8>,
    /// What is in that.
    tape: Tape,
}

impl IterationLevel {
    /// Bytes that are held on to.
    pub(super) fn capacity(&self) -> usize {
        self.element.capacity() + self.list.capacity() + self.tape.capacity()
    }
}

impl Fill<'_> {
    /// One iteration, whose elements are at `level`. Recursion ends with the last of `levels`.
    pub(super) fn table(
        &mut self,
        index: usize,
        bindings: &Bindings<'_>,
        level: usize,
        levels: &mut [IterationLevel],
    ) -> Filled<()> {
        let declared = self.declared;
        let Some(table) = declared.tables.get(index) else { return Ok(()) };
        let Some((own, inner)) = levels.split_first_mut() else { return Ok(()) };
        if table.only_if.is_some_and(|guard| !self.holds(guard)) {
            return Ok(());
        }
        // Where nobody asks for what is in the rows, there are none to go over.
        if !table.is_asked_for {
            return Ok(());
        }
        let IterationLevel { element, list, tape } = own;
        let (over, doc, all) = match &table.list {
            PreparedList::At(over, places) => {
                let kind = match over {
                    Over::Array => SlotKind::Array,
                    Over::Entries => SlotKind::Object,
                };
                let mut there =
                    places.iter().map(|place| (bindings.view(*place), bindings.slot(*place)));
                let Some((view, of)) = there.find(|(_, slot)| slot.kind == kind) else {
                    return Ok(());
                };
                // What an iteration goes over is noted on the tape.
                let Some(all) = of.on_tape() else { return Ok(()) };
                (*over, view.doc(), all)
            }
            PreparedList::By(value, places) => {
                if !self.makes_list(index, (value, places), bindings, list)? {
                    return Ok(());
                }
                let text = simdutf8::basic::from_utf8(list).unwrap_or_default();
                tape.clear();
                // An array that nests deeper than events do has no elements.
                if tape.read(list, 0, 0).is_err() {
                    return Ok(());
                }
                (Over::Array, Doc { text, tape }, 0)
            }
        };
        match over {
            Over::Array => {
                let mut elements = doc.tape.inside(all);
                while let Some(at) = elements.next(doc.tape) {
                    let view = element.read(&table.trie, doc, at);
                    self.row(index, &bindings.with(level, view), level, inner)?;
                }
            }
            Over::Entries => {
                let left = self.limits.rows.saturating_sub(self.rows);
                let entries = element::entries(doc, all, left);
                let entries: Vec<Entry> = match entries {
                    Some(entries) => entries,
                    None => return Err(self.too_many_rows()),
                };
                for entry in entries {
                    if table.key_weight > 0 && self.withholds_entry(index, table, entry, doc)? {
                        continue;
                    }
                    let Some(view) = element.read_entry(&table.trie, doc, entry) else { break };
                    self.row(index, &bindings.with(level, view), level, inner)?;
                }
            }
        }
        Ok(())
    }

    /// Whether what an expression gives is an array, which is `list` then.
    fn makes_list(
        &mut self,
        index: usize,
        (value, places): (&CompiledValue, &[ValuePlace]),
        bindings: &Bindings<'_>,
        list: &mut Vec<u8>,
    ) -> Filled<bool> {
        self.check_deadline()?;
        list.clear();
        let values =
            BoundValues::new(bindings, places, self.declared, &self.parts.memory, &self.numbers);
        let before = self.fuel;
        let evaluated = value.evaluate(&values, list, &mut self.fuel);
        self.note_row(index, before);
        let evaluated = evaluated.map_err(|spent| self.out_of_fuel(FuelUse::Rows(index), spent))?;
        Ok(evaluated == Evaluated::Value(JsonType::Array))
    }

    /// Whether there is no row for an entry, because of its key.
    fn withholds_entry(
        &mut self,
        index: usize,
        table: &PreparedRows,
        entry: Entry,
        doc: Doc<'_>,
    ) -> Filled<bool> {
        self.check_deadline()?;
        let Some(key) = entry.name(doc) else { return Ok(true) };
        if !key.contains('.') {
            return Ok(false);
        }
        self.spend_on_row(index, fuel::TEST.of(key.len()).saturating_mul(table.key_weight))?;
        Ok(self.projector.withholds_entry(index, &key))
    }

    /// One row of an iteration, and the iterations within it.
    fn row(
        &mut self,
        index: usize,
        bindings: &Bindings<'_>,
        level: usize,
        inner: &mut [IterationLevel],
    ) -> Filled<()> {
        let declared = self.declared;
        let Some(table) = declared.tables.get(index) else { return Ok(()) };
        if self.rows == self.limits.rows {
            return Err(self.too_many_rows());
        }
        self.rows += 1;
        if let Some(number) = self.numbers.get_mut(level) {
            // There are fewer rows than that.
            *number = number.saturating_add(1);
        }
        self.check_deadline()?;
        let parts = table.columns.len() + table.trie.size() + table.inner.len();
        self.spend_on_row(index, ROW_FUEL + CELL_FUEL * parts as u64)?;
        if let Some((condition, places)) = &table.condition {
            let values = BoundValues::new(
                bindings,
                places,
                self.declared,
                &self.parts.memory,
                &self.numbers,
            );
            let before = self.fuel;
            let holds = condition.holds(&values, &mut self.fuel);
            self.note_row(index, before);
            if !holds.map_err(|spent| self.out_of_fuel(FuelUse::Rows(index), spent))? {
                return Ok(());
            }
        }
        self.record_bytes += table.columns.len() * SLOT_BYTES;
        self.check_bytes()?;
        for column in &table.columns {
            let record = self.cell(*column, bindings)?;
            if let Some(records) = self.parts.tables.get_mut(index) {
                records.push(record);
            }
        }
        for inner_table in &table.inner {
            self.table(*inner_table, bindings, level + 1, inner)?;
        }
        Ok(())
    }

    /// One cell of a column.
    fn cell(&mut self, index: usize, bindings: &Bindings<'_>) -> Filled<Record> {
        let declared = self.declared;
        let Some(input) = declared.prepared.get(index) else { return Ok(Record::default()) };
        if input.only_if.is_some_and(|guard| !self.holds(guard)) {
            // It may have been true of the row before.
            if let Some(state) = self.parts.states.get_mut(index) {
                state.holds = false;
            }
            return Ok(Record::default());
        }
        self.input(index, input, bindings)
    }

    fn spend_on_row(&mut self, table: usize, fuel: u64) -> Filled<()> {
        let before = self.fuel;
        let spent = fuel::spend(&mut self.fuel, fuel);
        self.note_row(table, before);
        spent.map_err(|spent| self.out_of_fuel(FuelUse::Rows(table), spent))
    }

    /// Notes what has been spent since there was `before`, for a row of an iteration.
    fn note_row(&mut self, table: usize, before: u64) {
        if let Some(fuel) = self.parts.row_fuel.get_mut(table) {
            *fuel += before - self.fuel;
        }
    }

    #[cold]
    fn too_many_rows(&mut self) -> Halt {
        self.stop(BlockError::TooManyRows { allowed: self.limits.rows })
    }
}
