//! Where something is in an event, elements of arrays and entries of objects included.

use crate::expr::{ForEach, Over, Reference};

/// A step from a value to one that it holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// What is at this key of an object.
    Key(String),
    /// Any element of an array.
    Element,
    /// What is at any key of an object.
    Value,
    /// Any key of an object, by itself.
    Name,
}

/// The key of an entry's name, and that of its value, where a `for_each` goes over the entries of an object.
pub(crate) const ENTRY_KEY: &str = "key";
pub(crate) const ENTRY_VALUE: &str = "value";

impl Step {
    /// The key, where it is one.
    pub(crate) fn key(&self) -> Option<String> {
        match self {
            Self::Key(key) => Some(key.clone()),
            Self::Element | Self::Value | Self::Name => None,
        }
    }

    /// The steps of a path.
    #[must_use]
    pub fn keys(path: &[String]) -> Vec<Self> {
        path.iter().cloned().map(Self::Key).collect()
    }

    /// The steps from the event's root to the elements of an iteration, of its innermost level.
    #[must_use]
    pub fn elements(for_each: &ForEach) -> Vec<Self> {
        let element = Reference { path: Vec::new(), level: for_each.level() };
        Self::resolved(&element, Some(for_each))
    }

    /// The steps from the event's root to what a path inside of an iteration leads to.
    #[must_use]
    pub fn resolved(reference: &Reference, for_each: Option<&ForEach>) -> Vec<Self> {
        let mut steps = Vec::new();
        let iterations = for_each.into_iter().flat_map(ForEach::levels);
        for iteration in iterations.take(usize::from(reference.level.0)) {
            append(&mut steps, &iteration.path);
            steps.push(match iteration.over {
                Over::Array => Self::Element,
                Over::Entries => Self::Value,
            });
        }
        append(&mut steps, &reference.path);
        steps
    }
}

/// Adds the keys of a path. Those of an entry are its name, or lead to its value.
fn append(steps: &mut Vec<Step>, path: &[String]) {
    let mut keys = path;
    if let (Some(Step::Value), Some((first, rest))) = (steps.last(), path.split_first()) {
        match first.as_str() {
            ENTRY_VALUE => keys = rest,
            ENTRY_KEY if rest.is_empty() => {
                steps.pop();
                steps.push(Step::Name);
                return;
            }
            // An entry has no other keys, so nothing is ever there.
            _ => {}
        }
    }
    steps.extend(keys.iter().cloned().map(Step::Key));
}
