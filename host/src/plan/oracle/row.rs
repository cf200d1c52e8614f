//! What paths start from: the event, and the elements of a `for_each`.

use std::rc::Rc;

use super::json::{EventData, EventJson};
use crate::plan::EVENT_TYPE;
use crate::plan::expr::{ForEach, Level, Over, Reference};

/// The event, and the elements that are gone over, the outer one first.
#[derive(Clone)]
pub(super) struct Row<'e> {
    levels: Vec<Rc<EventJson<'e>>>,
}

impl<'e> Row<'e> {
    pub(super) fn event(event: EventJson<'e>) -> Self {
        Self { levels: vec![Rc::new(event)] }
    }

    /// What paths start from, the event first.
    pub(super) fn levels(&self) -> impl Iterator<Item = &EventJson<'e>> {
        self.levels.iter().map(|level| &**level)
    }

    pub(super) fn event_type(&self) -> Option<&str> {
        match &self.levels.first()?.field(EVENT_TYPE)?.data {
            EventData::String(event_type) => Some(event_type),
            _ => None,
        }
    }

    /// What is at a path.
    pub(super) fn find(&self, reference: &Reference) -> Option<&Rc<EventJson<'e>>> {
        let start = self.levels.get(usize::from(reference.level.0))?;
        reference.path.iter().try_fold(start, |value, key| value.field(key))
    }

    /// The rows of a `for_each`, in the order of the elements; without one there is one row, the event.
    pub(super) fn rows(&self, for_each: Option<&ForEach>) -> Vec<Self> {
        let mut rows = vec![self.clone()];
        for iteration in for_each.into_iter().flat_map(ForEach::levels) {
            rows =
                rows.iter().flat_map(|row| row.elements(iteration.over, &iteration.path)).collect();
        }
        rows
    }

    fn elements(&self, over: Over, path: &[String]) -> Vec<Self> {
        // There are two levels of elements at most.
        let level = Level(if self.levels.len() > 1 { 1 } else { 0 });
        let reference = Reference { path: path.to_vec(), level };
        let elements = match (over, self.find(&reference).map(|value| &value.data)) {
            (Over::Array, Some(EventData::Array(items))) => items.clone(),
            (Over::Entries, Some(EventData::Object(fields))) => {
                fields.iter().map(|(key, value)| Rc::new(EventJson::entry(key, value))).collect()
            }
            _ => Vec::new(),
        };
        let with =
            |element| Self { levels: self.levels.iter().cloned().chain([element]).collect() };
        elements.into_iter().map(with).collect()
    }
}
