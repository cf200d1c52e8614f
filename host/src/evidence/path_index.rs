//! What is known of the paths of events of some types, or of the elements of something in them: which exist, and what is there.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;

use serde_json::Value;

use super::effort::{Efforts, VALUE};
use super::matching::Survey;
use super::similarity::spelling::{Spelled, spelled};
use super::{Collection, Evidence, SampleEvents, Seen};
use crate::diagnostics::untrusted::quoted;
use crate::graph::spec::PropertyType;
use crate::graph::validate::value::{Fit, fit};
use crate::json::{JsonKind, JsonKinds};

/// With this many samples and more, a path that none of them has is taken not to exist.
const ENOUGH_SAMPLES: usize = 5;

/// How many elements are looked at to tell from how many samples they are.
const ENOUGH_LINES: usize = 100_000;

/// How many event types a message names.
const MAX_NAMED: usize = 4;

/// The paths of events, or of elements.
pub(crate) struct PathIndex<'t> {
    evidence: &'t Evidence,
    efforts: &'t Efforts,
    event_types: Vec<&'t str>,
    paths: BTreeSet<&'t [String]>,
    /// Of each path that is listed, the event types whose samples have it.
    having: HashMap<&'t [String], Vec<&'t SampleEvents>>,
    /// The event types that have paths which aren't listed.
    unlisted: Vec<&'t SampleEvents>,
    has_few_samples: bool,
    is_cut: bool,
    /// What has the paths, in words.
    of: String,
    anywhere: OnceCell<Anywhere<'t>>,
    collections: OnceCell<Vec<Collection>>,
    /// Made when something is looked for: mostly nothing is.
    survey: OnceCell<Survey<'t>>,
    spelled: OnceCell<Vec<(&'t [String], Vec<Spelled>)>>,
    /// Which types were found to admit all values of a path.
    admitted: RefCell<HashMap<&'t [String], Vec<Admitted>>>,
}

/// A type, and whether it admits all values of a path.
type Admitted = (Option<PropertyType>, bool);

/// What samples of any event type have.
struct Anywhere<'t> {
    kinds: HashMap<&'t [String], JsonKinds>,
    unlisted: Vec<&'t SampleEvents>,
}

impl<'t> PathIndex<'t> {
    /// Of several event types, whose events a plan reads alike.
    pub(crate) fn of_types(
        evidence: &'t Evidence,
        event_types: Vec<&'t str>,
        efforts: &'t Efforts,
    ) -> Self {
        let mut paths: BTreeSet<&[String]> = BTreeSet::new();
        if !event_types.is_empty() {
            paths.extend(evidence.declared().keys().map(Vec::as_slice));
        }
        let mut having: HashMap<&[String], Vec<&SampleEvents>> = HashMap::new();
        let seen: Vec<&SampleEvents> =
            event_types.iter().filter_map(|name| evidence.of(name)).collect();
        for events in &seen {
            for path in events.observed().keys() {
                paths.insert(path);
                having.entry(path).or_default().push(events);
            }
        }
        let is_cut = seen.iter().any(|events| events.is_cut());
        // Elements of one event are much alike: it is events that count.
        let lines = seen.iter().flat_map(|events| events.samples().map(Seen::line));
        let lines: BTreeSet<usize> = lines.take(ENOUGH_LINES).collect();
        let names: Vec<String> = event_types.iter().take(MAX_NAMED).map(|it| quoted(it)).collect();
        let of = match names.as_slice() {
            [name] => format!("events of type {name}"),
            _ => format!("events of the types {}", names.join(", ")),
        };
        Self {
            evidence,
            efforts,
            event_types,
            paths,
            having,
            unlisted: unlisted(seen),
            has_few_samples: lines.len() < ENOUGH_SAMPLES,
            is_cut,
            of,
            anywhere: OnceCell::new(),
            collections: OnceCell::new(),
            survey: OnceCell::new(),
            spelled: OnceCell::new(),
            admitted: RefCell::default(),
        }
    }

    /// The same, called the paths of something else.
    pub(crate) fn called(self, of: String) -> Self {
        Self { of, ..self }
    }

    pub(crate) fn evidence(&self) -> &'t Evidence {
        self.evidence
    }

    pub(crate) fn efforts(&self) -> &'t Efforts {
        self.efforts
    }

    pub(crate) fn event_types(&self) -> &[&'t str] {
        &self.event_types
    }

    /// What there is to go over.
    pub(crate) fn collections(&self) -> &[Collection] {
        self.collections.get_or_init(|| self.evidence.arrays(&self.event_types))
    }

    /// What has the paths, in words: `events of type "a"`.
    pub(crate) fn of(&self) -> &str {
        &self.of
    }

    /// The paths in the form in which names are compared with them.
    pub(crate) fn survey(&self) -> &Survey<'t> {
        self.survey
            .get_or_init(|| Survey::new(self.evidence, &self.event_types, &self.efforts.searches))
    }

    /// The paths with how their keys are spelled.
    pub(crate) fn spelled(&self) -> &[(&'t [String], Vec<Spelled>)] {
        self.spelled.get_or_init(|| self.paths().map(|path| (path, spelled(path))).collect())
    }

    /// Whether the path occurs in a sample or is declared.
    pub(crate) fn has(&self, path: &[String]) -> bool {
        self.paths.contains(path)
            || self.evidence.declared().contains_key(path)
            || self.may_be_in(&self.unlisted, path)
    }

    /// Whether a path is among those that aren't listed. It may be, where there is no effort left to look.
    fn may_be_in(&self, unlisted: &[&SampleEvents], path: &[String]) -> bool {
        !self.may_look_into(unlisted) || unlisted.iter().any(|events| events.has(path))
    }

    fn may_look_into(&self, unlisted: &[&SampleEvents]) -> bool {
        unlisted.is_empty() || self.efforts.values.take(unlisted.len() as u64 * VALUE)
    }

    /// Whether nothing speaks against the path: it occurs or is declared, or there are only a few samples, and those of
    /// another event type have it. Types of one family differ in optional parts.
    pub(crate) fn admits_path(&self, path: &[String]) -> bool {
        let elsewhere = || {
            let anywhere = self.anywhere();
            anywhere.kinds.contains_key(path) || self.may_be_in(&anywhere.unlisted, path)
        };
        self.has(path)
            || self.is_below_null(path)
            || (self.has_few_samples && elsewhere())
            || self.is_cut
    }

    fn anywhere(&self) -> &Anywhere<'t> {
        self.anywhere.get_or_init(|| {
            let mut kinds: HashMap<&[String], JsonKinds> = HashMap::new();
            for (path, observed) in self.evidence.event_types().flat_map(|(_, it)| it.observed()) {
                let all = kinds.entry(path).or_default();
                *all = all.union(observed.kinds);
            }
            let all = self.evidence.event_types().map(|(_, events)| events);
            Anywhere { kinds, unlisted: unlisted(all) }
        })
    }

    /// Whether something on the way is null wherever it is, and nothing is declared below it: what its fields would be
    /// called is not known.
    fn is_below_null(&self, path: &[String]) -> bool {
        let Some(last) = (1..path.len()).rev().find_map(|length| {
            let prefix = path.get(..length)?;
            let kinds = self.kinds_anywhere(prefix);
            (!kinds.is_empty()).then_some((prefix, kinds))
        }) else {
            return false;
        };
        let (prefix, kinds) = last;
        let declares_fields = || {
            let below = (Bound::Excluded(prefix), Bound::Unbounded);
            let next = self.evidence.declared().range::<[String], _>(below).next();
            next.is_some_and(|(path, _)| path.starts_with(prefix))
        };
        kinds.iter().all(|kind| kind == JsonKind::Null) && !declares_fields()
    }

    /// Whether the path leads through something that is there and never an object.
    pub(crate) fn is_blocked(&self, path: &[String]) -> bool {
        (1..path.len()).filter_map(|length| path.get(..length)).any(|prefix| {
            let kinds = self.kinds_anywhere(prefix);
            !kinds.contains(JsonKind::Object) && kinds.iter().any(|kind| kind != JsonKind::Null)
        })
    }

    /// The kinds of values that samples of any event type have at a path.
    fn kinds_anywhere(&self, path: &[String]) -> JsonKinds {
        let anywhere = self.anywhere();
        let listed = anywhere.kinds.get(path).copied().unwrap_or_default();
        if !self.may_look_into(&anywhere.unlisted) {
            return listed;
        }
        let others = not_listing(&anywhere.unlisted, path).flat_map(|events| events.seen(path));
        others.map(|(_, value)| JsonKind::of(value)).collect::<JsonKinds>().union(listed)
    }

    /// Whether so little is known that a path may exist though nothing says so: no event schema declares anything, and
    /// there are only a few samples.
    pub(crate) fn is_thin(&self) -> bool {
        self.evidence.declared().is_empty() && self.has_few_samples
    }

    pub(crate) fn paths(&self) -> impl ExactSizeIterator<Item = &'t [String]> {
        self.paths.iter().copied()
    }

    /// How many samples there are, or elements.
    pub(crate) fn count(&self) -> usize {
        self.all().map(SampleEvents::count).sum()
    }

    fn all(&self) -> impl Iterator<Item = &'t SampleEvents> {
        self.event_types.iter().filter_map(|name| self.evidence.of(name))
    }

    /// Every sample, or element.
    pub(crate) fn seen(&self) -> impl Iterator<Item = &'t Seen> {
        self.all().flat_map(SampleEvents::samples)
    }

    /// The samples in which the path is there and not null.
    pub(crate) fn values<'p>(
        &self,
        path: &'p [String],
    ) -> impl Iterator<Item = (&'t Seen, &'t Value)> + use<'t, 'p> {
        let mut having = self.having.get(path).cloned().unwrap_or_default();
        if self.may_look_into(&self.unlisted) {
            having.extend(not_listing(&self.unlisted, path));
        }
        let values = having.into_iter().flat_map(move |events| events.seen(path));
        values.filter(|(_, value)| !value.is_null())
    }

    /// The kinds of the values that samples have at a path, null apart.
    pub(crate) fn kinds(&self, path: &[String]) -> JsonKinds {
        self.values(path).map(|(_, value)| JsonKind::of(value)).collect()
    }

    /// Whether every value that was seen at the path is of the type; where none was, whether what the schema declares
    /// may be. `None` is any scalar.
    pub(crate) fn admits(&self, path: &[String], wanted: Option<&PropertyType>) -> bool {
        let is_unsupported = matches!(wanted, Some(PropertyType::Unsupported(_)));
        let Some(path) = self.paths.get(path).filter(|_| !is_unsupported) else {
            return self.admits_now(path, wanted);
        };
        let mut admitted = self.admitted.borrow_mut();
        let known = admitted.entry(path).or_default();
        if let Some((_, admits)) = known.iter().find(|(it, _)| it.as_ref() == wanted) {
            return *admits;
        }
        let admits = self.admits_now(path, wanted);
        known.push((wanted.cloned(), admits));
        admits
    }

    fn admits_now(&self, path: &[String], wanted: Option<&PropertyType>) -> bool {
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
        let may_be = |kind: JsonKind| match wanted {
            Some(wanted) => wanted.json_kinds().contains(kind),
            None => kind.is_scalar(),
        };
        let kinds = self.declared_kinds(path);
        kinds.iter().all(|kind| kind == JsonKind::Null) || kinds.iter().any(may_be)
    }

    pub(crate) fn declared_kinds(&self, path: &[String]) -> JsonKinds {
        self.evidence.declared().get(path).map(|declared| declared.kinds).unwrap_or_default()
    }
}

/// Those that have paths which aren't listed.
fn unlisted<'t>(all: impl IntoIterator<Item = &'t SampleEvents>) -> Vec<&'t SampleEvents> {
    all.into_iter().filter(|events| events.unlisted() > 0).collect()
}

/// Those of which it isn't listed whether they have a path.
fn not_listing<'s, 't>(
    unlisted: &'s [&'t SampleEvents],
    path: &'s [String],
) -> impl Iterator<Item = &'t SampleEvents> + use<'s, 't> {
    unlisted.iter().copied().filter(|events| !events.observed().contains_key(path))
}

pub(crate) fn is_scalar(value: &Value) -> bool {
    JsonKind::of(value).is_scalar()
}
