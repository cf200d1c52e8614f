//! What paths start from: the event, and the elements of a `for_each`.

use std::rc::Rc;

use super::json::{EventData, EventJson};
use crate::plan::EVENT_TYPE;
use crate::plan::expr::{Empty, ForEach, Iteration, Listed, Over, Reference};

/// The event, and the elements that are gone over, the outer one first.
#[derive(Clone)]
pub(super) struct Row<'e> {
    levels: Vec<Rc<EventJson<'e>>>,
    empty: Empty,
}

impl<'e> Row<'e> {
    pub(super) fn event(event: EventJson<'e>, empty: Empty) -> Self {
        Self { levels: vec![Rc::new(event)], empty }
    }

    /// What an empty string counts as.
    pub(super) fn empty(&self) -> Empty {
        self.empty
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
        let found = reference.path.iter().try_fold(start, |value, key| value.field(key))?;
        let is_empty = matches!(&found.data, EventData::String(text) if text.is_empty());
        (self.empty == Empty::Value || !is_empty).then_some(found)
    }

    /// The rows of a `for_each`, in the order of the elements; without one there is one row, the event.
    pub(super) fn rows(&self, for_each: Option<&ForEach>) -> Vec<Self> {
        let mut rows = vec![self.clone()];
        for iteration in for_each.map(ForEach::levels).unwrap_or_default() {
            rows = rows.iter().flat_map(|row| row.elements(iteration)).collect();
        }
        rows
    }

    /// The rows of the elements of one iteration in what is innermost here.
    fn elements(&self, iteration: &Iteration) -> Vec<Self> {
        let elements = match &iteration.list {
            Listed::At(over, paths) => paths.iter().find_map(|path| self.gone_over(*over, path)),
            Listed::By(query) => match self.query(query) {
                Ok(list) => match EventJson::made(&list, 0).map(|list| list.data) {
                    Some(EventData::Array(items)) => Some(items),
                    _ => None,
                },
                Err(_) => None,
            },
        };
        let with = |element| Self {
            levels: self.levels.iter().cloned().chain([element]).collect(),
            empty: self.empty,
        };
        let rows = elements.into_iter().flatten().map(with);
        rows.filter(|row| iteration.condition.as_ref().is_none_or(|it| row.holds(it))).collect()
    }

    /// The elements of what is at a path; `None` where there is nothing to go over.
    fn gone_over(&self, over: Over, path: &[String]) -> Option<Vec<Rc<EventJson<'e>>>> {
        let innermost = self.levels.last()?;
        let value = path.iter().try_fold(innermost, |value, key| value.field(key))?;
        match (over, &value.data) {
            (Over::Array, EventData::Array(items)) => Some(items.clone()),
            (Over::Entries, EventData::Object(fields)) => {
                let entry = |(key, value): &(String, _)| Rc::new(EventJson::entry(key, value));
                Some(fields.iter().map(entry).collect())
            }
            _ => None,
        }
    }
}
