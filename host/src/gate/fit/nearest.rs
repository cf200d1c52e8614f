//! The path that was meant, where a plan reads one that there isn't, or one of the wrong type.

use std::collections::BTreeSet;

use super::known::Known;
use super::likeness;
use crate::evidence::Path;
use crate::graph::spec::PropertyType;

/// How alike a path has to be for the other to be a slip of it.
const SLIP: f64 = 0.8;

/// How alike it has to be to be worth a suggestion.
const WORTH_SAYING: f64 = 0.6;

/// How far the best has to be ahead of the second best for nothing else to be meant.
const LEAD: f64 = 0.04;

/// What a name counts beside a path, and what the company of other mappings does: they decide between paths that are
/// about equally like the one that was written.
const NAME: f64 = 0.25;
const COMPANY: f64 = 0.1;

/// What is looked for.
pub(crate) struct Sought<'a> {
    /// The path that the plan has; empty where it has none.
    pub(crate) given: &'a [String],
    /// What the value is called.
    pub(crate) name: Option<&'a str>,
    /// Its type; `None` for any scalar.
    pub(crate) property_type: Option<&'a PropertyType>,
}

/// A path to read instead.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Nearest {
    pub(crate) path: Path,
    /// Whether nothing else could be meant.
    pub(crate) certain: bool,
}

/// Where paths are looked for: those of an event type, without the ones that other mappings read.
pub(crate) struct Search<'k, 't> {
    known: &'k Known<'t>,
    taken: BTreeSet<&'k [String]>,
}

impl<'k, 't> Search<'k, 't> {
    /// `taken` are the paths of mappings with which nothing is wrong.
    pub(crate) fn new(known: &'k Known<'t>, taken: impl IntoIterator<Item = &'k [String]>) -> Self {
        Self { known, taken: taken.into_iter().collect() }
    }

    /// The path that was meant by one that isn't known.
    pub(crate) fn slip(&self, sought: &Sought<'_>) -> Option<Nearest> {
        let forms = forms(sought.given);
        if let Some(path) = forms.iter().find(|form| self.is_open(form, sought)) {
            return Some(Nearest { path: path.clone(), certain: true });
        }
        let given = forms.first().map_or(sought.given, |form| form.as_slice());
        let score = |path: &[String]| {
            let alike = likeness::paths(given, path);
            (alike >= WORTH_SAYING).then(|| alike + NAME * self.name_of(sought, path))
        };
        let slip = self.best(sought, score);
        let is_slip = |path: &[String]| likeness::paths(given, path) >= SLIP;
        match slip {
            Some(slip) if slip.certain && is_slip(&slip.path) => Some(slip),
            slip => match self.named(sought) {
                Some(named) if named.certain || slip.is_none() => Some(named),
                named => slip.or(named).map(|it| Nearest { certain: false, ..it }),
            },
        }
    }

    /// The path that has the name, whatever the plan says.
    pub(crate) fn named(&self, sought: &Sought<'_>) -> Option<Nearest> {
        let score = |path: &[String]| {
            let said = self.name_of(sought, path);
            (said >= 0.4).then_some(said)
        };
        let best = self.best(sought, score)?;
        let certain = best.certain && self.name_of(sought, &best.path) >= 0.9;
        Some(Nearest { certain, ..best })
    }

    fn name_of(&self, sought: &Sought<'_>, path: &[String]) -> f64 {
        sought.name.map_or(0.0, |name| likeness::affinity(name, path))
    }

    /// The open path with the highest score; certain where no other comes near.
    fn best(
        &self,
        sought: &Sought<'_>,
        score: impl Fn(&[String]) -> Option<f64>,
    ) -> Option<Nearest> {
        let mut scored: Vec<(f64, &Path)> = self
            .known
            .paths()
            .filter(|path| *path != sought.given)
            .filter_map(|path| Some((score(path)? + COMPANY * self.company(path), path)))
            .collect();
        scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let mut open = scored.into_iter().filter(|(_, path)| self.is_open(path, sought));
        let (best, path) = open.next()?;
        let certain = open.next().is_none_or(|(second, _)| best - second >= LEAD);
        Some(Nearest { path: path.clone(), certain })
    }

    /// Whether the path is there, free, and of the right type.
    fn is_open(&self, path: &[String], sought: &Sought<'_>) -> bool {
        !self.taken.contains(path)
            && self.known.has(path)
            && self.known.admits(path, sought.property_type)
    }

    /// How many of the mappings read values of the same object, from 0 to 1.
    fn company(&self, path: &[String]) -> f64 {
        let parent = path.split_last().map(|(_, parent)| parent);
        let beside = self.taken.iter().filter(|it| it.split_last().map(|(_, it)| it) == parent);
        if self.taken.is_empty() { 0.0 } else { beside.count() as f64 / self.taken.len() as f64 }
    }
}

/// Other ways to write the same path: joined by dots or slashes, behind `$`, or behind a word for the event itself.
pub(crate) fn forms(given: &[String]) -> Vec<Path> {
    let split = |separators: &[char]| -> Path {
        let parts = given.iter().flat_map(|segment| segment.split(separators));
        parts.filter(|part| !part.is_empty() && *part != "$").map(str::to_owned).collect()
    };
    let mut forms = vec![split(&['.']), split(&['.', '/'])];
    if let Some((first, rest)) = forms.first().and_then(|form| form.split_first())
        && matches!(first.as_str(), "event" | "root" | "$event")
    {
        forms.push(rest.to_vec());
    }
    forms.retain(|form| !form.is_empty() && form != given);
    forms.dedup();
    forms
}
