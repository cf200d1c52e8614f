//! The inputs of one event, computed: records of the slots and of all rows, and the texts that they point to.

mod rows;

pub use rows::{CELL_FUEL, ROW_FUEL};

use std::cell::RefCell;

use self::rows::IterationLevel;
use super::bindings::{Bindings, BoundValues, DEPTH};
use super::described;
use super::limits::{BlockLimits, Spent};
use super::record::Record;
use super::value::{push_json, truthy_fuel};
use super::{BlockError, Costliest, Deadline, FuelUse, HEADER_BYTES, SLOT_BYTES, SlotKind};
use crate::abi::event::Projector;
use crate::abi::event::declared::{
    InputSource, PreparedInput, PreparedSection, ValuePlace, ValueScope,
};
use crate::abi::event::element::View;
use crate::plan::expr::{
    CompiledCondition, CompiledTest, CompiledValue, Evaluated, JsonType, Memory, OutOfFuel, fuel,
    is_truthy,
};

/// What a block is put together from, beside the records of its slots. Offsets are those of a block without rows.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockParts {
    /// In the order of the iterations: the records of the columns, one row after another.
    pub(super) tables: Vec<Vec<Record>>,
    pub(super) texts: Vec<u8>,
    /// In the order of the inputs: what each came to last.
    states: Vec<InputState>,
    /// In the order of the iterations: the fuel that their rows took, without what is in them.
    row_fuel: Vec<u64>,
    /// What expressions have found out about the event.
    memory: RefCell<Memory>,
    /// What is being gone over, the outer one first; none before there is an iteration.
    levels: Vec<IterationLevel>,
}

impl BlockParts {
    /// Bytes that are held on to.
    pub(super) fn capacity(&self) -> usize {
        let records = self.tables.iter().map(Vec::capacity).sum::<usize>();
        let levels = self.levels.iter().map(IterationLevel::capacity).sum::<usize>();
        records * size_of::<Record>()
            + self.states.capacity() * size_of::<InputState>()
            + self.texts.capacity()
            + self.memory.borrow().capacity()
            + levels
    }

    /// Gives everything up if it is more than `kept` bytes together.
    pub(super) fn release(&mut self, kept: usize) {
        if self.capacity() > kept {
            *self = Self::default();
        }
    }
}

/// What an input came to last.
#[derive(Clone, Copy, Debug, Default)]
struct InputState {
    /// Whether it is true.
    holds: bool,
    /// The number of the element that `record` and `verdict` are of; 0 for none.
    of: u32,
    record: Record,
    verdict: Verdict,
    /// The fuel that it took so far.
    fuel: u64,
}

/// What an input that isn't ruled out comes to, beside its record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Verdict {
    /// It is a value, or a test that isn't true.
    #[default]
    Plain,
    /// It is a test, and true.
    Holds,
    /// A conversion failed.
    Failed,
}

/// That the work on an event has ended early. Why is kept aside, so that what is handed on fits into registers.
#[derive(Clone, Copy, Debug)]
struct Halt;

type Filled<T> = Result<T, Halt>;

/// Computes the inputs of one event.
pub(super) struct Fill<'a> {
    projector: &'a Projector,
    declared: &'a PreparedSection,
    limits: BlockLimits,
    deadline: Deadline<'a>,
    parts: &'a mut BlockParts,
    /// Where texts begin in a block without rows.
    texts_at: u32,
    /// Fuel that is left.
    fuel: u64,
    failed: u32,
    /// Rows so far.
    rows: usize,
    /// Records so far, without texts, in bytes.
    record_bytes: usize,
    /// By level, the number of the element that is being read, from 1: for the event, of which there is one, too.
    numbers: [u32; DEPTH + 1],
    /// Where the texts `false` and `true` are, once there are any.
    words: [Option<u32>; 2],
    /// What the input that is being computed comes to, kept aside as well.
    verdict: Verdict,
    /// Why it has ended early, if it has.
    stopped: Option<BlockError>,
}

impl<'a> Fill<'a> {
    pub(super) fn new(
        projector: &'a Projector,
        limits: BlockLimits,
        deadline: Deadline<'a>,
        parts: &'a mut BlockParts,
    ) -> Self {
        let declared = projector.ready();
        parts.texts.clear();
        parts.tables.resize_with(declared.tables.len(), Vec::new);
        parts.tables.iter_mut().for_each(Vec::clear);
        parts.states.clear();
        parts.states.resize(declared.prepared.len(), InputState::default());
        parts.row_fuel.clear();
        parts.row_fuel.resize(declared.tables.len(), 0);
        let records = HEADER_BYTES + declared.prepared.len() * SLOT_BYTES;
        Self {
            projector,
            declared,
            limits,
            deadline,
            parts,
            // The limit has at most 32 bits, and the records are within it.
            texts_at: records as u32,
            fuel: limits.fuel,
            failed: 0,
            rows: 0,
            record_bytes: records,
            numbers: [1; DEPTH + 1],
            words: [None; 2],
            verdict: Verdict::Plain,
            stopped: None,
        }
    }

    pub(super) fn spent(&self) -> Spent {
        Spent { fuel: self.limits.fuel - self.fuel, failed_conversions: self.failed }
    }

    /// All inputs, from what the event's own paths lead to. `slots` are the records of the inputs, in their order, each absent to begin
    /// with; those of columns stay so.
    pub(super) fn all(
        &mut self,
        event: View<'_>,
        slots: &mut [[u8; SLOT_BYTES]],
    ) -> Result<(), BlockError> {
        self.filled(event, slots).map_err(|halt| self.why(halt))
    }

    fn filled(&mut self, event: View<'_>, slots: &mut [[u8; SLOT_BYTES]]) -> Filled<()> {
        let declared = self.declared;
        self.parts.memory.get_mut().begin(declared.shared_parts);
        let bindings = Bindings::default().with(0, event);
        for run in &declared.event_inputs {
            // What is ruled out is absent, and not true, as all is to begin with.
            if run.only_if.is_some_and(|guard| !self.holds(guard)) {
                continue;
            }
            let inputs = declared.prepared.get(run.inputs.clone()).unwrap_or_default();
            let slots = slots.get_mut(run.inputs.clone()).unwrap_or_default();
            for (index, (input, slot)) in run.inputs.clone().zip(inputs.iter().zip(slots)) {
                *slot = self.input(index, input, &bindings)?.to_bytes();
            }
        }
        if declared.tables.is_empty() {
            return Ok(());
        }
        let mut levels = std::mem::take(&mut self.parts.levels);
        levels.resize_with(DEPTH, IterationLevel::default);
        let mut outer =
            declared.tables.iter().enumerate().filter(|(_, table)| table.within.is_none());
        let filled = outer.try_for_each(|(table, _)| self.table(table, &bindings, 1, &mut levels));
        self.parts.levels = levels;
        filled
    }

    /// Ends the work on the event.
    #[cold]
    fn stop(&mut self, error: BlockError) -> Halt {
        self.stopped = Some(error);
        Halt
    }

    /// Why it has ended.
    #[cold]
    fn why(&mut self, Halt: Halt) -> BlockError {
        let allowed = self.limits.bytes;
        self.stopped.take().unwrap_or(BlockError::TooLarge { used: allowed, allowed })
    }

    #[inline]
    fn check_deadline(&mut self) -> Filled<()> {
        self.deadline.check().map_err(|error| self.stop(error))
    }

    /// One input, or one cell of a column, that isn't ruled out.
    fn input(
        &mut self,
        index: usize,
        input: &PreparedInput,
        bindings: &Bindings<'_>,
    ) -> Filled<Record> {
        if let (InputSource::Value(place), ValueScope::Row) = (&input.source, input.scope) {
            // It is no test and can't fail, so that nothing has to be noted of it.
            return self.copied(*place, bindings);
        }
        self.verdict = Verdict::Plain;
        let record = self.computed(index, input, bindings)?;
        if let Some(state) = self.parts.states.get_mut(index) {
            state.holds = self.verdict == Verdict::Holds;
        }
        if self.verdict == Verdict::Failed {
            if input.rejects {
                return Err(self.conversion_failed(index));
            }
            self.failed = self.failed.saturating_add(1);
        }
        Ok(record)
    }

    /// What an input that isn't ruled out comes to. What is the same for several rows is computed once.
    fn computed(
        &mut self,
        index: usize,
        input: &PreparedInput,
        bindings: &Bindings<'_>,
    ) -> Filled<Record> {
        let of = match input.scope {
            ValueScope::Row => return self.compute(index, input, bindings),
            ValueScope::Event => 1,
            ValueScope::Element(level) => self.numbers.get(level).copied().unwrap_or_default(),
        };
        if let Some(state) = self.parts.states.get(index).filter(|state| state.of == of) {
            self.verdict = state.verdict;
            return Ok(state.record);
        }
        let record = self.compute(index, input, bindings)?;
        if let Some(state) = self.parts.states.get_mut(index) {
            (state.of, state.record, state.verdict) = (of, record, self.verdict);
        }
        Ok(record)
    }

    fn compute(
        &mut self,
        index: usize,
        input: &PreparedInput,
        bindings: &Bindings<'_>,
    ) -> Filled<Record> {
        match &input.source {
            InputSource::Value(place) => self.copied(*place, bindings),
            InputSource::Truthy(place) => self.truthy(index, *place, bindings),
            InputSource::First(places, constant) => {
                self.first(index, places, constant.as_deref(), bindings)
            }
            InputSource::Test(place, test) => self.passes(index, *place, test, bindings),
            InputSource::Condition(condition, places) => {
                self.tested(index, condition, places, bindings)
            }
            InputSource::Evaluated(value, places) => self.evaluated(index, value, places, bindings),
        }
    }

    /// Whether what is at a place counts as true.
    #[inline(never)]
    fn truthy(
        &mut self,
        index: usize,
        place: ValuePlace,
        bindings: &Bindings<'_>,
    ) -> Filled<Record> {
        let slot = bindings.slot(place);
        if !slot.kind.is_there() {
            return Ok(Record::without_text(slot.kind));
        }
        let text = bindings.bytes(place, slot);
        let before = self.fuel;
        let spent = fuel::spend(&mut self.fuel, truthy_fuel(text));
        self.note_input(index, before);
        spent.map_err(|spent| self.out_of_fuel(FuelUse::Input(index), spent))?;
        self.word(is_truthy(text))
    }

    /// What is at the first of these places where there is something, or else a constant, if there is one.
    #[inline(never)]
    fn first(
        &mut self,
        index: usize,
        places: &[ValuePlace],
        constant: Option<&str>,
        bindings: &Bindings<'_>,
    ) -> Filled<Record> {
        let start = self.parts.texts.len();
        for place in places {
            let slot = bindings.slot(*place);
            if !slot.kind.is_there() {
                continue;
            }
            let text = bindings.bytes(*place, slot);
            self.read(index, text.len())?;
            if slot.kind != SlotKind::Null {
                push_json(&mut self.parts.texts, slot, text);
                return self.record(slot.kind, start);
            }
        }
        let Some(constant) = constant else { return Ok(Record::default()) };
        self.read(index, constant.len())?;
        self.parts.texts.extend_from_slice(constant.as_bytes());
        self.record(JsonType::of(constant.as_bytes()).into(), start)
    }

    /// Spends what it costs to read a value of so many bytes.
    #[inline]
    fn read(&mut self, index: usize, bytes: usize) -> Filled<()> {
        let before = self.fuel;
        let spent = fuel::spend(&mut self.fuel, fuel::VALUE.of(bytes));
        self.note_input(index, before);
        spent.map_err(|spent| self.out_of_fuel(FuelUse::Input(index), spent))
    }

    /// Whether what is at a place passes a test.
    #[inline(never)]
    fn passes(
        &mut self,
        index: usize,
        place: ValuePlace,
        test: &CompiledTest,
        bindings: &Bindings<'_>,
    ) -> Filled<Record> {
        let before = self.fuel;
        let holds = test.holds(bindings.json(place), &mut self.fuel);
        self.decided(index, before, holds)
    }

    /// Whether a condition holds.
    #[inline(never)]
    fn tested(
        &mut self,
        index: usize,
        condition: &CompiledCondition,
        places: &[ValuePlace],
        bindings: &Bindings<'_>,
    ) -> Filled<Record> {
        let values =
            BoundValues::new(bindings, places, self.declared, &self.parts.memory, &self.numbers);
        let before = self.fuel;
        let holds = condition.holds(&values, &mut self.fuel);
        self.decided(index, before, holds)
    }

    /// What it comes to that something holds, or doesn't, or that there isn't the fuel to tell, of which there was `before`.
    #[inline]
    fn decided(
        &mut self,
        index: usize,
        before: u64,
        holds: Result<bool, OutOfFuel>,
    ) -> Filled<Record> {
        self.note_input(index, before);
        let holds = holds.map_err(|spent| self.out_of_fuel(FuelUse::Input(index), spent))?;
        self.word(holds)
    }

    #[inline(never)]
    fn evaluated(
        &mut self,
        index: usize,
        value: &CompiledValue,
        places: &[ValuePlace],
        bindings: &Bindings<'_>,
    ) -> Filled<Record> {
        self.check_deadline()?;
        let start = self.parts.texts.len();
        let values =
            BoundValues::new(bindings, places, self.declared, &self.parts.memory, &self.numbers);
        let before = self.fuel;
        let evaluated = value.evaluate(&values, &mut self.parts.texts, &mut self.fuel);
        self.note_input(index, before);
        match evaluated.map_err(|spent| self.out_of_fuel(FuelUse::Input(index), spent))? {
            Evaluated::Absent => Ok(Record::default()),
            Evaluated::Failed => {
                self.verdict = Verdict::Failed;
                Ok(Record::default())
            }
            Evaluated::Value(json_type) => self.record(json_type.into(), start),
        }
    }

    /// What is at a place of the event, as it is.
    #[inline]
    fn copied(&mut self, place: ValuePlace, bindings: &Bindings<'_>) -> Filled<Record> {
        let slot = bindings.slot(place);
        if !slot.kind.is_there() {
            return Ok(Record::without_text(slot.kind));
        }
        let start = self.parts.texts.len();
        push_json(&mut self.parts.texts, slot, bindings.bytes(place, slot));
        self.record(slot.kind, start)
    }

    /// The text from `start` on.
    #[inline]
    fn record(&mut self, kind: SlotKind, start: usize) -> Filled<Record> {
        self.check_bytes()?;
        // The limit has at most 32 bits.
        let (start, length) = (start as u32, (self.parts.texts.len() - start) as u32);
        Ok(Record::new(kind, self.texts_at + start, length))
    }

    /// `true` or `false`, whose texts are there once for all.
    fn word(&mut self, holds: bool) -> Filled<Record> {
        if holds {
            self.verdict = Verdict::Holds;
        }
        let text: &[u8] = if holds { b"true" } else { b"false" };
        let start = match self.words[usize::from(holds)] {
            Some(start) => start,
            None => self.first_word(holds, text)?,
        };
        Ok(Record::new(SlotKind::Boolean, self.texts_at + start, text.len() as u32))
    }

    #[cold]
    fn first_word(&mut self, holds: bool, text: &[u8]) -> Filled<u32> {
        // The limit has at most 32 bits.
        let start = self.parts.texts.len() as u32;
        self.words[usize::from(holds)] = Some(start);
        self.parts.texts.extend_from_slice(text);
        self.check_bytes()?;
        Ok(start)
    }

    fn holds(&self, input: usize) -> bool {
        self.parts.states.get(input).is_some_and(|state| state.holds)
    }

    /// The same for an input.
    fn note_input(&mut self, index: usize, before: u64) {
        if let Some(state) = self.parts.states.get_mut(index) {
            state.fuel += before - self.fuel;
        }
    }

    #[inline]
    fn check_bytes(&mut self) -> Filled<()> {
        let (used, allowed) = (self.record_bytes + self.parts.texts.len(), self.limits.bytes);
        if used > allowed { Err(self.stop(BlockError::TooLarge { used, allowed })) } else { Ok(()) }
    }

    /// What is left is less than the next step of this part costs.
    #[cold]
    fn out_of_fuel(&mut self, part: FuelUse, OutOfFuel { missing }: OutOfFuel) -> Halt {
        let taken = match part {
            FuelUse::Input(index) => self.parts.states.get_mut(index).map(|state| &mut state.fuel),
            FuelUse::Rows(index) => self.parts.row_fuel.get_mut(index),
        };
        if let Some(taken) = taken {
            *taken = taken.saturating_add(missing);
        }
        let allowed = self.limits.fuel;
        let used = allowed.saturating_add(missing);
        let costliest = self.costliest();
        self.stop(BlockError::OutOfFuel { used, allowed, costliest })
    }

    /// What took most of the fuel.
    #[cold]
    fn costliest(&self) -> Costliest {
        let inputs = self
            .parts
            .states
            .iter()
            .enumerate()
            .map(|(index, state)| (FuelUse::Input(index), state.fuel));
        let rows = self.parts.row_fuel.iter().enumerate();
        let rows = rows.map(|(index, fuel)| (FuelUse::Rows(index), *fuel));
        Costliest::of(inputs.chain(rows), |what| match what {
            FuelUse::Input(index) => {
                let (paths, conversions) = described::input(self.projector, index);
                let by = if conversions.is_empty() { "" } else { " by " };
                format!("{paths}{by}{conversions}")
            }
            FuelUse::Rows(index) => described::rows(self.projector, index),
        })
    }

    /// Which input it is whose conversion failed, without anything of the event.
    #[cold]
    fn conversion_failed(&mut self, index: usize) -> Halt {
        let (path, conversions) = described::input(self.projector, index);
        self.stop(BlockError::Conversion { path, conversions })
    }
}
