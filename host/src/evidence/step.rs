//! Where something is in an event, elements of arrays and entries of objects included.

use serde_json::Value;

use super::dotted;
use crate::plan::expr::{ForEach, Over, Reference};

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

/// Every value of an event that is where these steps lead. Keys by themselves are no values of the event.
pub(crate) fn values_at<'v>(event: &'v Value, steps: &[Step]) -> Vec<&'v Value> {
    let mut values = vec![event];
    for step in steps {
        values = match step {
            Step::Key(key) => {
                values.iter().filter_map(|value| value.as_object()?.get(key)).collect()
            }
            Step::Element => values.iter().filter_map(|it| it.as_array()).flatten().collect(),
            Step::Value => {
                let objects = values.iter().filter_map(|it| it.as_object());
                objects.flat_map(|object| object.values()).collect()
            }
            Step::Name => Vec::new(),
        };
    }
    values
}

/// Steps for people: keys as in a path, an element as `[]`, an entry as `*`.
pub(crate) fn shown_steps(steps: &[Step]) -> String {
    let keys: Option<Vec<String>> = steps.iter().map(Step::key).collect();
    if let Some(keys) = keys {
        return dotted(&keys);
    }
    let mut text = String::new();
    for step in steps {
        let key = match step {
            Step::Element => {
                text.push_str("[]");
                continue;
            }
            Step::Key(key) => dotted(std::slice::from_ref(key)),
            Step::Value => "*".to_owned(),
            Step::Name => "(any key)".to_owned(),
        };
        text.push_str(if text.is_empty() { "" } else { "." });
        text.push_str(&key);
    }
    text
}
