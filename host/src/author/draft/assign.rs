//! One path for each property, as few of them wrong as can be.

use std::collections::{BTreeMap, BTreeSet};

use super::brief::Brief;
use crate::evidence::Path;
use crate::evidence::effort::Effort;
use crate::evidence::matching::{Aim, Candidate, Place, Scorer, Survey, Wanted, Word, words};
use crate::graph::spec::{Entity, Property};
use crate::plan::is_identifier;

/// Below this, a property is left out: a missing property is filled by whoever reads the rest of the event, a wrong one is
/// believed.
pub(super) const GOOD_ENOUGH: f64 = 0.55;

/// The same for the key, without which there is no plan at all.
const KEY_GOOD_ENOUGH: f64 = 0.3;

/// By how much a path whose values can't be had in the type has to be ahead for it to be the one that is meant.
const UNFIT_LEAD: f64 = 0.1;

/// What is left of the score of a path whose values have to be converted: one whose values are of the type is meant rather.
const CONVERTED: f64 = 0.95;

/// How much of the score of a property that every event is said to have hangs on the share of samples that have it.
const REQUIRED: f64 = 0.25;

/// What a path that the rule names is worth.
const NAMED: f64 = 1.0;

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
}

impl Choice {
    pub(super) fn candidate(&self) -> Option<&Candidate> {
        self.chosen.and_then(|index| self.candidates.get(index))
    }

    pub(super) fn path(&self) -> Option<&Path> {
        self.candidate().map(|it| &it.path)
    }

    fn score(&self) -> f64 {
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

    pub(super) fn choice_mut(&mut self, index: usize) -> Option<&mut Choice> {
        match index.checked_sub(self.keys.len()) {
            None => self.keys.get_mut(index),
            Some(property) => self.properties.get_mut(property),
        }
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
    fn admits(self, kind: Option<&Word>, place: &Place<'_>, effort: &Effort) -> bool {
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
    pub(super) brief: &'a Brief,
    pub(super) entity: &'a Entity,
    pub(super) survey: &'a Survey<'a>,
    pub(super) within: Within<'a>,
    /// What is known of a property elsewhere in the event, where nothing is found for it here.
    pub(super) elsewhere: &'a dyn Fn(&str) -> Option<Candidate>,
}

impl Assigner<'_> {
    /// Finds the paths; `None` where a part of the key is nowhere to be found.
    pub(super) fn assign(&self) -> Option<Assignment> {
        let Self { brief, entity, survey, .. } = *self;
        let scorer = Scorer::new(survey);
        let hints: BTreeMap<&str, String> = entity
            .properties
            .iter()
            .filter_map(|it| Some((it.logical_name.as_str(), brief.of(&it.logical_name)?.words()?)))
            .collect();
        let keys: Vec<&Property> = entity.key_properties().collect();
        let is_key = |it: &Property| keys.iter().any(|key| key.logical_name == it.logical_name);
        let wanted: Vec<&Property> = entity
            .properties
            .iter()
            .filter(|it| !is_key(it) && is_identifier(&it.logical_name))
            .filter(|it| !brief.lists_properties || brief.of(&it.logical_name).is_some())
            .collect();
        let anchor = match self.within {
            Within::Object(object) | Within::Beside(object) => object.to_vec(),
            Within::Event => {
                let free: Vec<(&Property, Vec<Candidate>)> = wanted
                    .iter()
                    .map(|it| (*it, scorer.rank(&aim(it, false, entity, &hints), None)))
                    .collect();
                let of_key = |key: &&Property| {
                    named(brief, key, survey)
                        .unwrap_or_else(|| scorer.rank(&aim(key, true, entity, &hints), None))
                };
                let of_keys: Vec<Vec<Candidate>> = keys.iter().map(of_key).collect();
                anchor(&entity.name, &of_keys, &free, survey)
            }
        };
        let choice =
            |property: &&Property, is_key: bool| self.choice(property, is_key, &hints, &anchor);
        let mut keys: Vec<Choice> = keys.iter().map(|it| choice(it, true)).collect();
        share_out(&mut keys, BTreeSet::new());
        for key in keys.iter_mut().filter(|it| it.chosen.is_none()) {
            self.look_elsewhere(key);
        }
        if keys.is_empty() || keys.iter().any(|it| it.chosen.is_none()) {
            return None;
        }
        let taken: BTreeSet<Path> =
            keys.iter().filter(|it| !it.from_event).filter_map(Choice::path).cloned().collect();
        let mut properties: Vec<Choice> = wanted.iter().map(|it| choice(it, false)).collect();
        share_out(&mut properties, taken);
        for property in properties.iter_mut().filter(|it| it.chosen.is_none()) {
            self.look_elsewhere(property);
        }
        Some(Assignment { keys, properties, anchor })
    }

    fn look_elsewhere(&self, choice: &mut Choice) {
        if let Some(found) = (self.elsewhere)(&choice.name) {
            choice.candidates = vec![found];
            choice.chosen = Some(0);
            choice.from_event = true;
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
        let Self { brief, entity, survey, .. } = *self;
        let ranked = || {
            let aim = aim(property, is_key, entity, hints);
            let kind = words(&entity.name).pop();
            let admits =
                |place: &Place<'_>| self.within.admits(kind.as_ref(), place, survey.effort());
            let mut found = Scorer::new(survey).rank_among(&aim, Some(anchor), admits);
            for candidate in found.iter_mut().filter(|it| !it.fits_type && it.is_usable()) {
                candidate.score *= CONVERTED;
            }
            if required(brief, property) {
                prefer_present(&mut found, survey);
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
        Choice {
            name: property.logical_name.clone(),
            candidates: named(brief, property, survey).unwrap_or_else(ranked),
            chosen: None,
            from_event: false,
        }
    }
}

fn required(brief: &Brief, property: &Property) -> bool {
    brief.of(&property.logical_name).is_some_and(|said| said.required)
}

/// Lowers the score of what is missing in some samples.
fn prefer_present(candidates: &mut [Candidate], survey: &Survey<'_>) {
    for candidate in candidates.iter_mut() {
        let coverage = survey.place(&candidate.path).map_or(0.0, |place| place.coverage);
        candidate.score *= 1.0 - REQUIRED * (1.0 - coverage);
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

/// The path that the rule names for a property, unless the samples show that its values can't be had in the type: then no
/// plan with it can be accepted.
fn named(brief: &Brief, property: &Property, survey: &Survey<'_>) -> Option<Vec<Candidate>> {
    let path = brief.of(&property.logical_name)?.path.clone()?;
    let fits_type = survey.values_fit(&path, &property.property_type) != Some(false);
    let convert = survey.conversion(&path, &property.property_type);
    let candidate = Candidate { path, score: NAMED, fits_type, convert };
    Some(if candidate.is_usable() { vec![candidate] } else { Vec::new() })
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

/// Gives each path to the property with the best claim to it, best claims first; then lets a property that went without
/// have a path whose holder can do nearly as well with another.
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
        let named = found.score >= NAMED;
        if choice.chosen.is_none() && (named || !taken.contains(&found.path)) {
            taken.insert(found.path.clone());
            choice.chosen = Some(candidate);
        }
    }
    for property in 0..properties.len() {
        if let Some((holder, other, mine)) = exchange(properties, property, &taken) {
            for (place, candidate) in [(holder, other), (property, mine)] {
                if let Some(choice) = properties.get_mut(place) {
                    choice.chosen = Some(candidate);
                    taken.extend(choice.path().cloned());
                }
            }
        }
    }
}

/// For a property without a path: who holds one that it could have, what the holder would take instead, and which it is.
fn exchange(
    properties: &[Choice],
    property: usize,
    taken: &BTreeSet<Path>,
) -> Option<(usize, usize, usize)> {
    let choice = properties.get(property).filter(|it| it.chosen.is_none())?;
    for (mine, wanted) in choice.candidates.iter().enumerate() {
        let holds = |it: &&Choice| it.path() == Some(&wanted.path);
        let Some(holder) = properties.iter().position(|it| holds(&it)) else { continue };
        let other =
            properties.get(holder)?.candidates.iter().position(|it| !taken.contains(&it.path));
        if let Some(other) = other {
            return Some((holder, other, mine));
        }
    }
    None
}
