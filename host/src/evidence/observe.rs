//! What occurs in sample events.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};

use super::path::{ENTRY_KEY, ENTRY_VALUE, Path, PathStep, at};
use super::query::SampleQuery;
use super::redact::{self, MAX_DEPTH};
use super::sample_index::SampleIndex;
use super::unfold::json_in;
use crate::evidence::Sample;
use crate::evidence::effort::StepBudget;
use crate::json::{JsonKind, JsonKinds};
use crate::plan::expr::query::Step;
use crate::plan::expr::{Empty, ForEach, Iteration, Level, Over, Query};

/// How many paths of one event type are listed. Events whose keys are data have no end of them.
const MAX_PATHS: usize = 20_000;

/// How long a path is that is listed, all its keys together, in bytes. Longer ones are no names, and a list of them is as
/// long as all that they have in common, once for each.
const MAX_PATH_BYTES: usize = 1_000;

/// How many elements of one event type are looked at, inside of a `for_each`.
const MAX_ELEMENTS: usize = 10_000;

/// How much memory they may take, in bytes, for all event types together: each holds what it holds by itself, and the same
/// values are inside of several arrays.
pub(super) const MAX_ELEMENTS_BYTES: u64 = 32 << 20;

/// How much fuel a byte of that memory stands for, where an expression gives what is gone over.
const FUEL_PER_BYTE: u64 = 16;

/// How many distinct values of a path are kept.
const MAX_EXAMPLES: usize = 8;

/// How much of what is at a path may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// All of it.
    Shown,
    /// The fields of an object, and the elements of an array, each by where it is.
    Partly,
    /// Nothing.
    Hidden,
}

/// A sample event, parsed; or an element of one, which stands for an event inside of a `for_each`.
#[derive(Clone, Debug)]
pub struct Seen {
    pub(super) line: usize,
    pub(super) bytes: usize,
    pub(super) event: Arc<Value>,
    /// The event that an element is of, and the elements of the iterations outside.
    pub(super) outer: Vec<Arc<Value>>,
    /// What is left of it for whoever may not see everything, where that is less.
    pub(super) shown: Option<Value>,
    /// Where it is in the event, without the elements: keys tell which values are about people.
    pub(super) root: Path,
    pub(super) text: OnceLock<String>,
}

impl Seen {
    /// The line of the sample, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// How long its line is, in bytes; of an element, how long it is by itself.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The event as it is shown, to a model too: its values redacted, without what is
    /// [hidden](super::Evidence::hide). Computed when it is first asked for.
    #[must_use]
    pub fn text(&self) -> &str {
        self.text.get_or_init(|| redact::value(&self.root, self.visible()))
    }

    /// The event as far as it may be shown, its values as they are.
    pub(crate) fn visible(&self) -> &Value {
        self.shown.as_ref().unwrap_or(self.event.as_ref())
    }

    /// The event, all of it.
    #[must_use]
    pub fn event(&self) -> &Value {
        &self.event
    }

    /// What paths of a level start at: the event itself at the first; of an element, what it is in, and at its own level
    /// the element.
    #[must_use]
    pub fn at_level(&self, level: Level) -> Option<&Value> {
        let levels = self.outer.iter().chain(std::iter::once(&self.event));
        levels.map(Arc::as_ref).nth(usize::from(level.0))
    }

    /// What an iteration goes over, each as a sample of its own, `most` at most; and whether that is all. What they take in
    /// memory is taken from the effort.
    fn elements(&self, for_each: &ForEach, most: usize, effort: &StepBudget) -> (Vec<Self>, bool) {
        let itself = (self.outer.clone(), self.event.clone(), self.shown.clone(), Path::new());
        let mut found = vec![itself];
        let mut all = true;
        for iteration in for_each.levels() {
            let mut inner = Vec::new();
            for (outer, event, shown, root) in found {
                let outer: Vec<_> = outer.into_iter().chain([event.clone()]).collect();
                let made = match iteration.query().map(|query| self.made(query, &outer, effort)) {
                    None => None,
                    Some(Some(made)) => Some(made),
                    Some(None) => {
                        all = false;
                        break;
                    }
                };
                let found = match (iteration.query(), &made) {
                    (Some(query), Some(Value::Array(made))) => {
                        Some((keys_of(query), items(made).collect()))
                    }
                    (Some(_), _) => None,
                    (None, _) => elements(&event, iteration),
                };
                let Some((path, elements)) = found else { continue };
                let root = [root.as_slice(), &path].concat();
                for element in elements {
                    let bytes = element.size() * if shown.is_some() { 2 } else { 1 };
                    if inner.len() == most || !effort.take(bytes) {
                        all = false;
                        break;
                    }
                    // What an expression makes of what is hidden is hidden, too.
                    let left = |shown| match iteration.query() {
                        None => element.shown(shown, &path),
                        Some(_) => Value::Null,
                    };
                    let shown = shown.as_ref().map(left);
                    inner.push((outer.clone(), Arc::new(element.value()), shown, root.clone()));
                }
            }
            found = inner;
        }
        let seen = found.into_iter().map(|(outer, event, shown, root)| Self {
            line: self.line,
            bytes: event.to_string().len(),
            event,
            outer,
            shown,
            root,
            text: OnceLock::new(),
        });
        (seen.collect(), all)
    }

    /// What an expression gives in an element, null where that fails; `None` where there is no effort left to tell.
    fn made(&self, query: &Query, levels: &[Arc<Value>], effort: &StepBudget) -> Option<Value> {
        let query = SampleQuery::new(query, Empty::Value);
        let given = effort.left().saturating_mul(FUEL_PER_BYTE).min(SampleQuery::fuel(self));
        let mut fuel = given;
        let level = |level: Level| levels.get(usize::from(level.0)).map(Arc::as_ref);
        let made = query.over(level, &mut fuel);
        let made = made.map(Option::unwrap_or_default).ok();
        made.filter(|_| effort.take((given - fuel).div_ceil(FUEL_PER_BYTE)))
    }
}

/// The keys of what an expression reads. It is the last that tells whether values are about people, so that one that says so is
/// there.
fn keys_of(query: &Query) -> Path {
    let keys = query.keys().iter().filter_map(|key| match key.steps.last()? {
        Step::Key(name) => Some(name.clone()),
        Step::Each | Step::Flat => None,
    });
    let mut keys: Path = keys.collect();
    keys.sort_by_key(|key| redact::is_personal(key));
    keys
}

/// The elements of an array.
fn items(elements: &[Value]) -> impl Iterator<Item = Element<'_>> {
    elements.iter().enumerate().map(|(index, it)| Element::Item(index, it))
}

/// What a value takes by itself, and what each eleven fields of an object do.
const VALUE_BYTES: u64 = 32;
const FIELDS_BYTES: u64 = 640;

/// About how many bytes of memory a value takes. Values are as deep as JSON is read.
fn size(value: &Value) -> u64 {
    let inner: u64 = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len() as u64,
        Value::Array(elements) => elements.iter().map(size).sum(),
        Value::Object(fields) => {
            let nodes = (fields.len() as u64).div_ceil(11) * FIELDS_BYTES;
            nodes + fields.iter().map(|(key, it)| key.len() as u64 + size(it)).sum::<u64>()
        }
    };
    VALUE_BYTES + inner
}

/// What an iteration goes over in one value.
#[derive(Clone, Copy)]
enum Element<'v> {
    /// An element of an array, and which one it is.
    Item(usize, &'v Value),
    /// An entry of an object.
    Entry(&'v str, &'v Value),
}

impl Element<'_> {
    fn value(self) -> Value {
        match self {
            Self::Item(_, value) => value.clone(),
            Self::Entry(key, value) => entry(key, value),
        }
    }

    /// About how much memory its value takes.
    fn size(self) -> u64 {
        match self {
            Self::Item(_, value) => size(value),
            Self::Entry(key, value) => key.len() as u64 + size(value) + size(&json!({"": null})),
        }
    }

    /// What is left of this element in `shown`, which is what is left of the value that holds it at a path.
    fn shown(self, shown: &Value, path: &[String]) -> Value {
        let left = match (self, at(shown, path)) {
            (Self::Item(index, _), Some(Value::Array(elements))) => elements.get(index).cloned(),
            (Self::Entry(key, _), Some(Value::Object(fields))) => {
                fields.get_key_value(key).map(|(key, value)| entry(key, value))
            }
            _ => None,
        };
        left.unwrap_or_default()
    }
}

/// What an iteration goes over in a value, and the path to it; `None` where there is nothing.
fn elements<'v>(value: &'v Value, iteration: &Iteration) -> Option<(Path, Vec<Element<'v>>)> {
    iteration.paths().iter().find_map(|path| {
        let elements = match (iteration.over(), at(value, path)?) {
            (Over::Array, Value::Array(elements)) => items(elements).collect(),
            (Over::Entries, Value::Object(fields)) => {
                fields.iter().map(|(key, it)| Element::Entry(key, it)).collect()
            }
            _ => return None,
        };
        Some((path.clone(), elements))
    })
}

/// An entry of an object, as it is seen inside of a `for_each`.
fn entry(key: &str, value: &Value) -> Value {
    json!({ENTRY_KEY: key, ENTRY_VALUE: value})
}

/// What was seen at one path, over the samples of an event type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    /// In how many samples the path is there, null included.
    pub present: usize,
    /// The kinds of its values.
    pub kinds: JsonKinds,
    /// How many different scalars there are, null not counted.
    pub distinct: usize,
    /// The first eight different scalars, null not counted, in the order of the samples.
    pub examples: Vec<Value>,
}

/// The samples of one event type.
#[derive(Clone, Debug, Default)]
pub struct SampleEvents {
    samples: Vec<Seen>,
    index: SampleIndex,
    observed: BTreeMap<Path, Observed>,
    /// The scalars that were seen at each path, by their hashes: to keep them all would take as much as the samples.
    scalars: BTreeMap<Path, HashSet<u64>>,
    is_cut: bool,
}

impl SampleEvents {
    pub(super) fn add(&mut self, sample: &Sample) {
        // Samples are JSON: whoever made them has parsed them.
        let Ok(event) = serde_json::from_str::<Value>(sample.text()) else { return };
        self.index.add(self.samples.len(), &event);
        self.observe(&mut Path::new(), &event);
        let (line, bytes, text) = (sample.line(), sample.text().len(), OnceLock::new());
        let (event, outer, root) = (Arc::new(event), Vec::new(), Path::new());
        self.samples.push(Seen { line, bytes, event, outer, shown: None, root, text });
    }

    /// What an iteration goes over in these samples, as samples of their own, in their order; `None` where there is nothing.
    /// Beyond 10,000 elements, and where the effort is over, they are [cut](Self::is_cut).
    pub(super) fn elements(&self, for_each: &ForEach, effort: &StepBudget) -> Option<Self> {
        let (mut all, mut is_cut) = (Vec::new(), self.is_cut);
        for seen in self.samples() {
            let room = MAX_ELEMENTS - all.len();
            let (elements, are_all) = seen.elements(for_each, room, effort);
            is_cut |= !are_all;
            all.extend(elements);
        }
        let found = Self { is_cut, ..Self::of_elements(all) };
        (found.is_cut || !found.samples.is_empty()).then_some(found)
    }

    /// Elements as samples of their own: of each, what it is itself is known too.
    pub(super) fn of_elements(elements: impl IntoIterator<Item = Seen>) -> Self {
        let mut found = Self::default();
        for element in elements {
            found.note(&Path::new(), &element.event);
            found.index.add(found.samples.len(), &element.event);
            found.observe(&mut Path::new(), &element.event);
            found.samples.push(element);
        }
        found.scalars.clear();
        found
    }

    /// Whether there are more of them than are looked at, so that what isn't seen may be there all the same.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The samples of several event types as those of one.
    #[must_use]
    pub fn together<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut together = Self::default();
        for events in all {
            together.is_cut |= events.is_cut;
            let has_root = events.observed.contains_key(&Path::new());
            for seen in &events.samples {
                if has_root {
                    together.note(&Path::new(), &seen.event);
                }
                together.index.add(together.samples.len(), &seen.event);
                together.observe(&mut Path::new(), &seen.event);
                together.samples.push(seen.clone());
            }
        }
        together.scalars.clear();
        together
    }

    /// No more samples are added: what was kept to count values goes.
    pub(super) fn settle(&mut self) {
        self.scalars = BTreeMap::new();
    }

    fn observe(&mut self, path: &mut Path, value: &Value) {
        if !path.is_empty() && !self.note(path, value) {
            return;
        }
        let Value::Object(fields) = value else { return };
        if path.len() == MAX_DEPTH {
            return;
        }
        for (key, value) in fields {
            path.push(key.clone());
            self.observe(path, value);
            path.pop();
        }
    }

    /// Adds to what is known of a path; whether there is room.
    fn note(&mut self, path: &Path, value: &Value) -> bool {
        let is_long = || path.iter().map(String::len).sum::<usize>() > MAX_PATH_BYTES;
        let is_full = self.observed.len() >= MAX_PATHS;
        if (is_full || is_long()) && !self.observed.contains_key(path) {
            return false;
        }
        let observed = self.observed.entry(path.clone()).or_default();
        observed.present += 1;
        observed.kinds.insert(JsonKind::of(value));
        if !matches!(value, Value::Null | Value::Array(_) | Value::Object(_)) {
            let mut hasher = DefaultHasher::new();
            value.to_string().hash(&mut hasher);
            if self.scalars.entry(path.clone()).or_default().insert(hasher.finish()) {
                observed.distinct += 1;
                if observed.examples.len() < MAX_EXAMPLES {
                    observed.examples.push(value.clone());
                }
            }
        }
        true
    }

    /// Takes what is denied out of the texts of the samples.
    pub(super) fn hide(&mut self, visibility: &dyn Fn(&[PathStep]) -> Visibility) {
        for seen in &mut self.samples {
            let mut shown = Value::clone(&seen.event);
            if remove(&mut shown, &mut Vec::new(), visibility) {
                seen.shown = Some(shown);
                seen.text = OnceLock::new();
            }
        }
    }

    /// The samples, in the order in which they were read; never empty.
    pub fn samples(&self) -> std::slice::Iter<'_, Seen> {
        self.samples.iter()
    }

    /// How many samples there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.samples.len()
    }

    /// What was seen, by path: objects and arrays included, nothing inside of arrays, at most 20,000 paths of at most 1,000
    /// bytes each. Of elements, the empty path is there too, for the element itself.
    #[must_use]
    pub fn observed(&self) -> &BTreeMap<Path, Observed> {
        &self.observed
    }

    /// How many paths there are that [`observed`](Self::observed) leaves out.
    #[must_use]
    pub fn unlisted(&self) -> usize {
        let listed = self.observed.len() - usize::from(self.observed.contains_key(&Path::new()));
        self.index.paths().saturating_sub(listed)
    }

    /// Whether some sample has a path. Exact, however many paths there are.
    #[must_use]
    pub fn has(&self, path: &[String]) -> bool {
        match self.index.samples(path) {
            Some(samples) => !samples.is_empty(),
            None => self.seen(path).next().is_some(),
        }
    }

    /// The samples in which a path is there, with its value. Exact, however many paths there are.
    pub fn seen<'s, 'p>(
        &'s self,
        path: &'p [String],
    ) -> impl Iterator<Item = (&'s Seen, &'s Value)> + use<'s, 'p> {
        let having = self.index.samples(path);
        let all = if having.is_none() { self.samples.as_slice() } else { &[] };
        let having = having.unwrap_or_default().iter().filter_map(|it| self.samples.get(*it));
        having.chain(all).filter_map(move |seen| Some((seen, at(&seen.event, path)?)))
    }
}

/// Removes what may not be shown; whether there was any. As deep as samples are looked through: what is below goes as a
/// whole.
fn remove(
    value: &mut Value,
    steps: &mut Vec<PathStep>,
    visibility: &dyn Fn(&[PathStep]) -> Visibility,
) -> bool {
    let too_deep = steps.len() == MAX_DEPTH;
    let mut changed = false;
    let mut keep = |step: PathStep, value: &mut Value| {
        steps.push(step);
        let keep = !too_deep && visibility(steps) != Visibility::Hidden;
        changed |= !keep || remove(value, steps, visibility);
        steps.pop();
        keep
    };
    match value {
        Value::Object(fields) => {
            fields.retain(|key, value| keep(PathStep::Key(key.clone()), value));
        }
        Value::Array(elements) => elements.retain_mut(|value| keep(PathStep::Element, value)),
        // What a string holds as JSON is shown as well.
        Value::String(text) if visibility(steps) == Visibility::Partly => {
            if let Some(mut inside) = json_in(text)
                && remove(&mut inside, steps, visibility)
            {
                *text = inside.to_string();
                changed = true;
            }
        }
        _ => {}
    }
    changed
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::remove;
    use crate::gate::policy::FieldPolicy;

    #[test]
    fn what_is_denied_is_removed_from_json_in_strings_too() {
        let policy = r#"{"deny": ["text.email", "list.inside.*.email", "whole"]}"#;
        let policy = FieldPolicy::parse(policy, "policy.json").expect("a policy");
        let inside = json!([{"email": "b", "id": 2}]).to_string();
        let mut shown = json!({"text": "{\"email\":\"a\",\"id\":1}", "list": [{"inside": inside}], "other": "{\"email\":\"c\"}",
            "whole": "{}"});
        assert!(remove(&mut shown, &mut Vec::new(), &|steps| policy.visibility(steps)));
        let left = json!({"text": "{\"id\":1}", "list": [{"inside": "[{\"id\":2}]"}], "other": "{\"email\":\"c\"}"});
        assert_eq!(shown, left);
    }

    #[test]
    fn what_is_denied_is_removed_from_arrays_too() {
        let event = json!({
            "list": [{"email": "a"}], "users": {"list": [{"email": "b"}], "one": {"email": "c", "id": 1}},
            "email": "d", "tags": ["e"],
        });
        let users = |list: Value, one: Value| json!({"list": list, "one": one});
        let one = json!({"email": "c", "id": 1});
        let event_with = |list: Value, users: Value, tags: Value| json!({"list": list, "users": users, "email": "d", "tags": tags});
        for (deny, left) in [
            (
                json!(["users.list.email"]),
                event_with(json!([{"email": "a"}]), users(json!([{}]), one.clone()), json!(["e"])),
            ),
            (
                json!(["users.*.email"]),
                event_with(
                    json!([{"email": "a"}]),
                    users(json!([{}]), json!({"id": 1})),
                    json!(["e"]),
                ),
            ),
            (
                json!(["*.email"]),
                event_with(json!([{}]), users(json!([{"email": "b"}]), one.clone()), json!(["e"])),
            ),
            (
                json!(["list.*.email"]),
                event_with(json!([{}]), users(json!([{"email": "b"}]), one.clone()), json!(["e"])),
            ),
            (
                json!(["tags.*"]),
                event_with(
                    json!([{"email": "a"}]),
                    users(json!([{"email": "b"}]), one.clone()),
                    json!([]),
                ),
            ),
            (json!(["nowhere"]), event.clone()),
        ] {
            let policy = json!({ "deny": deny }).to_string();
            let policy = FieldPolicy::parse(&policy, "policy.json").expect("a policy");
            let mut shown: Value = event.clone();
            let changed = remove(&mut shown, &mut Vec::new(), &|steps| policy.visibility(steps));
            assert_eq!((changed, &shown), (left != event, &left), "{deny}");
        }
    }
}
