//! What is known of the paths of events of some types, or of the elements of something in them, asked the way the gate asks.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::finding::FailingEvent;
use crate::graph::spec::PropertyType;
use crate::graph::validate::value::{Fit, fit};
use crate::task::evidence::{Evidence, Kind, Kinds, Path, SampleEvents, Seen};
use crate::untrusted::quoted;

/// With this many samples and more, a path that none of them has is taken not to exist.
const ENOUGH_SAMPLES: usize = 5;

/// How many elements are looked at to tell from how many samples they are.
const ENOUGH_LINES: usize = 100_000;

/// How many event types a message names.
const MAX_NAMED: usize = 4;

/// The paths of events, or of elements.
pub(crate) struct Known<'t> {
    evidence: &'t Evidence,
    event_types: Vec<&'t str>,
    paths: BTreeSet<&'t Path>,
    has_few_samples: bool,
    /// What has the paths, in words.
    of: String,
}

impl<'t> Known<'t> {
    /// Of several event types, whose events a plan reads alike.
    pub(crate) fn of_types(evidence: &'t Evidence, event_types: Vec<&'t str>) -> Self {
        let paths = event_types.iter().flat_map(|name| evidence.paths(name).into_keys()).collect();
        let seen = event_types.iter().filter_map(|name| evidence.of(name));
        // Elements of one event are much alike: it is events that count.
        let lines: BTreeSet<usize> =
            seen.flat_map(|events| events.samples().map(Seen::line)).take(ENOUGH_LINES).collect();
        let names: Vec<String> = event_types.iter().take(MAX_NAMED).map(|it| quoted(it)).collect();
        let of = match names.as_slice() {
            [name] => format!("events of type {name}"),
            _ => format!("events of the types {}", names.join(", ")),
        };
        let has_few_samples = lines.len() < ENOUGH_SAMPLES;
        Self { evidence, event_types, paths, has_few_samples, of }
    }

    /// The same, told to be of something else.
    pub(super) fn called(self, of: String) -> Self {
        Self { of, ..self }
    }

    pub(crate) fn evidence(&self) -> &'t Evidence {
        self.evidence
    }

    pub(crate) fn event_types(&self) -> &[&'t str] {
        &self.event_types
    }

    /// What has the paths, in words: `events of type "a"`.
    pub(super) fn of(&self) -> &str {
        &self.of
    }

    /// Whether the path occurs in a sample or is declared.
    pub(crate) fn has(&self, path: &[String]) -> bool {
        self.event_types.iter().any(|name| self.evidence.knows(name, path))
            || self.evidence.declared().contains_key(path)
    }

    /// Whether nothing speaks against the path: it occurs or is declared, or there are only a few samples, and those of
    /// another event type have it. Types of one family differ in optional parts.
    pub(crate) fn admits_path(&self, path: &[String]) -> bool {
        let elsewhere = || {
            let mut types = self.evidence.event_types();
            types.any(|(name, _)| {
                !self.event_types.contains(&name) && self.evidence.knows(name, path)
            })
        };
        let is_cut = || self.all().any(SampleEvents::is_cut);
        self.has(path)
            || self.is_behind_null(path)
            || (self.has_few_samples && elsewhere())
            || is_cut()
    }

    /// Whether something on the way is null wherever it is, and nothing is declared below it: what its fields would be
    /// called is not known.
    fn is_behind_null(&self, path: &[String]) -> bool {
        let Some(last) = (1..path.len()).rev().find_map(|length| {
            let prefix = path.get(..length)?;
            let kinds = self.kinds_anywhere(prefix);
            (!kinds.is_empty()).then_some((prefix, kinds))
        }) else {
            return false;
        };
        let (prefix, kinds) = last;
        let declares_fields = || {
            let declared = self.evidence.declared().keys();
            declared.filter(|it| it.len() > prefix.len()).any(|it| it.starts_with(prefix))
        };
        kinds.iter().all(|kind| kind == Kind::Null) && !declares_fields()
    }

    /// Whether the path leads through something that is there and never an object.
    pub(crate) fn is_blocked(&self, path: &[String]) -> bool {
        (1..path.len()).filter_map(|length| path.get(..length)).any(|prefix| {
            let kinds = self.kinds_anywhere(prefix);
            !kinds.contains(Kind::Object) && kinds.iter().any(|kind| kind != Kind::Null)
        })
    }

    /// The kinds of values that samples of any event type have at a path.
    fn kinds_anywhere(&self, path: &[String]) -> Kinds {
        let types = self.evidence.event_types();
        types.flat_map(|(_, events)| events.seen(path)).map(|(_, value)| Kind::of(value)).collect()
    }

    /// Whether so little is known that a path may exist though nothing says so: no event schema declares anything, and
    /// there are only a few samples.
    pub(crate) fn is_thin(&self) -> bool {
        self.evidence.declared().is_empty() && self.has_few_samples
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &'t Path> {
        self.paths.iter().copied()
    }

    /// How many samples there are, or elements.
    pub(super) fn count(&self) -> usize {
        self.all().map(SampleEvents::count).sum()
    }

    fn all(&self) -> impl Iterator<Item = &'t SampleEvents> {
        self.event_types.iter().filter_map(|name| self.evidence.of(name))
    }

    /// Every sample, or element.
    pub(super) fn seen(&self) -> impl Iterator<Item = &'t Seen> {
        self.all().flat_map(SampleEvents::samples)
    }

    /// The samples in which the path is there and not null.
    pub(crate) fn values<'p>(
        &self,
        path: &'p [String],
    ) -> impl Iterator<Item = (&'t Seen, &'t Value)> + use<'t, 'p> {
        let samples: Vec<&'t SampleEvents> = self.all().collect();
        samples
            .into_iter()
            .flat_map(SampleEvents::samples)
            .filter_map(move |seen| Some((seen, crate::task::evidence::at(seen.event(), path)?)))
            .filter(|(_, value)| !value.is_null())
    }

    /// The kinds of the values that samples have at a path, null apart.
    pub(super) fn kinds(&self, path: &[String]) -> Kinds {
        self.values(path).map(|(_, value)| Kind::of(value)).collect()
    }

    /// Whether every value that was seen at the path is of the type; where none was, whether what the schema declares
    /// may be. `None` stands for any scalar.
    pub(crate) fn admits(&self, path: &[String], wanted: Option<&PropertyType>) -> bool {
        let mut values = self.values(path).peekable();
        if values.peek().is_some() {
            return match wanted {
                Some(wanted) => values.all(|(_, value)| fit(wanted, value) == Fit::Valid),
                None => values.any(|(_, value)| is_scalar(value)),
            };
        }
        self.declares(path, wanted)
    }

    /// Whether a value was seen at the path that isn't of the type.
    pub(crate) fn contradicts(&self, path: &[String], wanted: Option<&PropertyType>) -> bool {
        self.values(path).next().is_some() && !self.admits(path, wanted)
    }

    /// Whether a value of the kinds that the schema declares may be of the type; yes where it doesn't say.
    fn declares(&self, path: &[String], wanted: Option<&PropertyType>) -> bool {
        let kinds = self.declared_kinds(path);
        kinds.iter().all(|kind| kind == Kind::Null) || kinds.iter().any(|kind| may_be(kind, wanted))
    }

    pub(crate) fn declared_kinds(&self, path: &[String]) -> Kinds {
        self.evidence.declared().get(path).map(|declared| declared.kinds).unwrap_or_default()
    }
}

pub(crate) fn is_scalar(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_))
}

/// Whether a value of this kind may be of the type.
fn may_be(kind: Kind, wanted: Option<&PropertyType>) -> bool {
    match (kind, wanted) {
        (Kind::Null | Kind::Array | Kind::Object, _) | (_, Some(PropertyType::Unsupported(_))) => {
            false
        }
        (_, None) => true,
        (Kind::Boolean, Some(wanted)) => {
            matches!(wanted, PropertyType::Boolean | PropertyType::Bool)
        }
        (Kind::Integer, Some(wanted)) => {
            matches!(wanted, PropertyType::Int64 | PropertyType::Double | PropertyType::Float64)
        }
        (Kind::Number, Some(wanted)) => {
            matches!(wanted, PropertyType::Double | PropertyType::Float64)
        }
        (Kind::String, Some(wanted)) => matches!(
            wanted,
            PropertyType::String
                | PropertyType::Bytes
                | PropertyType::Date
                | PropertyType::Timestamp
        ),
    }
}

/// The sample with the shortest text, the first of equals: an event to show.
pub(crate) fn smallest<'s>(samples: impl Iterator<Item = &'s Seen>) -> Option<FailingEvent> {
    let smallest = samples.min_by_key(|seen| seen.bytes())?;
    Some(FailingEvent::new(smallest.line(), smallest.text()))
}
