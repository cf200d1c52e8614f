//! Expressions, evaluated over the bytes of an event.
//!
//! Everything is paid for: each part that is evaluated, and what it goes over or makes, before it is made. It goes as deep as an
//! expression nests, and never as deep as an event does.

mod compare;
mod elements;
mod evaluate;
mod make;
mod read;
mod write;

pub(super) use read::Items;

use super::error::{Failure, FailureKind};
use super::memory::Memory;
use super::program::Program;
use super::value::Val;
use crate::json::tape::Doc;
use crate::plan::expr::fuel::{self, OutOfFuel};
use crate::plan::expr::{Lookup, Zone};

/// Bytes of all lists and texts that the evaluation of one expression may make.
const MAX_MADE_BYTES: usize = 64 << 20;

/// Why an evaluation has ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    OutOfFuel(OutOfFuel),
    Failed(Failure),
}

/// That an evaluation has ended early. Why is kept in the machine, so that what is handed on fits into registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Halt;

/// Bytes that a value or a member is counted as that is made.
pub(super) const ITEM: usize = size_of::<Val>();
/// How many keys of an object are compared one by one.
const FEW_KEYS: usize = 16;

pub(super) type Outcome<T> = Result<T, Halt>;

/// What evaluates one expression for one event.
pub(super) struct Machine<'v, 'f, L> {
    event: &'v L,
    inputs: &'v [usize],
    fuel: &'f mut u64,
    /// Bytes that may still be made.
    left: usize,
    literals: Doc<'v>,
    /// The document with the number 0, which most values are of.
    outer: Doc<'v>,
    /// Why it has ended early, if it has.
    stopped: Option<Stop>,
    pub(super) memory: &'f mut Memory,
    /// In which times without an offset are read.
    pub(super) zone: Option<&'v Zone>,
}

impl<'v, 'f, L: Lookup> Machine<'v, 'f, L> {
    /// For a program whose inputs are found under these numbers.
    pub(super) fn new(
        program: &'v Program,
        inputs: &'v [usize],
        event: &'v L,
        fuel: &'f mut u64,
        memory: &'f mut Memory,
    ) -> Self {
        if program.variables > 0 {
            memory.arena.variables.resize(program.variables, Val::NULL);
        }
        Self {
            event,
            inputs,
            fuel,
            left: MAX_MADE_BYTES,
            literals: program.literals.doc(),
            outer: event.document(0),
            stopped: None,
            memory,
            zone: program.zone.as_ref(),
        }
    }

    /// Whether what a string holds as JSON is null where it is an object or an array: something that is read may hold what a
    /// policy denies.
    pub(super) fn withholds_nested(&self) -> bool {
        self.inputs.iter().any(|index| self.event.withholds_nested(*index))
    }

    /// Ends the evaluation: the expression fails.
    #[cold]
    pub(super) fn fail<T>(
        &mut self,
        kind: FailureKind,
        at: usize,
        expected: &'static str,
    ) -> Outcome<T> {
        self.failed(Failure { kind, at, expected })
    }

    #[cold]
    fn failed<T>(&mut self, failure: Failure) -> Outcome<T> {
        self.stopped = Some(Stop::Failed(failure));
        Err(Halt)
    }

    /// Why the evaluation has ended early, if it has.
    pub(super) fn stopped(&self) -> Option<Stop> {
        self.stopped
    }

    #[inline]
    fn pay(&mut self, cost: u64) -> Outcome<()> {
        fuel::spend(self.fuel, cost).map_err(|spent| {
            self.stopped = Some(Stop::OutOfFuel(spent));
            Halt
        })
    }

    /// Pays for a step, and for so many bytes that are gone over.
    #[inline]
    pub(super) fn spend(&mut self, bytes: usize) -> Outcome<()> {
        self.pay(fuel::STEP.of(bytes))
    }

    /// Pays for so many values that were looked at.
    fn spend_looks(&mut self, looks: usize) -> Outcome<()> {
        self.pay(fuel::LOOK.step.saturating_mul(looks as u64))
    }

    /// Pays for what a conversion does.
    pub(super) fn spend_cost(&mut self, cost: fuel::Cost, bytes: usize) -> Outcome<()> {
        self.pay(cost.of(bytes))
    }

    /// Pays for bytes that are to be made.
    pub(super) fn make(&mut self, bytes: usize) -> Outcome<()> {
        self.spend(bytes)?;
        self.count_made(bytes)
    }

    /// Counts bytes that are made, or were made before and are paid for.
    #[inline]
    fn count_made(&mut self, bytes: usize) -> Outcome<()> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => self.fail(FailureKind::TooLarge, 0, "less to be made on the way"),
        }
    }
}
