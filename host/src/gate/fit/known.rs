//! What is known of one event type's paths, asked the way the gate asks.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;

use crate::finding::FailingEvent;
use crate::graph::spec::PropertyType;
use crate::graph::validate::value::{Fit, fit};
use crate::task::evidence::{Evidence, Kind, Kinds, Observed, Path, SampleEvents, Seen};

/// With this many samples and more, a path that none of them has is taken not to exist.
const ENOUGH_SAMPLES: usize = 5;

/// The paths of one event type.
pub(crate) struct Known<'t> {
    evidence: &'t Evidence,
    event_type: &'t str,
    paths: BTreeMap<&'t Path, Cow<'t, Observed>>,
}

impl<'t> Known<'t> {
    pub(crate) fn new(evidence: &'t Evidence, event_type: &'t str) -> Self {
        Self { evidence, event_type, paths: evidence.paths(event_type) }
    }

    pub(crate) fn evidence(&self) -> &'t Evidence {
        self.evidence
    }

    pub(crate) fn event_type(&self) -> &'t str {
        self.event_type
    }

    /// Whether the path occurs in a sample or is declared.
    pub(crate) fn has(&self, path: &[String]) -> bool {
        self.evidence.knows(self.event_type, path)
    }

    /// Whether nothing speaks against the path: it occurs or is declared, or there are only a few samples, and those of
    /// another event type have it. Types of one family differ in optional parts.
    pub(crate) fn admits_path(&self, path: &[String]) -> bool {
        let elsewhere = || {
            let mut types = self.evidence.event_types();
            types.any(|(name, _)| name != self.event_type && self.evidence.knows(name, path))
        };
        self.has(path) || self.is_behind_null(path) || (self.has_few_samples() && elsewhere())
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

    fn has_few_samples(&self) -> bool {
        self.samples().is_none_or(|samples| samples.count() < ENOUGH_SAMPLES)
    }

    /// Whether so little is known that a path may exist though nothing says so: no event schema declares anything, and
    /// there are only a few samples.
    pub(crate) fn is_thin(&self) -> bool {
        self.evidence.declared().is_empty() && self.has_few_samples()
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &'t Path> {
        self.paths.keys().copied()
    }

    pub(crate) fn samples(&self) -> Option<&'t SampleEvents> {
        self.evidence.of(self.event_type)
    }

    /// The samples in which the path is there and not null.
    pub(crate) fn values<'p>(
        &self,
        path: &'p [String],
    ) -> impl Iterator<Item = (&'t Seen, &'t Value)> + use<'t, 'p> {
        let samples = self.samples().into_iter().flat_map(SampleEvents::samples);
        samples
            .filter_map(move |seen| Some((seen, crate::task::evidence::at(seen.event(), path)?)))
            .filter(|(_, value)| !value.is_null())
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
