//! One path for each property, as few of them wrong as can be.

use std::collections::{BTreeMap, BTreeSet};

use super::literal::Subject;
use crate::evidence::Path;
use crate::evidence::matching::{Aim, Candidate, Scorer, Survey, ValuePlace, Wanted, Word, words};
use crate::graph::spec::{Entity, PropertySpec};
use crate::plan::is_identifier;

/// Below this, a property is left out: a missing property is filled by whoever reads the rest of the event, a wrong one is
/// believed.
pub(super) const GOOD_ENOUGH: f64 = 0.55;

/// The same for the key, which is often called `id` or `no` alone.
const KEY_GOOD_ENOUGH: f64 = 0.45;

/// By how much the score of a path has to be ahead of that of any other which is free: of two that suit alike, neither is
/// supported.
pub(super) const CLEAR_LEAD: f64 = 0.03;

/// What a path is worth that the rule names for the property.
const NAMED: f64 = 1.0;

/// What the score of a path is multiplied by that the rule names without saying for what.
const MENTIONED: f64 = 1.15;

/// How alike a word of a property's name and of an object's are that are the same.
const SAME: f64 = 0.9;

/// How many choices a property has.
const MAX_CHOICES: usize = 8;

/// A property with the paths that it may have.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) name: String,
    /// Best first; all good enough. The first is not always the chosen one: another property may have a better claim.
    pub(super) candidates: Vec<Candidate>,
    /// The chosen one, if any.
    pub(super) chosen: Option<usize>,
    /// Whether the rule names the path for the property.
    pub(super) is_named: bool,
    /// By how much the score of the chosen path is ahead of that of the next one that is free.
    pub(super) lead: f64,
}

impl Choice {
    pub(super) fn candidate(&self) -> Option<&Candidate> {
        self.chosen.and_then(|index| self.candidates.get(index))
    }

    pub(super) fn path(&self) -> Option<&Path> {
        self.candidate().map(|it| &it.path)
    }

    pub(super) fn score(&self) -> f64 {
        self.candidate().map_or(0.0, |it| it.score)
    }
}

/// Where the values of an entity are.
#[derive(Clone, Debug)]
pub(super) struct Assignment {
    /// The properties of the key, in the order of the graph spec; each has a path.
    pub(super) keys: Vec<Choice>,
    /// In the order of the graph spec.
    pub(super) properties: Vec<Choice>,
    /// The object that the entity is; empty for the event, or the element, itself.
    pub(super) anchor: Path,
}

impl Assignment {
    pub(super) fn choices(&self) -> impl Iterator<Item = &Choice> {
        self.keys.iter().chain(&self.properties)
    }

    /// How well the entity was found, from 0 to 1: its key counts as much as all other properties.
    pub(super) fn quality(&self) -> f64 {
        let key = mean(self.keys.iter().map(Choice::score));
        let Some(key) = key else { return 0.0 };
        mean(self.properties.iter().map(Choice::score)).map_or(key, |rest| f64::midpoint(key, rest))
    }
}

/// The mean; `None` of nothing.
pub(super) fn mean(scores: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = scores.fold((0.0, 0.0), |(count, sum), score| (count + 1.0, sum + score));
    (count > 0.0).then(|| sum / count)
}

/// Why the samples don't support an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lack {
    /// Nothing clearly suits this property of its key.
    Key(String),
    /// Most of its properties have nothing that clearly suits them.
    Properties { found: usize, wanted: usize },
}

/// Looks for paths for an entity's properties.
pub(super) struct Assigner<'a> {
    pub(super) subject: &'a Subject<'a>,
    /// The paths that the rule names, for whatever.
    pub(super) mentioned: &'a [Path],
    pub(super) survey: &'a Survey<'a>,
    /// The object that the entity is; `None` where its properties tell.
    pub(super) object: Option<&'a [String]>,
}

impl Assigner<'_> {
    /// Finds the paths.
    ///
    /// # Errors
    /// [`Lack`], where the key or most properties have no path that clearly suits them.
    pub(super) fn assign(&self) -> Result<Assignment, Lack> {
        let Self { subject, survey, .. } = *self;
        let entity = subject.entity;
        let hints: BTreeMap<&str, String> = subject
            .properties
            .iter()
            .filter_map(|(name, said)| Some((name.as_str(), said.hint()?)))
            .collect();
        let keys: Vec<&PropertySpec> = entity.key_properties().collect();
        let is_key = |it: &PropertySpec| keys.iter().any(|key| key.logical_name == it.logical_name);
        let wanted: Vec<&PropertySpec> = entity
            .properties
            .iter()
            .filter(|it| !is_key(it) && is_identifier(&it.logical_name))
            .filter(|it| {
                !subject.lists_properties || subject.properties.contains_key(&it.logical_name)
            })
            .collect();
        let anchor = match self.object {
            Some(object) => object.to_vec(),
            None => {
                let scorer = Scorer::new(survey);
                let ranked = |it: &PropertySpec| scorer.rank(&aim(it, true, entity, &hints), None);
                let found = keys.iter().flat_map(|it| self.named(it).unwrap_or_else(|| ranked(it)));
                let best = found.max_by(|a, b| a.score.total_cmp(&b.score));
                best.and_then(|it| Some(it.path.split_last()?.1.to_vec())).unwrap_or_default()
            }
        };
        let choices = |properties: &[&PropertySpec], is_key: bool, taken: BTreeSet<Path>| {
            let choice = |it: &&PropertySpec| self.choice(it, is_key, &hints, &anchor);
            let mut choices: Vec<Choice> = properties.iter().map(choice).collect();
            share_out(&mut choices, taken.clone());
            leave_out_unclear(&mut choices, &taken);
            choices
        };
        let keys = choices(&keys, true, BTreeSet::new());
        if let Some(key) = keys.iter().find(|it| it.chosen.is_none() || self.is_of_any_object(it)) {
            return Err(Lack::Key(key.name.clone()));
        }
        let taken: BTreeSet<Path> = keys.iter().filter_map(Choice::path).cloned().collect();
        let properties = choices(&wanted, false, taken);
        let found = properties.iter().filter(|it| it.chosen.is_some()).count();
        if found * 2 < wanted.len() {
            return Err(Lack::Properties { found, wanted: wanted.len() });
        }
        Ok(Assignment { keys, properties, anchor })
    }

    /// Whether other objects of the event have the same key, and nothing above this one says that it is the entity's: a `uid`
    /// in `metadata` and one in `object`.
    fn is_of_any_object(&self, key: &Choice) -> bool {
        let Some((leaf, above)) = key.path().and_then(|path| path.split_last()) else {
            return false;
        };
        let is_told = key.is_named || key.path().is_some_and(|path| self.mentioned.contains(path));
        if is_told || self.object.is_some() {
            return false;
        }
        let effort = self.survey.effort();
        let meant: Vec<Word> =
            words(&self.subject.entity.name).into_iter().chain(words(&key.name)).collect();
        let says = |word: Word| meant.iter().any(|it| it.alike(&word, effort) >= SAME);
        let is_other = |place: &ValuePlace| {
            place
                .path
                .split_last()
                .is_some_and(|(other, within)| other == leaf && !within.starts_with(above))
        };
        !above.iter().flat_map(|it| words(it)).any(says)
            && self.survey.places().iter().any(is_other)
    }

    /// The paths that a property may have.
    fn choice(
        &self,
        property: &PropertySpec,
        is_key: bool,
        hints: &BTreeMap<&str, String>,
        anchor: &[String],
    ) -> Choice {
        let Self { subject, survey, .. } = *self;
        let entity = subject.entity;
        let ranked = || {
            let aim = aim(property, is_key, entity, hints);
            let admits = |place: &ValuePlace| {
                self.object.is_none_or(|object| place.path.starts_with(object))
            };
            let mut found = Scorer::new(survey).rank_among(&aim, Some(anchor), admits);
            for candidate in &mut found {
                if self.mentioned.contains(&candidate.path) {
                    candidate.score = (candidate.score * MENTIONED).min(NAMED);
                }
            }
            let floor = if is_key { KEY_GOOD_ENOUGH } else { GOOD_ENOUGH };
            found.retain(|it| it.is_usable() && it.score >= floor);
            if is_key && self.object.is_none() {
                let hint = hints.get(property.logical_name.as_str()).map_or("", String::as_str);
                found.retain(|it| !is_of_all_events(&it.path, &property.logical_name, hint));
            }
            found.sort_by(|a, b| b.score.total_cmp(&a.score));
            found.truncate(MAX_CHOICES);
            found
        };
        let named = self.named(property);
        Choice {
            name: property.logical_name.clone(),
            is_named: named.is_some(),
            candidates: named.unwrap_or_else(ranked),
            chosen: None,
            lead: 0.0,
        }
    }

    /// The path that the rule names for a property, unless the samples show that its values can't be had in the type: then no
    /// plan with it can be accepted.
    fn named(&self, property: &PropertySpec) -> Option<Vec<Candidate>> {
        let path = self.subject.properties.get(&property.logical_name)?.path.clone()?;
        let (values, property_type) = (self.survey.values(), &property.property_type);
        let fits_type = !values.contradicts(&path, Some(property_type));
        let convert = values.conversion(&path, property_type);
        let candidate = Candidate { path, score: NAMED, fits_type, convert };
        Some(if candidate.is_usable() { vec![candidate] } else { Vec::new() })
    }
}

fn aim<'a>(
    property: &'a PropertySpec,
    is_key: bool,
    entity: &'a Entity,
    hints: &'a BTreeMap<&str, String>,
) -> Aim<'a> {
    Aim::new(&Wanted {
        name: &property.logical_name,
        property_type: Some(&property.property_type),
        hint: hints.get(property.logical_name.as_str()).map(String::as_str),
        entity: &entity.name,
        is_key,
    })
}

/// Whether a path says to which session or span an event belongs, or of which type it is, rather than what it is about. Where
/// a key is named or described by one of these, it is meant all the same.
fn is_of_all_events(path: &[String], name: &str, hint: &str) -> bool {
    let [only] = path else { return false };
    let Some(word) = ["session", "span", "event_type"].into_iter().find(|it| only.starts_with(it))
    else {
        return false;
    };
    !name.contains(word) && !hint.contains(word)
}

/// Gives each path to the property with the best claim to it, best claims first.
fn share_out(properties: &mut [Choice], mut taken: BTreeSet<Path>) {
    let mut claims: Vec<(usize, usize)> = properties
        .iter()
        .enumerate()
        .flat_map(|(property, choice)| (0..choice.candidates.len()).map(move |it| (property, it)))
        .collect();
    let score = |properties: &[Choice], (property, candidate): (usize, usize)| {
        properties
            .get(property)
            .and_then(|it| it.candidates.get(candidate))
            .map_or(0.0, |it| it.score)
    };
    claims.sort_by(|a, b| score(properties, *b).total_cmp(&score(properties, *a)));
    for (property, candidate) in claims {
        let Some(choice) = properties.get_mut(property) else { continue };
        let Some(found) = choice.candidates.get(candidate) else { continue };
        if choice.chosen.is_none() && (choice.is_named || !taken.contains(&found.path)) {
            taken.insert(found.path.clone());
            choice.chosen = Some(candidate);
        }
    }
}

/// Sees by how much each path is ahead of others that no property has, and takes it back where that is too little.
fn leave_out_unclear(properties: &mut [Choice], taken: &BTreeSet<Path>) {
    let mut taken = taken.clone();
    taken.extend(properties.iter().filter_map(Choice::path).cloned());
    for choice in properties {
        let free = choice.candidates.iter().filter(|it| !taken.contains(&it.path));
        let next = free.map(|it| it.score).fold(0.0, f64::max);
        choice.lead = choice.score() - next;
        if !choice.is_named && choice.lead < CLEAR_LEAD {
            choice.chosen = None;
        }
    }
}
