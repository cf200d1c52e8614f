//! One path for each property, as few of them wrong as can be.

use std::collections::{BTreeMap, BTreeSet};

use super::rule::Subject;
use crate::evidence::Path;
use crate::evidence::effort::StepBudget;
use crate::evidence::matching::{Aim, Candidate, Scorer, Survey, ValuePlace, Wanted, Word, words};
use crate::graph::spec::{Entity, Property};
use crate::plan::is_identifier;

/// Below this, a property is left out: a missing property is filled by whoever reads the rest of the event, a wrong one is
/// believed.
pub(super) const GOOD_ENOUGH: f64 = 0.55;

/// The same for the key, which is often called `id` or `no` alone.
const KEY_GOOD_ENOUGH: f64 = 0.45;

/// By how much the score of a path has to be ahead of that of any other which is free: of two that suit alike, neither is
/// supported.
pub(super) const CLEAR_LEAD: f64 = 0.03;

/// By how much a path whose values can't be had in the type has to be ahead for it to be the one that is meant.
const UNFIT_LEAD: f64 = 0.1;

/// What is left of the score of a path whose values have to be converted: one whose values are of the type is meant rather.
const CONVERTED: f64 = 0.95;

/// What a path is worth that the rule names for the property.
const NAMED: f64 = 1.0;

/// What the score of a path is multiplied by that the rule names without saying for what.
const MENTIONED: f64 = 1.15;

/// How much it speaks for an object being the entity that its name is the entity's.
const OBJECT_NAME: f64 = 1.5;
/// The share of it for a word that only says of what kind the entity is.
const OBJECT_KIND: f64 = 0.7;
/// How much it does that the key is in it.
const OBJECT_KEY: f64 = 2.0;

/// How alike a word of a property's name and of an object's are that are the same.
const SAME: f64 = 0.9;

/// What it costs for a path to speak for an object, in steps.
const VOTE: u64 = 200;

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
    /// Whether the paths start at the event, though those of other properties start at an element.
    pub(super) from_event: bool,
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
fn mean(scores: impl Iterator<Item = f64>) -> Option<f64> {
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

/// Where the values of an entity are looked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Within<'a> {
    /// Anywhere in the event: which object the entity is, its properties tell.
    Event,
    /// In this object, and in objects in it.
    Object(&'a [String]),
    /// Beside other things in this object, under keys that say what they are of: `customer_name`.
    Beside(&'a [String]),
}

impl Within<'_> {
    /// `kind` is the word that says what the entity is.
    fn admits(self, kind: Option<&Word>, place: &ValuePlace, effort: &StepBudget) -> bool {
        match self {
            Self::Event => true,
            Self::Object(object) => place.path.starts_with(object),
            Self::Beside(object) => place.path.split_last().is_some_and(|(_, above)| {
                let is_kind = |kind| place.leaf().iter().any(|it| it.alike(kind, effort) >= SAME);
                above == object && kind.is_some_and(is_kind)
            }),
        }
    }
}

/// Looks for paths for an entity's properties.
pub(super) struct Assigner<'a> {
    pub(super) subject: &'a Subject<'a>,
    /// The paths that the rule names, for whatever.
    pub(super) mentioned: &'a [Path],
    pub(super) survey: &'a Survey<'a>,
    pub(super) within: Within<'a>,
    /// What is known of a property elsewhere in the event, where nothing is found for it here.
    pub(super) elsewhere: &'a dyn Fn(&str) -> Option<Candidate>,
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
        let keys: Vec<&Property> = entity.key_properties().collect();
        let is_key = |it: &Property| keys.iter().any(|key| key.logical_name == it.logical_name);
        let wanted: Vec<&Property> = entity
            .properties
            .iter()
            .filter(|it| !is_key(it) && is_identifier(&it.logical_name))
            .filter(|it| {
                !subject.lists_properties || subject.properties.contains_key(&it.logical_name)
            })
            .collect();
        let anchor = match self.within {
            Within::Object(object) | Within::Beside(object) => object.to_vec(),
            Within::Event => {
                let scorer = Scorer::new(survey);
                let ranked = |it: &&Property, is_key: bool| {
                    scorer.rank(&aim(it, is_key, entity, &hints), None)
                };
                let of_keys: Vec<Vec<Candidate>> = keys
                    .iter()
                    .map(|key| self.named(key).unwrap_or_else(|| ranked(key, true)))
                    .collect();
                let free: Vec<(&Property, Vec<Candidate>)> =
                    wanted.iter().map(|it| (*it, ranked(it, false))).collect();
                anchor(&entity.name, &of_keys, &free, survey)
            }
        };
        let choices = |properties: &[&Property], is_key: bool, taken: BTreeSet<Path>| {
            let choice = |it: &&Property| self.choice(it, is_key, &hints, &anchor);
            let mut choices: Vec<Choice> = properties.iter().map(choice).collect();
            share_out(&mut choices, taken.clone());
            leave_out_unclear(&mut choices, &taken);
            choices
                .iter_mut()
                .filter(|it| it.chosen.is_none())
                .for_each(|it| self.look_elsewhere(it));
            choices
        };
        let keys = choices(&keys, true, BTreeSet::new());
        if let Some(key) = keys.iter().find(|it| it.chosen.is_none() || self.is_of_any_object(it)) {
            return Err(Lack::Key(key.name.clone()));
        }
        let taken: BTreeSet<Path> =
            keys.iter().filter(|it| !it.from_event).filter_map(Choice::path).cloned().collect();
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
        if is_told || !matches!(self.within, Within::Event) {
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

    fn look_elsewhere(&self, choice: &mut Choice) {
        if let Some(found) = (self.elsewhere)(&choice.name) {
            choice.candidates = vec![found];
            choice.chosen = Some(0);
            choice.from_event = true;
            choice.lead = choice.score();
        }
    }

    /// The paths that a property may have.
    fn choice(
        &self,
        property: &Property,
        is_key: bool,
        hints: &BTreeMap<&str, String>,
        anchor: &[String],
    ) -> Choice {
        let Self { subject, survey, .. } = *self;
        let entity = subject.entity;
        let ranked = || {
            let aim = aim(property, is_key, entity, hints);
            let kind = words(&entity.name).pop();
            let admits =
                |place: &ValuePlace| self.within.admits(kind.as_ref(), place, survey.effort());
            let mut found = Scorer::new(survey).rank_among(&aim, Some(anchor), admits);
            for candidate in &mut found {
                if !candidate.fits_type && candidate.is_usable() {
                    candidate.score *= CONVERTED;
                }
                if self.mentioned.contains(&candidate.path) {
                    candidate.score = (candidate.score * MENTIONED).min(NAMED);
                }
            }
            // Where the values that are meant can't be had in the type, others that can aren't meant.
            let best = |usable| {
                let scores = found.iter().filter(|it| it.is_usable() == usable).map(|it| it.score);
                scores.fold(0.0, f64::max)
            };
            if best(false) - best(true) > UNFIT_LEAD {
                found.clear();
            }
            let floor = if is_key { KEY_GOOD_ENOUGH } else { GOOD_ENOUGH };
            found.retain(|it| it.is_usable() && it.score >= floor);
            if is_key && matches!(self.within, Within::Event) {
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
            from_event: false,
            lead: 0.0,
        }
    }

    /// The path that the rule names for a property, unless the samples show that its values can't be had in the type: then no
    /// plan with it can be accepted.
    fn named(&self, property: &Property) -> Option<Vec<Candidate>> {
        let path = self.subject.properties.get(&property.logical_name)?.path.clone()?;
        let (values, property_type) = (self.survey.values(), &property.property_type);
        let fits_type = !values.contradicts(&path, Some(property_type));
        let convert = values.conversion(&path, property_type);
        let candidate = Candidate { path, score: NAMED, fits_type, convert };
        Some(if candidate.is_usable() { vec![candidate] } else { Vec::new() })
    }
}

fn aim<'a>(
    property: &'a Property,
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

/// The object that the entity is: the one in which most of its properties are, whose name is the entity's, and which has
/// the key.
fn anchor(
    entity: &str,
    keys: &[Vec<Candidate>],
    properties: &[(&Property, Vec<Candidate>)],
    survey: &Survey<'_>,
) -> Path {
    let mut votes: BTreeMap<&[String], f64> = BTreeMap::new();
    let mut vote = |candidates: &'_ [Candidate], name: &[Word], weight: f64| {
        let effort = survey.effort();
        if !effort.take(VOTE * (candidates.len() + survey.places().len()) as u64) {
            return;
        }
        let mut best: BTreeMap<Path, f64> = BTreeMap::new();
        for candidate in candidates.iter().filter(|it| it.is_usable()) {
            let Some((_, parent)) = candidate.path.split_last() else { continue };
            // `issue_id` is a property of something else than an issue.
            let of_parent = parent.last().is_some_and(|key| {
                words(key).iter().any(|word| name.iter().any(|it| it.alike(word, effort) >= SAME))
            });
            if of_parent {
                continue;
            }
            let score = best.entry(parent.to_vec()).or_default();
            *score = score.max(candidate.score);
        }
        for place in survey.places() {
            let Some((_, parent)) = place.path.split_last() else { continue };
            if let Some(score) = best.remove(parent) {
                *votes.entry(parent).or_default() += score * weight;
            }
        }
    };
    for key in keys {
        vote(key, &[], OBJECT_KEY);
    }
    for (property, candidates) in properties {
        vote(candidates, &words(&property.logical_name), 1.0);
    }
    let entity = words(entity);
    let named = |path: &[String]| {
        let Some(last) = path.last() else { return 0.0 };
        let name = words(last);
        // The last word says what it is, the ones before of what kind: an issue comment is a comment.
        let alike = |word: &Word| {
            let one = |(index, it): (usize, &Word)| {
                it.alike(word, survey.effort())
                    * if index + 1 == entity.len() { 1.0 } else { OBJECT_KIND }
            };
            entity.iter().enumerate().map(one).fold(0.0, f64::max)
        };
        name.iter().map(alike).fold(1.0, f64::min) * OBJECT_NAME
    };
    votes
        .into_iter()
        .map(|(path, score)| (score + named(path), path))
        .rev()
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, path)| path.to_vec())
        .unwrap_or_default()
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
        let chosen = choice.path().cloned().unwrap_or_default();
        let is_rival =
            |it: &&Candidate| !taken.contains(&it.path) && !is_of_part(&it.path, &chosen);
        let free = choice.candidates.iter().filter(is_rival);
        let next = free.map(|it| it.score).fold(0.0, f64::max);
        choice.lead = choice.score() - next;
        if !choice.is_named && choice.lead < CLEAR_LEAD {
            choice.chosen = None;
        }
    }
}

/// Whether a path leads to what has the same name in a part of the object that another is in: of `issue.closed_at`,
/// `issue.milestone.closed_at`.
pub(super) fn is_of_part(path: &[String], of: &[String]) -> bool {
    match (path.split_last(), of.split_last()) {
        (Some((name, within)), Some((other, object))) => {
            name == other
                && !object.is_empty()
                && within.len() > object.len()
                && within.starts_with(object)
        }
        _ => false,
    }
}
