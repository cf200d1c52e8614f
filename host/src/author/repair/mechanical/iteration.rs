//! What paths start from.

use serde_json::Value;

use crate::plan::expr::{ForEach, Iteration, Level, Over};

/// What paths start from: the event, or the elements of an iteration.
#[derive(Clone, Debug)]
pub(super) enum IterationScope {
    Event,
    Elements(ForEach),
    /// A `for_each` that can't be read.
    Unreadable,
}

impl IterationScope {
    /// By the `for_each` of an object, if it has one.
    pub(super) fn of(object: &Value) -> Self {
        match object.get("for_each") {
            None => Self::Event,
            Some(written) => read_for_each(written).map_or(Self::Unreadable, Self::Elements),
        }
    }

    /// The iteration, if there is one that can be read.
    pub(super) fn for_each(&self) -> Option<&ForEach> {
        match self {
            Self::Elements(for_each) => Some(for_each),
            Self::Event | Self::Unreadable => None,
        }
    }

    /// The innermost level.
    pub(super) fn level(&self) -> Level {
        self.for_each().map_or(Level::EVENT, ForEach::level)
    }

    /// The level at which the path of an object starts, by its `from`.
    pub(super) fn level_of(&self, object: &Value) -> Level {
        match object.get("from").and_then(Value::as_str) {
            Some("event") => Level::EVENT,
            Some("parent") => Level(self.level().0.saturating_sub(1)),
            _ => self.level(),
        }
    }

    /// The one that is further inside.
    pub(super) fn innermost(self, other: Self) -> Self {
        match (&self, &other) {
            (Self::Unreadable, _) | (_, Self::Unreadable) => Self::Unreadable,
            _ if other.level() > self.level() => other,
            _ => self,
        }
    }
}

/// A `for_each`, if it can be read.
fn read_for_each(written: &Value) -> Option<ForEach> {
    match written.get("for_each") {
        Some(inner) if inner.get("for_each").is_some() => None,
        Some(inner) => Some(ForEach::new(read_iteration(written)?, Some(read_iteration(inner)?))),
        None => Some(ForEach::new(read_iteration(written)?, None)),
    }
}

/// The outer iteration of a `for_each` alone, if it can be read.
pub(super) fn read_iteration(written: &Value) -> Option<Iteration> {
    let (over, path) = match (written.get("array"), written.get("entries")) {
        (Some(path), None) => (Over::Array, path),
        (None, Some(path)) => (Over::Entries, path),
        _ => return None,
    };
    Some(Iteration { over, path: serde_json::from_value(path.clone()).ok()? })
}
