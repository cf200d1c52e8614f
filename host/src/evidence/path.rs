//! Where something is in an event: paths of keys, and steps, which lead to elements of arrays and entries of objects too.

use serde_json::Value;

use crate::diagnostics::untrusted::quoted;
use crate::plan::expr::query::Step;
use crate::plan::expr::{ForEach, Iteration, Over, Query, Reference};

/// Object keys from an event's root to a value.
pub type Path = Vec<String>;

/// The value at a path, if there is one. An absent key and a value that isn't an object on the way are both absence.
#[must_use]
pub fn at<'v>(event: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(event, |value, key| value.as_object()?.get(key))
}

/// A path for people: joined by dots, and as JSON where a key holds a dot itself.
#[must_use]
pub fn dotted(path: &[String]) -> String {
    if path.iter().any(|key| key.contains('.') || key.is_empty()) {
        return serde_json::to_string(path).unwrap_or_default();
    }
    path.join(".")
}

/// A step from a value to one that it holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathStep {
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

impl PathStep {
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

    /// The steps from the event's root to the elements of an iteration, of its innermost level: to each place where they may
    /// be. What an expression gives, and what is in it, is nowhere in the event.
    #[must_use]
    pub fn elements(for_each: &ForEach) -> Vec<Vec<Self>> {
        Self::elements_with(for_each, |_, _| Vec::new())
    }

    /// The same where the elements that an expression gives count as being where it takes them from, as far as that is known: what
    /// a schema declares there, it declares of them.
    pub(super) fn taken_from(for_each: &ForEach) -> Vec<Vec<Self>> {
        Self::elements_with(for_each, |for_each, query| {
            let Some((level, steps)) = query.elements() else { return Vec::new() };
            let around = for_each.at(level);
            Self::along(around.map_or_else(|| vec![Vec::new()], Self::taken_from), steps)
        })
    }

    /// Each place to which the steps of an expression may lead from these.
    pub(crate) fn along(mut places: Vec<Vec<Self>>, steps: &[Step]) -> Vec<Vec<Self>> {
        let element = |place: &Vec<Self>| [place.as_slice(), &[Self::Element]].concat();
        for step in steps {
            match step {
                Step::Key(key) => {
                    let key = std::slice::from_ref(key);
                    places = places.iter().map(|place| behind(place, key)).collect();
                }
                Step::Each => places = places.iter().map(element).collect(),
                Step::Flat => {
                    let flattened: Vec<_> = places.iter().map(element).collect();
                    places.extend(flattened);
                    places.truncate(ForEach::MAX_PLACES);
                }
            }
        }
        places
    }

    /// `given`: where what an expression of an iteration gives counts as being.
    fn elements_with(
        for_each: &ForEach,
        given: fn(&ForEach, &Query) -> Vec<Vec<Self>>,
    ) -> Vec<Vec<Self>> {
        if let Some(query) = for_each.innermost().query() {
            return given(for_each, query);
        }
        let outside = |outer| Self::elements_with(outer, given);
        let outside = for_each.outer().map_or_else(|| vec![Vec::new()], outside);
        let mut places = Self::paths_from(&outside, for_each.innermost());
        let step = match for_each.innermost().over() {
            Over::Array => Self::Element,
            Over::Entries => Self::Value,
        };
        places.iter_mut().for_each(|steps| steps.push(step.clone()));
        places
    }

    /// The steps to what the innermost level of an iteration goes over: to each place where it may be.
    #[must_use]
    pub fn gone_over(for_each: &ForEach) -> Vec<Vec<Self>> {
        let outside = for_each.outer().map_or_else(|| vec![Vec::new()], Self::elements);
        Self::paths_from(&outside, for_each.innermost())
    }

    fn paths_from(outside: &[Vec<Self>], iteration: &Iteration) -> Vec<Vec<Self>> {
        let paths = iteration.paths();
        outside.iter().flat_map(|steps| paths.iter().map(|path| behind(steps, path))).collect()
    }

    /// The steps from the event's root to what a path inside of an iteration leads to: to each place where that may be.
    #[must_use]
    pub fn resolved(reference: &Reference, for_each: Option<&ForEach>) -> Vec<Vec<Self>> {
        let inside = for_each.filter(|_| !reference.level.is_event());
        let around = inside.map(|it| it.at(reference.level).unwrap_or(it));
        let outside = around.map_or_else(|| vec![Vec::new()], Self::elements);
        outside.iter().map(|steps| behind(steps, &reference.path)).collect()
    }
}

/// Steps with the keys of a path behind them.
fn behind(steps: &[PathStep], path: &[String]) -> Vec<PathStep> {
    let mut all = steps.to_vec();
    append(&mut all, path);
    all
}

/// Adds the keys of a path. Those of an entry are its name, or lead to its value.
fn append(steps: &mut Vec<PathStep>, path: &[String]) {
    let mut keys = path;
    if let (Some(PathStep::Value), Some((first, rest))) = (steps.last(), path.split_first()) {
        match first.as_str() {
            ENTRY_VALUE => keys = rest,
            ENTRY_KEY if rest.is_empty() => {
                steps.pop();
                steps.push(PathStep::Name);
                return;
            }
            // An entry has no other keys, so nothing is ever there.
            _ => {}
        }
    }
    steps.extend(keys.iter().cloned().map(PathStep::Key));
}

/// Every value of an event that is where these steps lead. Keys by themselves are no values of the event.
pub(crate) fn values_at<'v>(event: &'v Value, steps: &[PathStep]) -> Vec<&'v Value> {
    let mut values = vec![event];
    for step in steps {
        values = match step {
            PathStep::Key(key) => {
                values.iter().filter_map(|value| value.as_object()?.get(key)).collect()
            }
            PathStep::Element => values.iter().filter_map(|it| it.as_array()).flatten().collect(),
            PathStep::Value => {
                let objects = values.iter().filter_map(|it| it.as_object());
                objects.flat_map(|object| object.values()).collect()
            }
            PathStep::Name => Vec::new(),
        };
    }
    values
}

/// The elements of an iteration for people.
pub(crate) fn shown_elements(for_each: &ForEach) -> String {
    if let Some(query) = for_each.innermost().query() {
        return quoted(query.text());
    }
    let mut places = PathStep::elements(for_each);
    let mut of = String::new();
    if let Some(outer) = for_each.outer().filter(|_| places.is_empty()) {
        places = PathStep::elements(&ForEach::new(for_each.innermost().clone()));
        of = format!(" of {}", shown_elements(outer));
    }
    let places: Vec<String> = places.iter().map(|it| quoted(&shown_steps(it))).collect();
    places.join(" or ") + &of
}

/// Steps for people: keys as in a path, an element as `[]`, an entry as `*`.
pub(crate) fn shown_steps(steps: &[PathStep]) -> String {
    let keys: Option<Vec<String>> = steps.iter().map(PathStep::key).collect();
    if let Some(keys) = keys {
        return dotted(&keys);
    }
    let mut text = String::new();
    for step in steps {
        let key = match step {
            PathStep::Element => {
                text.push_str("[]");
                continue;
            }
            PathStep::Key(key) => dotted(std::slice::from_ref(key)),
            PathStep::Value => "*".to_owned(),
            PathStep::Name => "(any key)".to_owned(),
        };
        text.push_str(if text.is_empty() { "" } else { "." });
        text.push_str(&key);
    }
    text
}
