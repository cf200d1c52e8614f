//! Elements of lists, found by what is under one of their keys: `attributes[?key=='http.route']`, as telemetry writes what other
//! formats have objects for, and `results[?tool_use_id==$id]`, which joins. A list is gone over once for all that is looked up in it
//! while one event is served.

use super::program::Op;
use super::tree::Comparison;
use super::value::{Run, Val};
use crate::json::WantedKey;
use crate::json::tape::TapeIndex;

/// How many lists are remembered at one time. The oldest one goes first.
const LISTS: usize = 8;
/// Elements that are remembered of all lists together, from event to event: more take their memory with them.
const KEPT_ELEMENTS: usize = 4_096;

/// What a filter compares: what is under a key of each element, with what is the same for all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyTest {
    /// The key.
    pub(super) key: WantedKey,
    /// Which of the conditions that all have to hold it is.
    conjunct: usize,
    /// How many of those there are.
    conjuncts: usize,
}

impl KeyTest {
    /// The one by which few elements are left of those that a condition has, if there is one. Nothing before it can fail.
    pub(super) fn of(condition: &Op) -> Option<Self> {
        let mut all = Vec::new();
        conjuncts(condition, &mut all);
        let conjuncts = all.len();
        let mut found: Option<Self> = None;
        for (conjunct, op) in all.into_iter().enumerate() {
            if let Some((key, sought)) = compared(op) {
                // What a value is compared with tells more of them apart than what is written out.
                let is_value = !matches!(sought, Op::Literal(..));
                if found.is_none() || is_value {
                    found = Some(Self { key: key.clone(), conjunct, conjuncts });
                }
                if is_value {
                    break;
                }
            } else if !cannot_fail(op) {
                break;
            }
        }
        found
    }

    /// The other conditions, none if there are no others.
    pub(super) fn rest<'o>(&self, condition: &'o Op) -> Option<Conjuncts<'o>> {
        let without = Some(self.conjunct);
        (self.conjuncts > 1).then_some(Conjuncts { op: condition, count: self.conjuncts, without })
    }

    /// What the key of an element is compared with, in the condition that it is of.
    pub(super) fn sought<'o>(&self, condition: &'o Op) -> Option<&'o Op> {
        // They are counted from the left, and the last one is outermost.
        let mut op = condition;
        for _ in self.conjunct + 1..self.conjuncts {
            let Op::And(left, _) = op else { return None };
            op = left;
        }
        if self.conjunct > 0 {
            let Op::And(_, right) = op else { return None };
            op = right;
        }
        compared(op).map(|(_, sought)| sought)
    }
}

/// Conditions that all have to hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conjuncts<'o> {
    op: &'o Op,
    count: usize,
    /// Which one is known to hold.
    without: Option<usize>,
}

impl<'o> Conjuncts<'o> {
    /// One condition, whatever it is.
    pub(super) fn all(op: &'o Op) -> Self {
        Self { op, count: 1, without: None }
    }

    /// Those before the last one, and that one where it isn't known to hold.
    pub(super) fn split(self) -> (Option<Self>, Option<&'o Op>) {
        let last = self.count.saturating_sub(1);
        let (before, op) = match self.op {
            Op::And(left, right) if last > 0 => {
                (Some(Self { op: left, count: last, ..self }), &**right)
            }
            op => (None, op),
        };
        (before, (self.without != Some(last)).then_some(op))
    }
}

/// The conditions that all have to hold, from the left. It goes as deep as an expression nests.
fn conjuncts<'o>(op: &'o Op, all: &mut Vec<&'o Op>) {
    match op {
        Op::And(left, right) => {
            conjuncts(left, all);
            all.push(right);
        }
        op => all.push(op),
    }
}

/// A key of the current value, and what it is compared with for equality.
fn compared(op: &Op) -> Option<(&WantedKey, &Op)> {
    let Op::Compare(Comparison::Equal, left, right) = op else { return None };
    let key = |op: &Op| matches!(op, Op::Fields(of, keys) if matches!(**of, Op::Current) && keys.len() == 1);
    let (field, sought) = match (key(left), key(right)) {
        (true, false) => (left, right),
        (false, true) => (right, left),
        _ => return None,
    };
    let Op::Fields(_, keys) = &**field else { return None };
    is_outside(sought).then_some((keys.first()?, sought))
}

/// Whether it is the same for all elements and can't fail.
fn is_outside(op: &Op) -> bool {
    match op {
        Op::Literal(..) | Op::Variable(_) | Op::Input(_) => true,
        Op::Fields(of, _) => is_outside(of),
        _ => false,
    }
}

/// Whether it fails for no value. It goes as deep as an expression nests.
fn cannot_fail(op: &Op) -> bool {
    match op {
        Op::Current | Op::Literal(..) | Op::Variable(_) | Op::Input(_) => true,
        Op::Fields(of, _) | Op::Index(of, _) | Op::First(of) | Op::IsType(of, ..) | Op::Not(of) => {
            cannot_fail(of)
        }
        Op::Compare(_, left, right)
        | Op::And(left, right)
        | Op::Or(left, right)
        | Op::Then(left, right)
        | Op::Pipe(left, right) => cannot_fail(left) && cannot_fail(right),
        _ => false,
    }
}

impl Op {
    /// What gives the first element of what this gives.
    pub(super) fn first(self) -> Self {
        if self.may_end_early() { Self::First(self.into()) } else { Self::Index(self.into(), 0) }
    }

    /// Whether the first element of what it gives is known before all are: nothing that is made of an element can fail.
    pub(super) fn may_end_early(&self) -> bool {
        let is_harmless = |op: &Option<Box<Self>>| op.as_deref().is_none_or(cannot_fail);
        match self {
            Self::Filter(_, condition, each, _) => cannot_fail(condition) && is_harmless(each),
            Self::Project(_, each, false) => is_harmless(each),
            _ => false,
        }
    }
}

/// A list that stays what it is until the end of the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StableList {
    /// Of the event.
    Event(TapeIndex),
    /// Of what is kept.
    Kept(Run),
}

/// The lists that were gone over, each with what is under one key of its elements.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyTables {
    tables: Vec<KeyTable>,
    /// How many of them hold a list of this event.
    used: usize,
    /// Which one is taken next where all do.
    oldest: usize,
}

#[derive(Clone, Debug, Default)]
struct KeyTable {
    list: Option<StableList>,
    key: Option<WantedKey>,
    entries: Vec<KeyEntry>,
}

/// An element with a string under the key.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyEntry {
    /// The string, as a value.
    pub(super) text: Val,
    pub(super) element: Val,
}

/// The table of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyTablePlace(usize);

impl KeyTables {
    /// Forgets all lists: what is looked up from now on is in another event.
    pub(super) fn begin(&mut self) {
        (self.used, self.oldest) = (0, 0);
        if self.tables.iter().map(|table| table.entries.capacity()).sum::<usize>() > KEPT_ELEMENTS {
            self.tables = Vec::new();
        }
    }

    /// Bytes that are held on to.
    pub(super) fn capacity(&self) -> usize {
        let entries = self.tables.iter().map(|table| table.entries.capacity()).sum::<usize>();
        entries * size_of::<KeyEntry>()
    }

    /// The table of a list, where it was gone over for that key.
    pub(super) fn known(&self, list: StableList, key: &WantedKey) -> Option<KeyTablePlace> {
        let is_same =
            |table: &KeyTable| table.list == Some(list) && table.key.as_ref() == Some(key);
        // The list that was gone over last is the likeliest.
        self.tables.get(..self.used)?.iter().rposition(is_same).map(KeyTablePlace)
    }

    /// An empty table for a list that is to be gone over; it counts when that has [ended](Self::end_list).
    pub(super) fn begin_list(&mut self, key: &WantedKey) -> KeyTablePlace {
        let place = if self.used < LISTS {
            self.used += 1;
            self.used - 1
        } else {
            self.oldest = (self.oldest + 1) % LISTS;
            self.oldest
        };
        if self.tables.len() <= place {
            self.tables.resize_with(place + 1, KeyTable::default);
        }
        if let Some(table) = self.tables.get_mut(place) {
            table.list = None;
            if table.key.as_ref() != Some(key) {
                table.key = Some(key.clone());
            }
            table.entries.clear();
        }
        KeyTablePlace(place)
    }

    pub(super) fn push(&mut self, place: KeyTablePlace, entry: KeyEntry) {
        if let Some(table) = self.tables.get_mut(place.0) {
            table.entries.push(entry);
        }
    }

    pub(super) fn end_list(&mut self, place: KeyTablePlace, list: StableList) {
        if let Some(table) = self.tables.get_mut(place.0) {
            table.list = Some(list);
        }
    }

    /// The elements of a table.
    pub(super) fn entries(&self, place: KeyTablePlace) -> &[KeyEntry] {
        self.tables.get(place.0).map_or(&[], |table| &table.entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_lists_are_forgotten_first() {
        let mut tables = KeyTables::default();
        let list = |n: usize| StableList::Event(n as TapeIndex);
        let (key, other) = (WantedKey::new("key"), WantedKey::new("other"));
        for n in 0..3 * LISTS {
            let place = tables.begin_list(&key);
            assert!(tables.known(list(n), &key).is_none());
            tables.push(place, KeyEntry { text: Val::NULL, element: Val::small(7) });
            assert_eq!(tables.entries(place).len(), 1);
            tables.end_list(place, list(n));
        }
        assert!(tables.tables.len() <= LISTS);
        for n in 0..3 * LISTS {
            assert_eq!(tables.known(list(n), &key).is_some(), n >= 2 * LISTS, "{n}");
            assert!(tables.known(list(n), &other).is_none());
        }
        tables.begin();
        assert!(tables.known(list(3 * LISTS - 1), &key).is_none());
    }
}
