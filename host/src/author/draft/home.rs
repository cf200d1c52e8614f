//! Where in an event a node beside the main one is: in an array that holds several, in an object of its own, or beside the
//! main one's properties.

use std::collections::BTreeSet;

use super::assign::{Assigner, Assignment, CLEAR_LEAD};
use super::literal::Subject;
use crate::evidence::effort::StepBudget;
use crate::evidence::matching::{Called, Scorer, Survey, Word, words};
use crate::evidence::{Evidence, Path};
use crate::graph::spec::Entity;
use crate::plan::expr::{ForEach, Iteration};

/// What the name of a place counts, compared with what is in it.
const NAME: f64 = 0.5;

/// Below this, a place has another name than what is looked for.
const HARDLY_CALLED: f64 = 0.25;

/// What a place that the rule names outright is called.
const NAMED: f64 = 1.0;

/// Below this, nothing is good enough: a missing node is better than a wrong one.
const GOOD_ENOUGH: f64 = 0.45;

/// How alike a word of a relationship and of a key have to be for the key to speak of it.
const RELATED: f64 = 0.7;

/// What it costs to see what an object is called, for each of its keys, in steps.
const OBJECT_STEPS: u64 = 1_000;

/// How many arrays are looked into, and how many objects are looked at for each node.
const MAX_ARRAYS: usize = 200;
const MAX_OBJECTS: usize = 12;

/// What occurs in the elements of an array, or the entries of an object whose keys are data.
#[derive(Debug)]
pub(super) struct Elements {
    iteration: Iteration,
    pub(super) evidence: Evidence,
}

/// Those of every array and map in the events of these types.
///
/// They are taken into memory, and what that takes is shared by all of them; whether there was room for all is reported with
/// them.
pub(super) fn elements(
    evidence: &Evidence,
    event_types: &[&str],
    effort: &StepBudget,
) -> (Vec<Elements>, bool) {
    let room = Evidence::room_within(effort);
    let found = evidence.arrays(event_types).into_iter().filter(|it| !it.kinds.is_empty());
    // A plan can't name an empty key.
    let found = found.map(|it| it.iteration).filter(|it| !it.path().iter().any(String::is_empty));
    let elements = found.take(MAX_ARRAYS).take_while(|_| !room.is_over()).map(|iteration| {
        let for_each = ForEach::new(iteration.clone());
        Elements { iteration, evidence: evidence.elements_within(event_types, &for_each, &room) }
    });
    let elements = elements.collect();
    effort.take_all(&room);
    (elements, !room.is_over())
}

/// A place for a node.
#[derive(Clone, Debug)]
pub(super) struct Home {
    pub(super) score: f64,
    /// What the node goes over; `None` for one of the event.
    pub(super) iteration: Option<Iteration>,
    /// The keys that lead to it.
    pub(super) path: Path,
    pub(super) assignment: Assignment,
}

/// What is looked through.
pub(super) struct Search<'a> {
    pub(super) survey: &'a Survey<'a>,
    /// Arrays, with what occurs in their elements.
    pub(super) elements: &'a [(&'a Elements, Survey<'a>)],
    /// The paths that the rule names, for whatever.
    pub(super) mentioned: &'a [Path],
    /// The entity that the rule is about, and where its values are.
    pub(super) main: (&'a Entity, &'a Assignment),
}

impl Search<'_> {
    /// The place where a node clearly is.
    pub(super) fn home(&self, child: &Subject<'_>) -> Option<Home> {
        let relationship = child.relationship.map_or("", |it| it.name.as_str());
        let called = Called::new(&child.entity.name, &self.main.0.name, relationship);
        let mut homes = self.in_arrays(child, &called);
        if child.path.is_some() || !self.is_told_apart_in_words(child) {
            homes.extend(self.in_objects(child, &called));
        }
        clearly_best(homes)
    }

    /// Whether the relationship has a word that neither entity has: an issue is `ASSIGNED_TO` its assignee, not to any user.
    /// Which of several objects is related isn't known then.
    fn is_told_apart_in_words(&self, child: &Subject<'_>) -> bool {
        let Some(relationship) = child.relationship else { return false };
        let effort = self.survey.effort();
        let has =
            |said: &[Word], word: &Word| said.iter().any(|it| it.alike(word, effort) >= RELATED);
        let ends = [&relationship.from_entity, &relationship.to_entity].map(|it| words(it));
        let is_own = |word: &Word| !word.is_filler() && !ends.iter().any(|end| has(end, word));
        words(&relationship.name).iter().any(is_own)
    }

    fn in_arrays(&self, child: &Subject<'_>, called: &Called) -> Vec<Home> {
        let scorer = Scorer::new(self.survey);
        let mut homes = Vec::new();
        for (elements, survey) in self.elements {
            let path = elements.iteration.path();
            let name = self.name(child, path, || scorer.called(called, path));
            if name < HARDLY_CALLED {
                continue;
            }
            let found = self.assign(child, survey, &[]);
            homes.extend(found.map(|assignment| Home {
                score: score(name, &assignment),
                iteration: Some(elements.iteration.clone()),
                path: path.to_vec(),
                assignment,
            }));
        }
        homes
    }

    fn in_objects(&self, child: &Subject<'_>, called: &Called) -> Vec<Home> {
        let (scorer, effort) = (Scorer::new(self.survey), self.survey.effort());
        let objects: BTreeSet<&[String]> = self
            .survey
            .places()
            .iter()
            .flat_map(|place| (1..place.path.len()).filter_map(|end| place.path.get(..end)))
            .filter(|object| *object != self.main.1.anchor)
            .collect();
        let steps = |object: &&[String]| effort.take(OBJECT_STEPS * object.len() as u64);
        let name = |object| self.name(child, object, || scorer.called(called, object));
        let mut named: Vec<(f64, &[String])> =
            objects.into_iter().take_while(steps).map(|object| (name(object), object)).collect();
        named.retain(|(name, _)| *name >= HARDLY_CALLED);
        named.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        named.truncate(MAX_OBJECTS);
        let home = |(name, object): (f64, &[String])| {
            let assignment = self.assign(child, self.survey, object)?;
            Some(Home {
                score: score(name, &assignment),
                iteration: None,
                path: object.to_vec(),
                assignment,
            })
        };
        named.into_iter().filter_map(home).collect()
    }

    /// How well a place is called what is looked for.
    fn name(&self, child: &Subject<'_>, path: &[String], called: impl FnOnce() -> f64) -> f64 {
        match &child.path {
            Some(named) if named == path => NAMED,
            Some(_) => 0.0,
            None => called(),
        }
    }

    fn assign(
        &self,
        child: &Subject<'_>,
        survey: &Survey<'_>,
        object: &[String],
    ) -> Option<Assignment> {
        let (mentioned, object) = (self.mentioned, Some(object));
        Assigner { subject: child, mentioned, survey, object }.assign().ok()
    }
}

/// The best of these places, if it is good enough and no other suits alike.
fn clearly_best(mut homes: Vec<Home>) -> Option<Home> {
    homes.retain(|home| home.score >= GOOD_ENOUGH);
    homes.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.path.cmp(&b.path)));
    let mut homes = homes.into_iter();
    let best = homes.next()?;
    let next = homes.find(|it| !is_of_part(&it.path, &best.path)).map_or(0.0, |next| next.score);
    (best.score - next >= CLEAR_LEAD).then_some(best)
}

fn score(name: f64, assignment: &Assignment) -> f64 {
    NAME * name + (1.0 - NAME) * assignment.quality()
}

/// Whether a path leads to what has the same name in a part of the object that another is in: of `issue.closed_at`,
/// `issue.milestone.closed_at`.
fn is_of_part(path: &[String], of: &[String]) -> bool {
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
