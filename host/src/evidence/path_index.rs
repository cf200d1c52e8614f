//! What is known of the paths of events of some types, or of the elements of something in them: which exist, and what is there.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ops::{Bound, Deref};

use super::effort::StepBudgets;
use super::matching::Survey;
use super::similarity::spelling::{Spelled, spelled};
use super::value_index::ValueIndex;
use super::{Collection, Evidence, SampleEvents, Seen};
use crate::diagnostics::untrusted::quoted;
use crate::json::scan::MAX_DEPTH;
use crate::json::{JsonKind, JsonKinds};

/// With this many samples and more, a path that none of them has is taken not to exist.
pub(crate) const ENOUGH_SAMPLES: usize = 5;

/// How many elements are looked at to tell from how many samples they are.
const ENOUGH_LINES: usize = 100_000;

/// How many event types a message names.
const MAX_NAMED: usize = 4;

/// The paths of events, or of elements. What is there, it says as a [`ValueIndex`].
pub(crate) struct PathIndex<'t> {
    pub(crate) evidence: &'t Evidence,
    pub(crate) efforts: &'t StepBudgets,
    pub(crate) event_types: Vec<&'t str>,
    values: ValueIndex<'t>,
    paths: BTreeSet<&'t [String]>,
    has_few_samples: bool,
    is_cut: bool,
    /// What has the paths, in words: `events of type "a"`.
    pub(crate) of: String,
    /// The values of samples of any event type.
    anywhere: OnceCell<ValueIndex<'t>>,
    collections: OnceCell<Vec<Collection>>,
    /// Made when something is looked for: mostly nothing is.
    survey: OnceCell<Survey<'t>>,
    spelled: OnceCell<Vec<(&'t [String], Vec<Spelled>)>>,
}

impl<'t> Deref for PathIndex<'t> {
    type Target = ValueIndex<'t>;

    fn deref(&self) -> &ValueIndex<'t> {
        &self.values
    }
}

impl<'t> PathIndex<'t> {
    /// Of several event types, whose events a plan reads alike.
    pub(crate) fn of_types(
        evidence: &'t Evidence,
        event_types: Vec<&'t str>,
        efforts: &'t StepBudgets,
    ) -> Self {
        let events: Vec<&SampleEvents> =
            event_types.iter().filter_map(|name| evidence.of(name)).collect();
        let is_cut = events.iter().any(|events| events.is_cut());
        // Elements of one event are much alike: it is events that count.
        let lines = events.iter().flat_map(|events| events.samples().map(Seen::line));
        let lines: BTreeSet<usize> = lines.take(ENOUGH_LINES).collect();
        let names: Vec<String> = event_types.iter().take(MAX_NAMED).map(|it| quoted(it)).collect();
        let of = match names.as_slice() {
            [name] => format!("events of type {name}"),
            _ => format!("events of the types {}", names.join(", ")),
        };
        let values = ValueIndex::new(evidence, events, &efforts.values);
        let declared = evidence.declared().keys().filter(|_| !event_types.is_empty());
        Self {
            evidence,
            efforts,
            paths: declared.map(Vec::as_slice).chain(values.listed()).collect(),
            event_types,
            values,
            has_few_samples: lines.len() < ENOUGH_SAMPLES,
            is_cut,
            of,
            anywhere: OnceCell::new(),
            collections: OnceCell::new(),
            survey: OnceCell::new(),
            spelled: OnceCell::new(),
        }
    }

    /// The same, called the paths of something else.
    pub(crate) fn called(self, of: String) -> Self {
        Self { of, ..self }
    }

    /// What there is to go over.
    pub(crate) fn collections(&self) -> &[Collection] {
        self.collections.get_or_init(|| self.evidence.arrays(&self.event_types))
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
        self.evidence.declared().contains_key(path) || self.values.has(path)
    }

    /// Whether the path occurs in a sample, whatever is declared.
    pub(crate) fn is_in_samples(&self, path: &[String]) -> bool {
        self.values.has(path)
    }

    /// Whether nothing speaks against the path: it occurs or is declared, or there are only a few samples, and those of
    /// another event type have it. Types of one family differ in optional parts.
    pub(crate) fn admits_path(&self, path: &[String]) -> bool {
        self.has(path)
            || self.is_below_null(path)
            || (self.has_few_samples && self.anywhere().has(path))
            || self.is_cut
    }

    fn anywhere(&self) -> &ValueIndex<'t> {
        self.anywhere.get_or_init(|| {
            let events = self.evidence.event_types().map(|(_, events)| events).collect();
            ValueIndex::new(self.evidence, events, self.values.effort())
        })
    }

    /// Whether something on the way is null wherever it is, and nothing is declared below it: what its fields would be
    /// called is not known.
    fn is_below_null(&self, path: &[String]) -> bool {
        let Some(last) = prefixes(path).rev().find_map(|prefix| {
            let kinds = self.anywhere().kinds(prefix);
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
        prefixes(path).any(|prefix| {
            let kinds = self.anywhere().kinds(prefix);
            !kinds.contains(JsonKind::Object) && kinds.iter().any(|kind| kind != JsonKind::Null)
        })
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
        self.values.events().iter().map(|events| events.count()).sum()
    }

    /// Every sample, or element.
    pub(crate) fn seen(&self) -> impl Iterator<Item = &'t Seen> {
        self.values.events().iter().copied().flat_map(SampleEvents::samples)
    }

    /// The kinds of the values that samples have at a path, null apart.
    pub(crate) fn kinds(&self, path: &[String]) -> JsonKinds {
        self.values.kinds(path).iter().filter(|kind| *kind != JsonKind::Null).collect()
    }
}

/// What a path leads through, the shortest first, as far as events have paths of that length: however many keys a plan writes,
/// no more are looked up than events nest.
fn prefixes(path: &[String]) -> impl DoubleEndedIterator<Item = &[String]> {
    (1..path.len().min(MAX_DEPTH + 1)).filter_map(|length| path.get(..length))
}

#[cfg(test)]
mod tests {
    use super::{MAX_DEPTH, prefixes};

    #[test]
    fn no_more_of_a_path_is_looked_up_than_events_nest() {
        let path = |keys: usize| vec!["a".to_owned(); keys];
        let lengths = |keys| prefixes(&path(keys)).map(<[String]>::len).collect::<Vec<usize>>();
        assert_eq!(lengths(1), Vec::<usize>::new());
        assert_eq!(lengths(4), [1, 2, 3]);
        assert_eq!(lengths(100_000), (1..=MAX_DEPTH).collect::<Vec<usize>>());
    }
}
