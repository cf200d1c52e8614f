//! The path that was meant, where a plan reads one that there isn't, or one of the wrong type.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::known::Known;
use super::likeness;
use crate::diagnostics::untrusted::is_hidden;
use crate::evidence::effort::Effort;
use crate::evidence::matching::{Aim, Candidate, Scorer, Wanted};
use crate::evidence::{Kind, Path};
use crate::graph::spec::PropertyType;

/// How alike a path has to be for the other to be a slip of it.
const SLIP: f64 = 0.8;

/// How alike two paths are at least that end in the same name.
const ELSEWHERE: f64 = 0.75;

/// How alike it has to be to be worth a suggestion.
const WORTH_SAYING: f64 = 0.6;

/// How far the best slip has to be ahead of the second best for nothing else to be meant.
const LEAD: f64 = 0.04;

/// What the property's name counts beside the path that was written, and what the company of other mappings does: they
/// decide between paths that are about equally like it.
const NAME: f64 = 0.25;
const COMPANY: f64 = 0.1;

/// What a path has to score for the property for nothing else to be meant, and how far ahead of the second best.
const NAMED: f64 = 0.7;
const NAMED_LEAD: f64 = 0.1;

/// What it has to score to be worth a suggestion.
const NAMED_PERHAPS: f64 = 0.4;

/// What it costs to look at a path that is known, beside the comparing of names and words, in steps.
const KNOWN_STEPS: u64 = 100;

/// How long a name may be that is proposed.
const MAX_NAME_CHARS: usize = 120;

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
pub(crate) struct Nearest {
    pub(crate) path: Path,
    /// Whether nothing else could be meant.
    pub(crate) certain: bool,
    /// Whether it is much like what was written, and not only called like the property.
    pub(crate) slip: bool,
}

impl Nearest {
    /// Whether what was written is this one misspelt, and no other.
    pub(crate) fn is_clear_slip(&self) -> bool {
        self.certain && self.slip
    }
}

/// Where paths are looked for: those of an event type, without the ones that other mappings read.
pub(crate) struct Search<'k, 't> {
    known: &'k Known<'t>,
    entity: &'k str,
    taken: BTreeSet<&'k [String]>,
    /// Of each object, how many of the mappings read values of it.
    company: HashMap<&'k [String], usize>,
}

impl<'k, 't> Search<'k, 't> {
    /// `taken` are the paths of mappings with which nothing is wrong.
    pub(crate) fn new(
        known: &'k Known<'t>,
        entity: &'k str,
        taken: impl IntoIterator<Item = &'k [String]>,
    ) -> Self {
        let taken: BTreeSet<&[String]> = taken.into_iter().collect();
        let mut company: HashMap<&[String], usize> = HashMap::new();
        for path in &taken {
            *company.entry(parent(path)).or_default() += 1;
        }
        Self { known, entity, taken, company }
    }

    /// What searching is taken from.
    pub(super) fn effort(&self) -> &'t Effort {
        &self.known.efforts().searches
    }

    /// Where it looks.
    pub(super) fn known(&self) -> &'k Known<'t> {
        self.known
    }

    /// The path that was meant by one that isn't known. None where the search ends for want of effort.
    pub(crate) fn slip(&self, sought: &Sought<'_>) -> Option<Nearest> {
        let written = || {
            let mut forms = forms(sought.given).into_iter();
            let path = forms.find(|form| self.is_open(form, sought))?;
            Some(Nearest { path, certain: true, slip: true })
        };
        let found = written().or_else(|| self.effort().whole(self.likeliest(sought)))?;
        Some(self.as_sure_as_can_be(found, sought))
    }

    /// Of what is always null, a field may be meant that nothing is known of: unless as many keys were written, it isn't
    /// certain that the null itself is meant.
    fn as_sure_as_can_be(&self, nearest: Nearest, sought: &Sought<'_>) -> Nearest {
        let written = forms(sought.given).first().map_or(sought.given.len(), Vec::len);
        let is_null = self.known.values(&nearest.path).next().is_none()
            && self.known.declared_kinds(&nearest.path).iter().all(|kind| kind == Kind::Null);
        Nearest {
            certain: nearest.certain && !(is_null && nearest.path.len() != written),
            ..nearest
        }
    }

    fn likeliest(&self, sought: &Sought<'_>) -> Option<Nearest> {
        let effort = self.effort();
        if !effort.take(KNOWN_STEPS * self.known.paths().len() as u64) {
            return None;
        }
        let forms = forms(sought.given);
        let given = forms.first().map_or(sought.given, |form| form.as_slice());
        let spelled = likeness::spelled(given);
        let ranked = self.ranked(sought);
        let named = best_named(&ranked);
        let said: BTreeMap<&[String], f64> =
            ranked.iter().map(|it| (it.path.as_slice(), it.score)).collect();
        let mut slips: Vec<(f64, f64, &[String])> = self
            .known
            .spelled()
            .iter()
            .filter(|(path, _)| *path != sought.given)
            .take_while(|_| !effort.is_over())
            .map(|(path, keys)| {
                let name = said.get(path).copied().unwrap_or_default();
                let elsewhere = likeness::same_leaf(&spelled, keys)
                    && (sought.name.is_none() || name >= NAMED_PERHAPS);
                let near = likeness::paths(&spelled, keys, effort);
                let alike = near.max(if elsewhere { ELSEWHERE } else { 0.0 });
                (alike + NAME * name + COMPANY * self.company(path), alike, *path)
            })
            .filter(|(_, alike, path)| *alike >= WORTH_SAYING && self.is_open(path, sought))
            .collect();
        slips.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
        let second = slips.get(1).map_or(0.0, |(score, ..)| *score);
        let Some((score, alike, path)) = slips.first() else { return named };
        let certain = score - second >= LEAD;
        let slip = Nearest { path: path.to_vec(), certain, slip: *alike >= SLIP };
        let agree = named.as_ref().is_none_or(|named| named.path == slip.path);
        match named {
            _ if slip.certain && (*alike >= SLIP || (*alike >= ELSEWHERE && agree)) => Some(slip),
            Some(named) if named.certain => Some(named),
            _ => Some(Nearest { certain: false, ..slip }),
        }
    }

    /// The path that suits the property, whatever the plan says. None where the search ends for want of effort.
    pub(crate) fn named(&self, sought: &Sought<'_>) -> Option<Nearest> {
        let found = self.effort().whole(best_named(&self.ranked(sought)))?;
        Some(self.as_sure_as_can_be(found, sought))
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
    fn is_open(&self, path: &[String], sought: &Sought<'_>) -> bool {
        path.iter().all(|segment| is_presentable(segment))
            && !self.taken.contains(path)
            && self.known.has(path)
            && self.known.admits(path, sought.property_type)
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

/// Whether a name from an event may stand in a proposal. Long ones, and ones with characters that don't show, are a model's
/// to write if it means them: what is proposed is read by models and people as Retort's own words.
pub(crate) fn is_presentable(name: &str) -> bool {
    name.chars().nth(MAX_NAME_CHARS).is_none() && !name.chars().any(is_hidden)
}

fn parent(path: &[String]) -> &[String] {
    path.split_last().map_or(path, |(_, parent)| parent)
}

/// The first of the ranked, certain where it suits well and no other comes near.
fn best_named(ranked: &[Candidate]) -> Option<Nearest> {
    let best = ranked.first().filter(|best| best.score >= NAMED_PERHAPS)?;
    let second = ranked.get(1).map_or(0.0, |it| it.score);
    let certain = best.score >= NAMED && best.score - second >= NAMED_LEAD;
    Some(Nearest { path: best.path.clone(), certain, slip: false })
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
