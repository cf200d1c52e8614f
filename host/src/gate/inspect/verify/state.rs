//! What is known at a point of a function: its locals, its stack, and how far the result is written.

use super::reason::{Obligation, Unproven};
use super::value::{AbstractValue, Base, BlockSlot, Fact, Known, ValueFacts};

/// How many facts about lengths, and how many about negative numbers, are kept. Forgetting one is always right.
const MOST_FACTS: usize = 32;

/// Bytes of a vector.
const VECTOR: u32 = 16;

/// How far the result is written.
///
/// From the beginning of the result to `base`, then `done` bytes, then `tail`: all of that was written in this call, and
/// depends on the block alone. What lies after may be anything. No byte before `base` is written again but by
/// `open_list`, whose byte is a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Frontier {
    base: Base,
    done: u32,
    /// As many bytes as this record's text has.
    tail: Option<BlockSlot>,
    /// Whether the tail was copied in bulk: then it has to become part of the result.
    bulk: bool,
    /// Whether `base` may be a negative number instead: what a function gave back that nothing has looked at yet.
    pending: bool,
}

impl Frontier {
    fn at(base: Base) -> Self {
        Self { base, done: 0, tail: None, bulk: false, pending: false }
    }

    /// Forgets the tail.
    fn drop_tail(&mut self) -> Result<(), Unproven> {
        self.tail = None;
        if self.bulk {
            return Obligation::Bulk
                .unmet("what was copied in bulk is overwritten, or left after the result's end");
        }
        Ok(())
    }
}

/// What bounds the length of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    Is(u32),
    AtMost(u32),
}

/// What is known at a point of a function.
#[derive(Clone, Debug)]
pub(super) struct AbstractState {
    locals: Vec<AbstractValue>,
    stack: Vec<AbstractValue>,
    frontier: Frontier,
    lengths: Vec<(BlockSlot, Bound)>,
    negative: Vec<u32>,
}

/// Gives names to numbers and points.
#[derive(Debug, Default)]
pub(super) struct FreshNames(u32);

impl FreshNames {
    pub(super) fn next(&mut self) -> u32 {
        // A body has far fewer operators than there are names.
        self.0 = self.0.saturating_add(1);
        self.0
    }
}

impl AbstractState {
    /// At the beginning of a function, with the result written up to `base`.
    pub(super) fn new(locals: Vec<AbstractValue>, base: Base) -> Self {
        Self {
            locals,
            stack: Vec::new(),
            frontier: Frontier::at(base),
            lengths: Vec::new(),
            negative: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, value: AbstractValue) {
        self.stack.push(value);
    }

    /// The top of the stack. The module is valid, so there is one.
    pub(super) fn pop(&mut self) -> Result<AbstractValue, Unproven> {
        self.stack
            .pop()
            .ok_or_else(|| Unproven::new(Obligation::Operator, "the operand stack is empty"))
    }

    pub(super) fn local(&self, index: u32) -> Result<&AbstractValue, Unproven> {
        self.locals.get(index as usize).ok_or_else(no_local)
    }

    pub(super) fn set_local(&mut self, index: u32, value: AbstractValue) -> Result<(), Unproven> {
        *self.locals.get_mut(index as usize).ok_or_else(no_local)? = value;
        Ok(())
    }

    /// Takes in what holds here.
    pub(super) fn learn(&mut self, facts: &ValueFacts) {
        for fact in facts.iter() {
            match fact {
                Fact::LengthIs(slot, length) => self.bound(slot, Bound::Is(length)),
                Fact::LengthAtMost(slot, most) => self.bound(slot, Bound::AtMost(most)),
                Fact::Negative(name) if self.negative.len() < MOST_FACTS => {
                    self.negative.push(name)
                }
                Fact::Negative(_) => {}
                Fact::Written(base) => {
                    if self.frontier.base == base {
                        self.frontier.pending = false;
                    }
                    let item = AbstractValue::Item(base);
                    for value in self.locals.iter_mut().chain(&mut self.stack) {
                        if *value == item {
                            *value = AbstractValue::Out { base, offset: 0 };
                        }
                    }
                }
            }
        }
    }

    fn bound(&mut self, slot: BlockSlot, bound: Bound) {
        if self.lengths.len() < MOST_FACTS {
            self.lengths.push((slot, bound));
        }
    }

    /// Whether a text is known to have just so many bytes or more.
    pub(super) fn has_bytes(&self, slot: BlockSlot, bytes: u64) -> bool {
        self.lengths.iter().any(|(of, bound)| {
            *of == slot && matches!(bound, Bound::Is(length) if u64::from(*length) >= bytes)
        })
    }

    fn fits_in_vector(&self, slot: BlockSlot) -> bool {
        self.lengths.iter().any(|(of, bound)| {
            let (Bound::Is(most) | Bound::AtMost(most)) = bound;
            *of == slot && *most <= VECTOR
        })
    }

    pub(super) fn is_negative(&self, name: u32) -> bool {
        self.negative.contains(&name)
    }

    /// Where from the last point on something may be written: nothing written before is touched by it.
    fn place(&self, address: &AbstractValue, more: u64) -> Result<u64, Unproven> {
        match address {
            AbstractValue::Out { base, offset } if *base == self.frontier.base => {
                if self.frontier.pending {
                    return Obligation::Store.unmet("it isn't known whether the function before gave back an address or a failure");
                }
                Ok(u64::from(*offset) + more)
            }
            AbstractValue::Out { .. } => Obligation::Store
                .unmet("the address isn't where the result has got to, but before that"),
            _ => Obligation::Store.unmet("the address isn't known to be in the output area"),
        }
    }

    /// Takes note of a vector that is stored.
    pub(super) fn store_vector(
        &mut self,
        address: &AbstractValue,
        more: u64,
        vector: &AbstractValue,
    ) -> Result<(), Unproven> {
        let at = self.place(address, more)?;
        match vector {
            AbstractValue::Vector(Known::Text(slot)) if self.fits_in_vector(*slot) => {
                self.write_text(at, *slot, false)
            }
            AbstractValue::Vector(Known::Bytes(known)) => self.write(at, *known, VECTOR),
            _ => self.write(at, 0, VECTOR),
        }
    }

    /// Takes note of a copy of so many bytes of constant text.
    pub(super) fn copy_constant(
        &mut self,
        address: &AbstractValue,
        bytes: u32,
    ) -> Result<(), Unproven> {
        let at = self.place(address, 0)?;
        self.write(at, bytes, bytes)
    }

    /// Takes note of a copy of all of a text, with whatever lies after it in the block.
    pub(super) fn copy_text(
        &mut self,
        address: &AbstractValue,
        slot: BlockSlot,
    ) -> Result<(), Unproven> {
        let at = self.place(address, 0)?;
        self.write_text(at, slot, true)
    }

    /// `size` bytes are written `at` bytes after the last point; the first `known` of them are the same in every run.
    fn write(&mut self, at: u64, known: u32, size: u32) -> Result<(), Unproven> {
        let whole = known == size;
        let (from, done) = (u32::try_from(at).unwrap_or(u32::MAX), self.frontier.done);
        if from > done {
            // A gap: nothing is gained. Known bytes over known ones lose nothing either.
            return if whole { Ok(()) } else { self.frontier.drop_tail() };
        }
        let end = from.saturating_add(known);
        if whole && end <= done {
            return Ok(());
        }
        self.frontier.done = end;
        self.frontier.drop_tail()
    }

    fn write_text(&mut self, at: u64, slot: BlockSlot, bulk: bool) -> Result<(), Unproven> {
        self.frontier.drop_tail()?;
        let done = self.frontier.done;
        match u32::try_from(at) {
            Ok(from) if from <= done => {
                self.frontier = Frontier { done: from, tail: Some(slot), bulk, ..self.frontier };
                Ok(())
            }
            _ => Obligation::Store.unmet(format!(
                "expected to write at most {done} bytes after the last point, got {at}"
            )),
        }
    }

    /// Whether all bytes up to this address are written.
    fn is_written(&self, base: Base, offset: u32) -> bool {
        let frontier = &self.frontier;
        frontier.base == base && !frontier.pending && offset <= frontier.done
    }

    /// The address after a text that was just written there.
    pub(super) fn behind(
        &mut self,
        address: &AbstractValue,
        length: &AbstractValue,
        names: &mut FreshNames,
    ) -> Option<AbstractValue> {
        use super::value::RecordField::Length;
        let ((AbstractValue::Out { base, offset }, AbstractValue::Field(slot, Length))
        | (AbstractValue::Field(slot, Length), AbstractValue::Out { base, offset })) =
            (address, length)
        else {
            return None;
        };
        let is_there = self.is_written(*base, *offset)
            && *offset == self.frontier.done
            && self.frontier.tail == Some(*slot);
        is_there.then(|| {
            self.frontier = Frontier::at(names.next());
            AbstractValue::Out { base: self.frontier.base, offset: 0 }
        })
    }

    /// Holds the address from which a function is to write, and gives what it gives back: a new point, that may be a
    /// negative number if the function `may_fail`.
    pub(super) fn hand_over(
        &mut self,
        address: &AbstractValue,
        may_fail: bool,
        names: &mut FreshNames,
    ) -> Result<AbstractValue, Unproven> {
        match address {
            AbstractValue::Out { base, offset } if self.is_written(*base, *offset) => {}
            _ => {
                return Obligation::Call.unmet(
                    "expected the address up to which the result is written, got another value",
                );
            }
        }
        self.frontier.drop_tail()?;
        let base = names.next();
        self.frontier = Frontier { pending: may_fail, ..Frontier::at(base) };
        Ok(if may_fail {
            AbstractValue::Item(base)
        } else {
            AbstractValue::Out { base, offset: 0 }
        })
    }

    /// Holds a function's end or return.
    pub(super) fn leave(&self) -> Result<(), Unproven> {
        self.frontier.clone().drop_tail()
    }

    /// Whether this is where the result has got to; whether it may be a negative number instead.
    pub(super) fn is_end(&self, value: &AbstractValue) -> Option<MayFail> {
        match value {
            AbstractValue::Out { base, offset } if self.is_written(*base, *offset) => Some(false),
            AbstractValue::Item(base) if self.frontier.base == *base && self.frontier.pending => {
                Some(true)
            }
            AbstractValue::Number(name) if self.is_negative(*name) => Some(true),
            _ => None,
        }
    }

    /// Whether this is the result's address and the length of what is written.
    pub(super) fn is_result(&self, value: &AbstractValue) -> bool {
        matches!(value, AbstractValue::Packed { base, offset } if self.is_written(*base, *offset))
    }

    /// What is known where this state and another one meet.
    pub(super) fn join(mut self, other: Self, names: &mut FreshNames) -> Result<Self, Unproven> {
        let differ = || {
            let message =
                "the branches leave the result at different points, and no variable says where";
            Unproven::new(Obligation::Join, message)
        };
        if self.stack.len() != other.stack.len() || self.locals.len() != other.locals.len() {
            return Err(differ());
        }
        let mut moved: Option<(AbstractValue, AbstractValue)> = None;
        let base = names.next();
        let theirs = other.locals.iter().chain(&other.stack);
        let mut joined = Vec::with_capacity(self.locals.len() + self.stack.len());
        for (mine, their) in self.locals.iter().chain(&self.stack).zip(theirs) {
            joined.push(match (mine, their) {
                (mine, their) if mine == their => mine.clone(),
                (
                    AbstractValue::Out { base: one, offset: here },
                    AbstractValue::Out { base: two, offset: there },
                ) if self.is_written(*one, *here) && other.is_written(*two, *there) => {
                    let pair = (mine.clone(), their.clone());
                    if moved.get_or_insert_with(|| pair.clone()) != &pair {
                        return Err(differ());
                    }
                    AbstractValue::Out { base, offset: 0 }
                }
                (AbstractValue::Vector(_), _) | (_, AbstractValue::Vector(_)) => {
                    AbstractValue::Vector(Known::Bytes(0))
                }
                _ => AbstractValue::Number(names.next()),
            });
        }
        let (one, two) = (&self.frontier, &other.frontier);
        self.frontier = match &moved {
            Some((
                AbstractValue::Out { offset: here, .. },
                AbstractValue::Out { offset: there, .. },
            )) => join_at(base, (one, *here), (two, *there))?,
            _ if one.base == two.base && one.pending == two.pending => {
                let joined = join_at(one.base, (one, 0), (two, 0))?;
                Frontier { pending: one.pending, ..joined }
            }
            _ => return Err(differ()),
        };
        self.stack = joined.split_off(self.locals.len());
        self.locals = joined;
        self.lengths.retain(|known| other.lengths.contains(known));
        self.negative.retain(|known| other.negative.contains(known));
        Ok(self)
    }
}

/// Whether what a function gives back may be a negative number.
pub(super) type MayFail = bool;

/// What is written after a point that lies so far after the last point of either.
fn join_at(
    base: Base,
    (one, here): (&Frontier, u32),
    (two, there): (&Frontier, u32),
) -> Result<Frontier, Unproven> {
    let (ahead, other) = (one.done.saturating_sub(here), two.done.saturating_sub(there));
    let tail = one.tail.filter(|_| one.tail == two.tail && ahead == other);
    let bulk = one.bulk || two.bulk;
    let mut joined = Frontier { base, done: ahead.min(other), tail, bulk, pending: false };
    if joined.tail.is_none() {
        joined.drop_tail()?;
    }
    Ok(joined)
}

fn no_local() -> Unproven {
    Unproven::new(Obligation::Operator, "there is no such local")
}
