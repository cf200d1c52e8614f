//! What occurs in sample events.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use serde_json::Value;

use super::{Kind, Kinds, Path, at, redact};
use crate::task::Sample;

/// How many paths of one event type are listed. Events whose keys are data have no end of them.
const MAX_PATHS: usize = 20_000;

/// How deep samples are looked through.
pub(super) const MAX_DEPTH: usize = 32;

/// How many distinct values of a path are kept.
const MAX_EXAMPLES: usize = 8;

/// How much of what is at a path may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// All of it.
    Shown,
    /// An object's fields, each by its own path. Paths don't lead into arrays, so of an array nothing.
    Partly,
    /// Nothing.
    Hidden,
}

/// A sample event, parsed.
#[derive(Clone, Debug)]
pub struct Seen {
    line: usize,
    bytes: usize,
    event: Value,
    text: OnceLock<String>,
}

impl Seen {
    /// The line of the sample, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// How long its line is, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The event as it is shown, to a model too: its values [redacted](redact::event), without what is
    /// [hidden](super::Evidence::hide). Worked out when it is first asked for.
    #[must_use]
    pub fn text(&self) -> &str {
        self.text.get_or_init(|| redact::event(&self.event))
    }

    /// The event, all of it.
    #[must_use]
    pub fn event(&self) -> &Value {
        &self.event
    }
}

/// What was seen at one path, over the samples of an event type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    /// In how many samples the path is there, null included.
    pub present: usize,
    /// The kinds of its values.
    pub kinds: Kinds,
    /// How many different scalars there are, null not counted.
    pub distinct: usize,
    /// The first eight different scalars, null not counted, in the order of the samples.
    pub examples: Vec<Value>,
}

/// The samples of one event type.
#[derive(Clone, Debug, Default)]
pub struct SampleEvents {
    samples: Vec<Seen>,
    observed: BTreeMap<Path, Observed>,
    scalars: BTreeMap<Path, BTreeSet<String>>,
}

impl SampleEvents {
    pub(super) fn add(&mut self, sample: &Sample) {
        // Samples are JSON: whoever made them has parsed them.
        let Ok(event) = serde_json::from_str::<Value>(sample.text()) else { return };
        self.observe(&mut Path::new(), &event);
        let (line, bytes) = (sample.line(), sample.text().len());
        self.samples.push(Seen { line, bytes, event, text: OnceLock::new() });
    }

    /// The samples of several event types as those of one.
    #[must_use]
    pub fn together<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut together = Self::default();
        for seen in all.into_iter().flat_map(Self::samples) {
            together.observe(&mut Path::new(), &seen.event);
            together.samples.push(seen.clone());
        }
        together
    }

    fn observe(&mut self, path: &mut Path, value: &Value) {
        if !path.is_empty() {
            if self.observed.len() >= MAX_PATHS && !self.observed.contains_key(path) {
                return;
            }
            let observed = self.observed.entry(path.clone()).or_default();
            observed.present += 1;
            observed.kinds.insert(Kind::of(value));
            if !matches!(value, Value::Null | Value::Array(_) | Value::Object(_)) {
                let scalars = self.scalars.entry(path.clone()).or_default();
                if scalars.insert(value.to_string()) {
                    observed.distinct += 1;
                    if observed.examples.len() < MAX_EXAMPLES {
                        observed.examples.push(value.clone());
                    }
                }
            }
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

    /// Takes what is denied out of the texts of the samples.
    pub(super) fn hide(&mut self, visibility: &dyn Fn(&[String]) -> Visibility) {
        for seen in &mut self.samples {
            let mut shown = seen.event.clone();
            if remove(&mut shown, &mut Path::new(), visibility) {
                seen.text = OnceLock::from(redact::event(&shown));
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

    /// What was seen, by path: objects and arrays included, nothing inside of arrays, at most 20,000 paths.
    #[must_use]
    pub fn observed(&self) -> &BTreeMap<Path, Observed> {
        &self.observed
    }

    /// The samples in which a path is there, with its value. Exact, however many paths there are.
    pub fn seen<'s>(&'s self, path: &'s [String]) -> impl Iterator<Item = (&'s Seen, &'s Value)> {
        self.samples.iter().filter_map(move |seen| Some((seen, at(&seen.event, path)?)))
    }
}

/// Removes what may not be shown from objects; whether there was any. As deep as samples are looked through: what is below
/// goes as a whole.
fn remove(
    value: &mut Value,
    path: &mut Path,
    visibility: &dyn Fn(&[String]) -> Visibility,
) -> bool {
    let Value::Object(fields) = value else { return false };
    if path.len() == MAX_DEPTH {
        fields.clear();
        return true;
    }
    let before = fields.len();
    let mut changed = false;
    fields.retain(|key, value| {
        path.push(key.clone());
        let keep = match visibility(path) {
            Visibility::Shown => true,
            Visibility::Partly => !value.is_array(),
            Visibility::Hidden => false,
        };
        changed |= keep && remove(value, path, visibility);
        path.pop();
        keep
    });
    changed || fields.len() < before
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::remove;
    use crate::policy::FieldPolicy;
    use crate::task::evidence::Path;

    #[test]
    fn what_is_denied_is_removed_with_the_arrays_that_may_hold_it() {
        let event = json!({
            "list": [{"email": "a"}], "users": {"list": [{"email": "b"}], "one": {"email": "c", "id": 1}},
            "email": "d", "tags": ["e"],
        });
        for (deny, left) in [
            (
                json!(["users.list.email"]),
                json!({"users": {"one": {"email": "c", "id": 1}},
                "list": [{"email": "a"}], "email": "d", "tags": ["e"]}),
            ),
            (
                json!(["users.*.email"]),
                json!({"users": {"one": {"id": 1}}, "list": [{"email": "a"}],
                "email": "d", "tags": ["e"]}),
            ),
            (
                json!(["*.email"]),
                json!({"users": {"list": [{"email": "b"}], "one": {"email": "c", "id": 1}},
                "email": "d"}),
            ),
            (
                json!(["list.*.email"]),
                json!({"users": {"list": [{"email": "b"}],
                "one": {"email": "c", "id": 1}}, "email": "d", "tags": ["e"]}),
            ),
            (json!(["nowhere"]), event.clone()),
        ] {
            let policy = json!({ "deny": deny }).to_string();
            let policy = FieldPolicy::parse(&policy, "policy.json").expect("a policy");
            let mut shown: Value = event.clone();
            let changed = remove(&mut shown, &mut Path::new(), &|path| policy.visibility(path));
            assert_eq!((changed, &shown), (left != event, &left), "{deny}");
        }
    }
}
