//! The values at the paths of events of some types, and whether they are of a type: the one place that judges it.

use std::cell::RefCell;
use std::collections::HashMap;

use serde_json::Value;

use super::conversion::{Fitting, fitting};
use super::effort::{StepBudget, VALUE};
use super::{Evidence, Observed, Path, SampleEvents, Seen};
use crate::graph::spec::PropertyType;
use crate::graph::validate::value::{Fit, fit};
use crate::json::{JsonKind, JsonKinds};
use crate::plan::expr::Conversion;

/// What was found out about the values at paths, by type; `None` is any scalar.
type ByPathAndType<T> = RefCell<HashMap<Path, Vec<(Option<PropertyType>, T)>>>;

/// The values of events, or of elements, by their paths.
#[derive(Debug)]
pub(crate) struct ValueIndex<'t> {
    evidence: &'t Evidence,
    effort: &'t StepBudget,
    events: Vec<&'t SampleEvents>,
    /// Of each path that is listed, the event types whose samples have it.
    having: HashMap<&'t [String], Vec<&'t SampleEvents>>,
    /// The event types that have paths which aren't listed.
    unlisted: Vec<&'t SampleEvents>,
    admitted: ByPathAndType<bool>,
    conversions: ByPathAndType<Option<Conversion>>,
}

impl<'t> ValueIndex<'t> {
    /// `effort` is what looking at values is taken from.
    pub(crate) fn new(
        evidence: &'t Evidence,
        events: Vec<&'t SampleEvents>,
        effort: &'t StepBudget,
    ) -> Self {
        let mut having: HashMap<&[String], Vec<&SampleEvents>> = HashMap::new();
        for of_type in &events {
            for path in of_type.observed().keys() {
                having.entry(path).or_default().push(of_type);
            }
        }
        let unlisted = events.iter().copied().filter(|it| it.unlisted() > 0).collect();
        let (admitted, conversions) = Default::default();
        Self { evidence, effort, events, having, unlisted, admitted, conversions }
    }

    pub(crate) fn effort(&self) -> &'t StepBudget {
        self.effort
    }

    /// The samples of each event type.
    pub(super) fn events(&self) -> &[&'t SampleEvents] {
        &self.events
    }

    /// The paths that samples have, as far as they are listed.
    pub(super) fn listed(&self) -> impl Iterator<Item = &'t [String]> {
        self.having.keys().copied()
    }

    /// Whether a path occurs in a sample. It may, where there is no effort left to look.
    pub(super) fn has(&self, path: &[String]) -> bool {
        self.having.contains_key(path)
            || !self.may_look_into_unlisted()
            || self.unlisted.iter().any(|events| events.has(path))
    }

    fn may_look_into_unlisted(&self) -> bool {
        self.unlisted.is_empty() || self.effort.take(self.unlisted.len() as u64 * VALUE)
    }

    /// The event types of which it isn't listed whether samples have a path; none where there is no effort left to look.
    fn not_listing(&self, path: &[String]) -> impl Iterator<Item = &'t SampleEvents> {
        let may_look = self.may_look_into_unlisted();
        let all = self.unlisted.iter().copied().filter(move |_| may_look);
        all.filter(|events| !events.observed().contains_key(path))
    }

    /// The samples in which a path is there and not null.
    pub(crate) fn values<'p>(
        &self,
        path: &'p [String],
    ) -> impl Iterator<Item = (&'t Seen, &'t Value)> + use<'t, 'p> {
        let mut having = self.having.get(path).cloned().unwrap_or_default();
        having.extend(self.not_listing(path));
        let values = having.into_iter().flat_map(move |events| events.seen(path));
        values.filter(|(_, value)| !value.is_null())
    }

    /// The kinds of the values at a path, null included.
    pub(super) fn kinds(&self, path: &[String]) -> JsonKinds {
        let unlisted = self.not_listing(path).flat_map(|events| events.seen(path));
        let unlisted: JsonKinds = unlisted.map(|(_, value)| JsonKind::of(value)).collect();
        self.observed(path).fold(unlisted, |kinds, it| kinds.union(it.kinds))
    }

    fn observed(&self, path: &[String]) -> impl Iterator<Item = &'t Observed> {
        let having = self.having.get(path).into_iter().flatten();
        having.filter_map(|events| events.observed().get(path))
    }

    pub(crate) fn declared_kinds(&self, path: &[String]) -> JsonKinds {
        self.evidence.declared().get(path).map(|declared| declared.kinds).unwrap_or_default()
    }

    /// Whether every value that was seen at the path is of the type; where none was, whether one of the kinds that the schema
    /// declares may be, and where it doesn't say, anything may be there. `None` is any scalar.
    pub(crate) fn admits(&self, path: &[String], wanted: Option<&PropertyType>) -> bool {
        remembered(&self.admitted, path, wanted, || {
            let mut values = self.values(path).map(|(_, value)| value).peekable();
            if values.peek().is_some() {
                return match wanted {
                    Some(wanted) => values.all(|value| fit(wanted, value) == Fit::Valid),
                    None => values.any(is_scalar),
                };
            }
            let may_be = |kind: JsonKind| match wanted {
                Some(wanted) => wanted.json_kinds().contains(kind),
                None => kind.is_scalar(),
            };
            let declared = self.declared_kinds(path);
            declared.iter().all(|kind| kind == JsonKind::Null) || declared.iter().any(may_be)
        })
    }

    /// Whether a value was seen at the path that isn't of the type.
    pub(crate) fn contradicts(&self, path: &[String], wanted: Option<&PropertyType>) -> bool {
        self.values(path).next().is_some() && !self.admits(path, wanted)
    }

    /// The conversion that makes every value at a path be of the type, or be written alike where they are of it already;
    /// `None` where nothing has to be done, or nothing helps.
    pub(crate) fn conversion(&self, path: &[String], wanted: &PropertyType) -> Option<Conversion> {
        remembered(&self.conversions, path, Some(wanted), || {
            // A few values tell most often that no conversion will do.
            let examples = self.observed(path).flat_map(|it| &it.examples);
            let few = fitting(wanted, examples, self.effort);
            if few == Some(Fitting::Unfit) {
                return None;
            }
            match fitting(wanted, self.values(path).map(|(_, value)| value), self.effort)? {
                Fitting::By(step) => Some(step),
                Fitting::AsTheyAre | Fitting::Unfit => None,
            }
        })
    }
}

/// What is known of a path and a type, found out where it isn't known yet. There is no end of types that aren't supported.
fn remembered<T: Clone>(
    known: &ByPathAndType<T>,
    path: &[String],
    wanted: Option<&PropertyType>,
    find: impl FnOnce() -> T,
) -> T {
    if matches!(wanted, Some(PropertyType::Unsupported(_))) {
        return find();
    }
    let is_same = |(it, _): &&(Option<PropertyType>, T)| it.as_ref() == wanted;
    let known_already = known.borrow().get(path).and_then(|it| it.iter().find(is_same).cloned());
    known_already.map(|(_, found)| found).unwrap_or_else(|| {
        let found = find();
        let mut known = known.borrow_mut();
        known.entry(path.to_vec()).or_default().push((wanted.cloned(), found.clone()));
        found
    })
}

pub(crate) fn is_scalar(value: &Value) -> bool {
    JsonKind::of(value).is_scalar()
}
