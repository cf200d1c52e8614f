//! One pass over an event that validates all of it and borrows the declared inputs.

use std::sync::Arc;

use super::declared::{InputSource, PreparedSection};
use super::element::View;
use super::error::{EventError, Fault};
use super::trie::Trie;
use super::walk::{Visit, Walk};
use super::withhold::Withhold;
use crate::abi::section::{Input, InputKind, Rows, Section};
use crate::abi::slot::{Slot, SlotKind};
use crate::json::scan;
use crate::json::tape::{Doc, MAX_TEXT_BYTES, Tape};
use crate::plan::expr::Empty;

/// The inputs of one event, in the order in which they were declared. Reused from event to event.
#[derive(Clone, Debug, Default)]
pub struct Projection {
    /// In the order of the trie.
    slots: Vec<Slot>,
    /// For each node of the trie, its last visit.
    visits: Vec<Visit>,
    /// What is gone over later.
    tape: Tape,
}

impl Projection {
    /// Gives up what the last event has taken beyond `kept` bytes, so that one large event isn't paid for by all that come after it.
    pub fn release(&mut self, kept: usize) {
        if self.tape.capacity() > kept {
            self.tape = Tape::default();
        }
    }

    /// Where the paths that start at the event's root lead, in the event that was read last.
    pub(crate) fn view<'a>(&'a self, event: &'a [u8]) -> View<'a> {
        // What was projected is UTF-8.
        let text = simdutf8::basic::from_utf8(event).unwrap_or_default();
        View::new(&self.slots, Doc { text, tape: &self.tape })
    }
}

/// Reads events for one list of declared inputs.
///
/// ```
/// use retort::internal::{event::{Projection, Projector}, section::Input};
///
/// let projector = Projector::new(&[Input::json(&["content".into(), "id".into()])]);
/// let mut projection = Projection::default();
/// let event = br#"{"content": {"id": 7, "note": "not copied, but checked"}}"#;
/// projector.project(event, &mut projection)?;
/// let slot = projector.slot(&projection, 0);
/// assert_eq!(&event[slot.start as usize..slot.end as usize], b"7");
/// # Ok::<(), retort::sandbox::EventError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Projector {
    trie: Trie,
    inputs: Vec<Input>,
    rows: Vec<Rows>,
    declared: PreparedSection,
    withheld: Option<Arc<dyn Withhold>>,
    limit: usize,
}

/// What a section declares of what is read.
fn all_of(section: &Section) -> (&[Input], &[Rows], Empty) {
    (section.inputs(), section.rows(), section.empty())
}

impl Projector {
    /// A projector for these inputs, in this order, for events of up to [`DEFAULT_MAX_EVENT_BYTES`](super::DEFAULT_MAX_EVENT_BYTES).
    /// None of them has rows: see [`of`](Self::of).
    #[must_use]
    pub fn new(inputs: &[Input]) -> Self {
        Self::declared((inputs, &[], Empty::Value), None, None)
    }

    /// A projector for all that a section declares.
    #[must_use]
    pub fn of(section: &Section) -> Self {
        Self::declared(all_of(section), None, None)
    }

    /// A projector for all that a section declares that also notes where the value at `path` is, for the host alone: its
    /// slot is the one after the last input, and [`len`](Self::len) doesn't count it.
    #[must_use]
    pub fn watching(section: &Section, path: &[String]) -> Self {
        Self::declared(all_of(section), Some(path), None)
    }

    /// The same for a section that `withheld` was made for, some of whose values are withheld.
    #[must_use]
    pub fn withholding(section: &Section, path: &[String], withheld: Arc<dyn Withhold>) -> Self {
        Self::declared(all_of(section), Some(path), Some(withheld))
    }

    fn declared(
        (inputs, rows, empty): (&[Input], &[Rows], Empty),
        watched: Option<&[String]>,
        withheld: Option<Arc<dyn Withhold>>,
    ) -> Self {
        let (declared, trie) =
            PreparedSection::new(inputs, rows, watched, withheld.as_deref(), empty);
        Self {
            trie,
            inputs: inputs.to_vec(),
            rows: rows.to_vec(),
            declared,
            withheld,
            limit: super::DEFAULT_MAX_EVENT_BYTES,
        }
    }

    /// The same projector for events of up to `bytes` bytes; offsets are 31 bits wide, so 2 GiB is the most.
    #[must_use]
    pub fn with_max_event_bytes(mut self, bytes: usize) -> Self {
        self.limit = bytes.min(MAX_TEXT_BYTES);
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
        match self.declared.prepared.get(index).map(|it| &it.source) {
            Some(InputSource::Value(place) | InputSource::Truthy(place)) => place.read(found),
            _ => found,
        }
    }

    /// The same for an index that isn't beyond the watched value.
    #[inline(always)]
    pub(crate) fn slot_of(&self, projection: &Projection, index: usize) -> Slot {
        projection.slots.get(self.trie.position(index) as usize).copied().unwrap_or_default()
    }

    /// What the input that was declared at `index` is.
    #[must_use]
    pub fn what(&self, index: usize) -> Option<&InputKind> {
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
    pub(crate) fn ready(&self) -> &PreparedSection {
        &self.declared
    }

    /// Whether an iteration has no row for the entry with this key.
    pub(crate) fn withholds_entry(&self, iteration: usize, key: &str) -> bool {
        self.withheld.as_ref().is_some_and(|withheld| withheld.entry(iteration, key))
    }

    /// Validates `event` from its first byte to its last and notes where the declared inputs are. A key that occurs twice
    /// counts the last time, at every level. What `projection` held before is gone, also after an error.
    ///
    /// # Errors
    /// [`EventError`], when the event is too large, isn't UTF-8, isn't JSON (RFC 8259, with the limits that
    /// [the module](super) states) or isn't an object.
    pub fn project(&self, event: &[u8], projection: &mut Projection) -> Result<(), EventError> {
        let Projection { slots, visits, tape } = projection;
        tape.clear();
        slots.clear();
        slots.resize(self.trie.len(), Slot::default());
        visits.clear();
        visits.resize(self.trie.nodes().len(), Visit::default());
        super::check_text(event, self.limit)?;
        let start = scan::space(event, 0);
        let end = Walk::new(&self.trie, event, slots, visits).root(start, tape)?;
        let end = scan::space(event, end);
        if end != event.len() {
            return Err(EventError::Syntax { fault: Fault::Trailing, at: end });
        }
        match SlotKind::of(scan::byte(event, start)) {
            SlotKind::Object => Ok(()),
            other => Err(EventError::NotObject { found: other.with_article() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_event_leaves_no_large_tape_behind() {
        const KEPT: usize = 1 << 20;
        let rows = br#"{"abi":1,"function":"f","event_types":["e"],"rows":[{"array":["a"]}],"inputs":[{"path":[],"level":1,"rows":0}]}"#;
        let projector = Projector::of(&Section::parse(rows).expect("a section"));
        let mut projection = Projection::default();
        let mut held = |values: usize| {
            let event = format!(r#"{{"b":[{0}1],"a":[{0}1]}}"#, "1,".repeat(values));
            projector.project(event.as_bytes(), &mut projection).expect("an event");
            let before = projection.tape.capacity();
            projection.release(KEPT);
            (before, projection.tape.capacity())
        };
        let (before, after) = held(100_000);
        // What isn't gone over isn't noted.
        assert!((KEPT..3 * KEPT).contains(&before), "{before}");
        assert_eq!(after, 0);
        let (before, after) = held(10);
        assert!(before > 0 && before == after, "a small event's tape is kept");
    }
}
