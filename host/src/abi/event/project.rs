//! One pass over an event that validates all of it and borrows the declared inputs.

use std::ops::Range;
use std::sync::Arc;

use super::declared::{Declared, Take};
use super::element::View;
use super::error::{EventError, Fault};
use super::trie::{Node, Trie};
use super::withhold::Withhold;
use crate::abi::block::Kind;
use crate::abi::section::{Input, Rows, Section, What};
use crate::json::scan::{self, Scan};

/// Where a declared input was found in the event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    /// What kind of value it is; for an input declared `as: truthy`, the kind of the value that was judged.
    pub kind: Kind,
    /// Whether it is a string that holds escapes, so that its text isn't canonical.
    pub escaped: bool,
    /// Offset of the value's first byte in the event.
    pub start: u32,
    /// Offset behind its last byte.
    pub end: u32,
}

/// The inputs of one event, in the order in which they were declared. Reused from event to event.
#[derive(Clone, Debug, Default)]
pub struct Projection {
    /// In the order of the trie.
    slots: Vec<Slot>,
    /// For each node of the trie, its last visit.
    visits: Vec<Visit>,
}

/// The last time that the pass came to a node of the trie.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Visit {
    /// Its number among all visits of nodes with children, from 1; 0 for a leaf, and for a node that wasn't visited.
    number: u32,
    /// The number of the visit of the parent that it was part of.
    within: u32,
}

/// Reads events for one list of declared inputs.
///
/// ```
/// use retort::abi::section::Input;
/// use retort::abi::event::{Projection, Projector};
///
/// let projector = Projector::new(&[Input::json(&["content".into(), "id".into()])]);
/// let mut projection = Projection::default();
/// let event = br#"{"content": {"id": 7, "note": "not copied, but checked"}}"#;
/// projector.project(event, &mut projection)?;
/// let slot = projector.slot(&projection, 0);
/// assert_eq!(&event[slot.start as usize..slot.end as usize], b"7");
/// # Ok::<(), retort::abi::event::EventError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Projector {
    trie: Trie,
    inputs: Vec<Input>,
    rows: Vec<Rows>,
    declared: Declared,
    withheld: Option<Arc<dyn Withhold>>,
    limit: usize,
}

impl Projector {
    /// A projector for these inputs, in this order, for events of up to [`DEFAULT_MAX_EVENT_BYTES`](super::DEFAULT_MAX_EVENT_BYTES).
    /// None of them has rows: see [`of`](Self::of).
    #[must_use]
    pub fn new(inputs: &[Input]) -> Self {
        Self::declared(inputs, &[], None, None)
    }

    /// A projector for all that a section declares.
    #[must_use]
    pub fn of(section: &Section) -> Self {
        Self::declared(section.inputs(), section.rows(), None, None)
    }

    /// A projector for all that a section declares that also notes where the value at `path` is, for the host alone: its
    /// slot is the one behind the last input, and [`len`](Self::len) doesn't count it.
    #[must_use]
    pub fn watching(section: &Section, path: &[String]) -> Self {
        Self::declared(section.inputs(), section.rows(), Some(path), None)
    }

    /// The same for a section that `withheld` was made for, some of whose values are withheld.
    #[must_use]
    pub fn withholding(section: &Section, path: &[String], withheld: Arc<dyn Withhold>) -> Self {
        Self::declared(section.inputs(), section.rows(), Some(path), Some(withheld))
    }

    fn declared(
        inputs: &[Input],
        rows: &[Rows],
        watched: Option<&[String]>,
        withheld: Option<Arc<dyn Withhold>>,
    ) -> Self {
        let (declared, trie) = Declared::new(inputs, rows, watched, withheld.as_deref());
        Self {
            trie,
            inputs: inputs.to_vec(),
            rows: rows.to_vec(),
            declared,
            withheld,
            limit: super::DEFAULT_MAX_EVENT_BYTES,
        }
    }

    /// The same projector for events of up to `bytes` bytes; offsets are 32 bits wide, so 4 GiB is the most.
    #[must_use]
    pub fn with_max_event_bytes(mut self, bytes: usize) -> Self {
        self.limit = bytes.min(u32::MAX as usize);
        self
    }

    /// How many inputs there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inputs.len()
    }

    /// Whether there are no inputs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }

    /// What is at the path of the input that was declared at `index`, as found in the last event read into `projection`, if
    /// the input is that value as it is, or a test of it, and has no rows; absent for any other input. Behind the last one
    /// the value that is [watched](Self::watching), and absent beyond that.
    #[must_use]
    pub fn slot(&self, projection: &Projection, index: usize) -> Slot {
        if index > self.inputs.len() {
            return Slot::default();
        }
        let found = self.slot_of(projection, index);
        match self.declared.cells.get(index).map(|cell| &cell.take) {
            Some(Take::Value(place) | Take::Truthy(place)) => place.shown(found),
            _ => found,
        }
    }

    /// The same for an index that isn't beyond the watched value.
    #[inline(always)]
    pub(crate) fn slot_of(&self, projection: &Projection, index: usize) -> Slot {
        projection.slots.get(self.trie.position(index)).copied().unwrap_or_default()
    }

    /// What the input that was declared at `index` is.
    #[must_use]
    pub fn what(&self, index: usize) -> Option<&What> {
        self.inputs.get(index).map(|input| &input.what)
    }

    /// The inputs, as they were declared.
    pub(crate) fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// The iterations, as they were declared.
    pub(crate) fn rows(&self) -> &[Rows] {
        &self.rows
    }

    /// The inputs and iterations, made ready.
    pub(crate) fn ready(&self) -> &Declared {
        &self.declared
    }

    /// Whether an iteration has no row for the entry with this key.
    pub(crate) fn withholds_entry(&self, iteration: usize, key: &str) -> bool {
        self.withheld.as_ref().is_some_and(|withheld| withheld.entry(iteration, key))
    }

    /// Where the paths that start at the event's root lead.
    pub(crate) fn view<'a>(&'a self, projection: &'a Projection) -> View<'a> {
        View::new(&self.trie, &projection.slots)
    }

    /// Validates `event` from its first byte to its last and notes where the declared inputs are. A key that occurs twice
    /// counts the last time, at every level. What `projection` held before is gone, also after an error.
    ///
    /// # Errors
    /// [`EventError`], when the event is too large, isn't UTF-8, isn't JSON (RFC 8259, with the limits that
    /// [the module](super) states) or isn't an object.
    pub fn project(&self, event: &[u8], projection: &mut Projection) -> Result<(), EventError> {
        let Projection { slots, visits } = projection;
        slots.clear();
        slots.resize(self.trie.len(), Slot::default());
        visits.clear();
        visits.resize(self.trie.nodes().len(), Visit::default());
        super::check_text(event, self.limit)?;
        let start = scan::space(event, 0);
        let end = Walk::new(&self.trie, event, slots, visits).root(start)?;
        let end = scan::space(event, end);
        if end != event.len() {
            return Err(EventError::Syntax { fault: Fault::Trailing, at: end });
        }
        match Kind::of(scan::byte(event, start)) {
            Kind::Object => Ok(()),
            other => Err(EventError::NotObject { found: other.with_article() }),
        }
    }
}

/// The state of one pass.
pub(super) struct Walk<'a> {
    trie: &'a Trie,
    event: &'a [u8],
    slots: &'a mut [Slot],
    visits: &'a mut [Visit],
    /// The number of the last visit.
    last: u32,
    /// Whether a node with children was visited more than once.
    again: bool,
}

impl<'a> Walk<'a> {
    /// A pass that fills these slots, which are all absent, one for each path of the trie.
    pub(super) fn new(
        trie: &'a Trie,
        event: &'a [u8],
        slots: &'a mut [Slot],
        visits: &'a mut [Visit],
    ) -> Self {
        Self { trie, event, slots, visits, last: 0, again: false }
    }

    /// The value that the paths start from: the offset behind it.
    pub(super) fn root(&mut self, start: usize) -> Scan<usize> {
        let end = self.value(self.trie.root(), 0, start, 0)?;
        if self.again {
            self.forget_stale();
        }
        Ok(end)
    }

    /// An object that the paths start from, which has the keys `key`, whose text begins at one offset, and `value`, whose
    /// text begins at another one: where both texts are.
    pub(super) fn entry(&mut self, key: usize, value: usize) -> Scan<(Range<usize>, Range<usize>)> {
        const NUMBER: u32 = 1;
        let (trie, event) = (self.trie, self.event);
        let root = trie.root();
        self.last = NUMBER;
        if let Some(visit) = self.visits.get_mut(root.index()) {
            visit.number = NUMBER;
        }
        let mut member = |name: &[u8], start: usize| -> Scan<Range<usize>> {
            let end = match trie.child(root, name, 0..name.len()) {
                Some(child) => self.value(child, NUMBER, start, 0)?,
                None => scan::value(event, start, 0)?.0,
            };
            Ok(start..end)
        };
        let found = (member(b"key", key)?, member(b"value", value)?);
        if self.again {
            self.forget_stale();
        }
        Ok(found)
    }

    /// A value that inputs point to or into, found during the visit `within` of the parent. Recursion is as deep as the
    /// longest declared path at most.
    fn value(&mut self, node: &Node, within: u32, start: usize, depth: usize) -> Scan<usize> {
        let first = scan::byte(self.event, start);
        let mut visit = Visit { number: 0, within };
        if node.has_children() {
            // Every visit takes bytes of the event, of which there are fewer than 4 GiB.
            self.last += 1;
            visit.number = self.last;
        }
        if let Some(last) = self.visits.get_mut(node.index()) {
            self.again |= last.number != 0;
            *last = visit;
        }
        let (end, escaped) = if visit.number != 0 && first == b'{' {
            (self.object(node, visit.number, start, depth + 1)?, false)
        } else {
            scan::value(self.event, start, depth)?
        };
        if let Some(slots) = self.slots.get_mut(node.own()) {
            // The limit on an event's size keeps offsets within 32 bits.
            let (start, end) = (start as u32, end as u32);
            slots.fill(Slot { kind: Kind::of(first), escaped, start, end });
        }
        Ok(end)
    }

    /// Clears what an earlier member of the same name has left below the last one. Done once, at the end, so that a key
    /// that is repeated a million times costs no more than any other million keys.
    fn forget_stale(&mut self) {
        // Parents come before their children.
        for node in self.trie.nodes().iter().skip(1) {
            let parent = self.visits.get(node.parent()).copied().unwrap_or_default();
            if let Some(visit) = self.visits.get_mut(node.index())
                && visit.within != parent.number
            {
                *visit = Visit::default();
                if let Some(slots) = self.slots.get_mut(node.own()) {
                    slots.fill(Slot::default());
                }
            }
        }
    }

    /// An object some of whose members are wanted.
    fn object(&mut self, node: &Node, visit: u32, start: usize, depth: usize) -> Scan<usize> {
        let event = self.event;
        if depth > scan::MAX_DEPTH {
            return scan::fault(Fault::Depth, start);
        }
        let mut at = scan::token(event, start + 1);
        if scan::byte(event, at) == b'}' {
            return Ok(at + 1);
        }
        loop {
            let (from, to, escaped, value) = scan::key(event, at)?;
            let value = scan::token(event, value);
            let child = if escaped {
                self.trie.child_escaped(node, event.get(from..to).unwrap_or_default())
            } else {
                self.trie.child(node, event, from..to)
            };
            let end = match child {
                Some(child) => self.value(child, visit, value, depth)?,
                None => scan::value(event, value, depth)?.0,
            };
            let (more, behind) = scan::next(event, end, b'}')?;
            at = behind;
            if !more {
                return Ok(at);
            }
        }
    }
}
