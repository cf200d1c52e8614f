//! The path that was meant, where a plan reads one that there isn't, or one of the wrong type.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::is_presentable;
use crate::evidence::effort::StepBudget;
use crate::evidence::matching::{Aim, Candidate, Scorer, Wanted};
use crate::evidence::similarity::ranking::{Likely, best};
use crate::evidence::similarity::{SUGGESTION_THRESHOLD, TYPO_MARGIN, TYPO_THRESHOLD, spelling};
use crate::evidence::{Path, PathIndex};
use crate::graph::spec::PropertyType;
use crate::json::JsonKind;

/// How alike two paths are at least that end in the same name: less than where one is the other misspelt.
const SAME_LEAF: f64 = 0.7;

/// What the property's name counts beside the path that was written, and what the company of other mappings does: they
/// decide between paths that are about equally like it.
const NAME_WEIGHT: f64 = 0.25;
const COMPANY_WEIGHT: f64 = 0.1;

/// What a path has to score for the property for nothing else to be meant, and how far ahead of the second best.
const CLEARLY_NAMED: f64 = 0.7;
const CLEARLY_NAMED_LEAD: f64 = 0.1;

/// What it has to score to be worth a suggestion.
const PERHAPS_NAMED: f64 = 0.4;

/// What it costs to look at a path that is known, beside the comparing of names and words, in steps.
const KNOWN_STEPS: u64 = 100;
/// The same for a path that the plan reads for something else.
const BESIDE_STEPS: u64 = 10;

/// What is looked for.
pub(crate) struct Sought<'a> {
    /// The path that the plan has; empty where it has none.
    pub(crate) given: &'a [String],
    /// What the value is called.
    pub(crate) name: Option<&'a str>,
    /// Its type; `None` for any scalar.
    pub(crate) property_type: Option<&'a PropertyType>,
    /// Whether it is the key.
    pub(crate) is_key: bool,
}

/// A path to read instead.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NearestPath {
    /// The path, certain where what was written is a slip of it.
    pub(crate) path: Likely<Path>,
    /// Whether what was written is much more like this one than like any other.
    is_clear_typo: bool,
}

impl NearestPath {
    pub(super) fn new(path: &[String], is_certain: bool, is_typo: bool) -> Self {
        let is_clear_typo = is_certain && is_typo;
        Self { path: Likely::new(path.to_vec(), is_certain), is_clear_typo }
    }

    /// Keeps its certainty only if `holds`.
    fn only_if(self, holds: bool) -> Self {
        Self { path: self.path.only_if(holds), is_clear_typo: self.is_clear_typo && holds }
    }

    /// Keeps its certainty only if `holds`; it is as much like what was written as before.
    pub(super) fn certain_if(self, holds: bool) -> Self {
        Self { path: self.path.only_if(holds), ..self }
    }

    /// Whether what was written is this one misspelt, as far as letters tell. It may be another one all the same, of which no
    /// sample has any: what is put right without asking is a slip.
    pub(crate) fn is_clear_typo(&self) -> bool {
        self.is_clear_typo
    }
}

/// Where paths are looked for: those of an event type, without the ones that other mappings read.
pub(crate) struct PathSearch<'k, 't> {
    known: &'k PathIndex<'t>,
    entity: &'k str,
    taken: BTreeSet<&'k [String]>,
    /// Of each object, how many of the mappings read values of it.
    company: HashMap<&'k [String], usize>,
    /// What all values of the plan are read from.
    beside: Vec<&'k [String]>,
}

impl<'k, 't> PathSearch<'k, 't> {
    /// `taken` are the paths of mappings with which nothing is wrong.
    pub(crate) fn new(
        known: &'k PathIndex<'t>,
        entity: &'k str,
        taken: impl IntoIterator<Item = &'k [String]>,
    ) -> Self {
        let taken: BTreeSet<&[String]> = taken.into_iter().collect();
        let mut company: HashMap<&[String], usize> = HashMap::new();
        for path in &taken {
            *company.entry(parent(path)).or_default() += 1;
        }
        Self { known, entity, taken, company, beside: Vec::new() }
    }

    /// The same, where the plan reads these paths beside the one that is looked for.
    pub(in crate::gate::fit) fn beside(
        self,
        paths: impl IntoIterator<Item = &'k [String]>,
    ) -> Self {
        let beside = paths.into_iter().collect();
        Self { beside, ..self }
    }

    /// What searching is taken from.
    pub(in crate::gate::fit) fn effort(&self) -> &'t StepBudget {
        &self.known.efforts.searches
    }

    /// Where it looks.
    pub(in crate::gate::fit) fn known(&self) -> &'k PathIndex<'t> {
        self.known
    }

    /// The path that was meant by one that isn't known: certain where that is a slip of it. None where the search ends for want
    /// of effort.
    pub(crate) fn nearest(&self, sought: &Sought<'_>) -> Option<NearestPath> {
        let steps =
            KNOWN_STEPS * self.known.paths().len() as u64 + BESIDE_STEPS * self.beside.len() as u64;
        let slipped = self.effort().take(steps).then(|| self.slipped(sought)).flatten();
        if let Some(path) = slipped {
            return Some(self.as_sure_as_can_be(NearestPath::new(&path, true, true), sought));
        }
        let nearest = self.most_alike(sought)?;
        Some(nearest.certain_if(false))
    }

    /// The path that is most like another one, which is known not to be right.
    pub(crate) fn most_alike(&self, sought: &Sought<'_>) -> Option<NearestPath> {
        let written = || {
            let mut spellings = other_spellings(sought.given).into_iter();
            let path = spellings.find(|path| self.is_open(path, sought))?;
            Some(NearestPath::new(&path, true, true))
        };
        let found = written().or_else(|| self.effort().whole(self.likeliest(sought)))?;
        Some(self.as_sure_as_can_be(found, sought))
    }

    /// Where a value is always null, the plan may mean a field inside it, of which nothing is known: unless as many keys were
    /// written, it isn't certain that the null itself is meant.
    fn as_sure_as_can_be(&self, nearest: NearestPath, sought: &Sought<'_>) -> NearestPath {
        let written = other_spellings(sought.given).first().map_or(sought.given.len(), Vec::len);
        let is_null = self.known.values(&nearest.path.item).next().is_none()
            && self
                .known
                .declared_kinds(&nearest.path.item)
                .iter()
                .all(|kind| kind == JsonKind::Null);
        let is_as_long = nearest.path.item.len() == written;
        nearest.only_if(!is_null || is_as_long)
    }

    fn likeliest(&self, sought: &Sought<'_>) -> Option<NearestPath> {
        let effort = self.effort();
        if !effort.take(KNOWN_STEPS * self.known.paths().len() as u64) {
            return None;
        }
        let spellings = other_spellings(sought.given);
        let spelled = spelling::spelled(spellings.first().map_or(sought.given, Vec::as_slice));
        let ranked = self.ranked(sought);
        let named = best_named(&ranked);
        let said: BTreeMap<&[String], f64> =
            ranked.iter().map(|it| (it.path.as_slice(), it.score)).collect();
        let others = self.known.spelled().iter().filter(|(path, _)| *path != sought.given);
        let scored = others.take_while(|_| !effort.is_over()).filter_map(|(path, keys)| {
            let name = said.get(path).copied().unwrap_or_default();
            let elsewhere = spelling::same_leaf(&spelled, keys)
                && (sought.name.is_none() || name >= PERHAPS_NAMED);
            let near = spelling::paths(&spelled, keys, effort);
            let alike = near.max(if elsewhere { SAME_LEAF } else { 0.0 });
            let score = alike + NAME_WEIGHT * name + COMPANY_WEIGHT * self.company(path);
            let is_worth_it = alike >= SUGGESTION_THRESHOLD && self.is_open(path, sought);
            is_worth_it.then_some((score, (alike, *path)))
        });
        let Some(found) = best(scored) else { return named };
        let (alike, path) = found.item;
        let typo = NearestPath::new(path, found.margin >= TYPO_MARGIN, alike >= TYPO_THRESHOLD);
        let agrees = named.as_ref().is_none_or(|named| named.path.item == typo.path.item);
        match named {
            _ if typo.is_clear_typo() => Some(typo),
            _ if typo.path.is_certain() && alike >= SAME_LEAF && agrees => Some(typo),
            Some(named) if named.path.is_certain() => Some(named),
            _ => Some(typo.only_if(false)),
        }
    }

    /// The path that suits the property, whatever the plan says. None where the search ends for want of effort.
    pub(crate) fn named(&self, sought: &Sought<'_>) -> Option<Likely<Path>> {
        let found = self.effort().whole(best_named(&self.ranked(sought)))?;
        Some(self.as_sure_as_can_be(found, sought).path)
    }

    /// The open paths that suit the property, best first.
    fn ranked(&self, sought: &Sought<'_>) -> Vec<Candidate> {
        let Some(name) = sought.name else { return Vec::new() };
        let Sought { property_type, is_key, .. } = *sought;
        let wanted = Wanted { name, property_type, hint: None, entity: self.entity, is_key };
        if self.effort().is_over() {
            return Vec::new();
        }
        let mut ranked = Scorer::new(self.known.survey()).rank(&Aim::new(&wanted), self.anchor());
        ranked
            .retain(|it| it.fits_type && it.path != sought.given && self.is_open(&it.path, sought));
        ranked
    }

    /// Whether the path is there, free, of the right type, and fit to be written into a plan by others than its author.
    pub(super) fn is_open(&self, path: &[String], sought: &Sought<'_>) -> bool {
        path.iter().all(|segment| is_presentable(segment))
            && !self.taken.contains(path)
            && self.known.has(path)
            && self.known.admits(path, sought.property_type)
    }

    /// What other values of the plan are read from.
    pub(super) fn others(&self, path: &[String]) -> impl Iterator<Item = &'k [String]> {
        self.beside.iter().copied().filter(move |it| *it != path)
    }

    /// How many of the mappings read values of the same object, from 0 to 1.
    fn company(&self, path: &[String]) -> f64 {
        let beside = self.company.get(parent(path)).copied().unwrap_or_default();
        if self.taken.is_empty() { 0.0 } else { beside as f64 / self.taken.len() as f64 }
    }

    /// The object that most mappings read from.
    fn anchor(&self) -> Option<&'k [String]> {
        let most = self.taken.iter().max_by(|a, b| self.company(a).total_cmp(&self.company(b)));
        most.map(|path| parent(path))
    }
}

fn parent(path: &[String]) -> &[String] {
    path.split_last().map_or(path, |(_, parent)| parent)
}

/// The first of the ranked, certain where it suits well and no other comes near.
fn best_named(ranked: &[Candidate]) -> Option<NearestPath> {
    let found = best(ranked.iter().map(|it| (it.score, it)))?;
    let certain = found.score >= CLEARLY_NAMED && found.margin >= CLEARLY_NAMED_LEAD;
    let nearest = NearestPath::new(&found.item.path, certain, false);
    (found.score >= PERHAPS_NAMED).then_some(nearest)
}

/// Other ways to write the same path: joined by dots or slashes, after `$`, or after a word for the event itself.
pub(crate) fn other_spellings(given: &[String]) -> Vec<Path> {
    let split = |separators: &[char]| -> Path {
        let parts = given.iter().flat_map(|segment| segment.split(separators));
        parts.filter(|part| !part.is_empty() && *part != "$").map(str::to_owned).collect()
    };
    let mut spellings = vec![split(&['.']), split(&['.', '/'])];
    if let Some((first, rest)) = spellings.first().and_then(|path| path.split_first())
        && matches!(first.as_str(), "event" | "root" | "$event")
    {
        spellings.push(rest.to_vec());
    }
    spellings.retain(|path| !path.is_empty() && path != given);
    spellings.dedup();
    spellings
}
