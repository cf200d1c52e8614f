//! Where in an event a node beside the main one is: in an array that holds several, in an object of its own, or beside the
//! main one's properties.

use std::collections::BTreeSet;

use super::assign::{Assigner, Assignment, CLEAR_LEAD, Choice, Within, is_of_part};
use super::rule::Subject;
use crate::evidence::effort::StepBudget;
use crate::evidence::matching::{Called, Candidate, Scorer, Survey, Word, words};
use crate::evidence::{Evidence, Path, Seen};
use crate::graph::spec::Entity;
use crate::graph::validate::value::{Fit, fit};
use crate::plan::expr::{ForEach, Iteration};

/// What the name of a place counts, compared with what is in it.
const NAME: f64 = 0.5;

/// Below this, a place has another name than what is looked for.
const HARDLY_CALLED: f64 = 0.25;

/// From here on, a place has the name of what is looked for.
const WELL_CALLED: f64 = 0.7;

/// What a place that the rule names outright is called.
const NAMED: f64 = 1.0;

/// What the name of a place counts that has none of its own: keys among others that say what they are of.
const BESIDE: f64 = 0.6;

/// Below this, nothing is good enough: a missing node is better than a wrong one.
const GOOD_ENOUGH: f64 = 0.45;

/// What is left of the score of a place outside of the object that the main entity is.
const ELSEWHERE: f64 = 0.95;

/// How alike a word of a relationship and of a key have to be for the key to speak of it.
const RELATED: f64 = 0.7;

/// How good it is that the elements of an array are of the key's type, where they have no fields.
const BARE_ELEMENT: f64 = 0.8;

/// What it costs to see what an object is called, for each of its keys, in steps.
const OBJECT_STEPS: u64 = 1_000;

/// How many arrays are looked into, and how many objects are looked at for each node.
const MAX_ARRAYS: usize = 200;
const MAX_OBJECTS: usize = 12;

/// What occurs in the elements of an array, or the entries of an object whose keys are data.
#[derive(Debug)]
pub(super) struct Elements {
    for_each: ForEach,
    /// The keys that lead to it, those inside of an outer element included.
    path: Path,
    pub(super) evidence: Evidence,
}

impl Elements {
    /// Whether what holds them has the name of an entity.
    pub(super) fn are(&self, entity: &Entity, survey: &Survey<'_>) -> bool {
        let called = Called::new(&entity.name, "", "");
        Scorer::new(survey).called(&called, &self.path) >= WELL_CALLED
    }
}

/// Those of every array and map in the events of these types, and of every one that is in an element of another.
///
/// They are taken into memory, and what that takes is shared by all of them; whether there was room for all is reported with
/// them.
pub(super) fn elements(
    evidence: &Evidence,
    event_types: &[&str],
    effort: &StepBudget,
) -> (Vec<Elements>, bool) {
    let room = Evidence::room_within(effort);
    let mut all = Vec::new();
    for outer in iterations(evidence, event_types) {
        if all.len() >= MAX_ARRAYS || room.is_over() {
            break;
        }
        let for_each = ForEach::new(outer.clone(), None);
        let inside = evidence.elements_within(event_types, &for_each, &room);
        let nested = iterations(&inside, event_types);
        all.push(Elements { for_each, path: outer.path.clone(), evidence: inside });
        for inner in nested {
            if all.len() >= MAX_ARRAYS || room.is_over() {
                break;
            }
            let path: Path = outer.path.iter().chain(&inner.path).cloned().collect();
            let for_each = ForEach::new(outer.clone(), Some(inner));
            let inside = evidence.elements_within(event_types, &for_each, &room);
            all.push(Elements { for_each, path, evidence: inside });
        }
    }
    effort.take_all(&room);
    (all, !room.is_over())
}

/// What there are elements in, in samples or by the schema.
fn iterations(evidence: &Evidence, event_types: &[&str]) -> Vec<Iteration> {
    let found = evidence.arrays(event_types).into_iter().filter(|it| !it.kinds.is_empty());
    let iterations = found.map(|it| it.iteration);
    // A plan can't name an empty key.
    iterations.filter(|it| !it.path.iter().any(String::is_empty)).collect()
}

/// A place for a node.
#[derive(Clone, Debug)]
pub(super) struct Home {
    pub(super) score: f64,
    /// What the node goes over; `None` for one of the event.
    pub(super) for_each: Option<ForEach>,
    /// The keys that lead to it.
    pub(super) path: Path,
    pub(super) assignment: Assignment,
}

/// What is looked through.
pub(super) struct Search<'a> {
    pub(super) survey: &'a Survey<'a>,
    /// Arrays, with what occurs in their elements.
    pub(super) elements: &'a [(&'a Elements, &'a Survey<'a>)],
    /// The paths that the rule names, for whatever.
    pub(super) mentioned: &'a [Path],
    /// The entity that the rule is about, and where its values are; `None` where it is what is looked for.
    pub(super) main: Option<(&'a Entity, &'a Assignment)>,
}

impl Search<'_> {
    /// The place where a node clearly is.
    pub(super) fn home(&self, child: &Subject<'_>) -> Option<Home> {
        let owner = self.main.map_or("", |(main, _)| main.name.as_str());
        let relationship = child.relationship.map_or("", |it| it.name.as_str());
        let called = Called::new(&child.entity.name, owner, relationship);
        let mut homes = self.in_arrays(child, &called);
        homes.extend(self.in_objects(child, &called));
        if child.path.is_none() {
            self.heed_relationship(child, &mut homes);
        }
        let anchor = self.main.map_or(&[][..], |(_, assignment)| &assignment.anchor);
        for home in homes.iter_mut().filter(|home| !home.path.starts_with(anchor)) {
            home.score *= ELSEWHERE;
        }
        homes.extend(self.beside(child));
        clearly_best(homes)
    }

    /// Keeps the places that have a word of the relationship, which neither entity has: an issue is `ASSIGNED_TO` its assignee,
    /// not to any user. Where no place has one, only arrays are kept: which of several objects is related isn't known.
    fn heed_relationship(&self, child: &Subject<'_>, homes: &mut Vec<Home>) {
        let Some(relationship) = child.relationship else { return };
        let effort = self.survey.effort();
        let has =
            |said: &[Word], word: &Word| said.iter().any(|it| it.alike(word, effort) >= RELATED);
        let ends = [&relationship.from_entity, &relationship.to_entity].map(|it| words(it));
        let mut own = words(&relationship.name);
        own.retain(|word| !word.is_filler() && !ends.iter().any(|end| has(end, word)));
        let says = |home: &Home| {
            let mut keys = home.path.iter().flat_map(|key| words(key));
            keys.any(|key| has(&own, &key))
        };
        if homes.iter().any(says) {
            homes.retain(says);
        } else if !own.is_empty() {
            homes.retain(|home| home.for_each.is_some());
        }
    }

    /// The place where the entity that the rule is about clearly is, where events hold several of them under its name.
    pub(super) fn home_of_main(&self, main: &Subject<'_>) -> Option<Home> {
        let named: Vec<(&Elements, &Survey<'_>)> = self
            .elements
            .iter()
            .filter(|(it, _)| it.are(main.entity, self.survey))
            .copied()
            .collect();
        let called = Called::new(&main.entity.name, "", "");
        let homes = Search { elements: &named, ..*self }.in_arrays(main, &called);
        clearly_best(homes)
    }

    fn in_arrays(&self, child: &Subject<'_>, called: &Called) -> Vec<Home> {
        let scorer = Scorer::new(self.survey);
        let mut homes = Vec::new();
        for (elements, survey) in self.elements {
            let name = self.name(child, &elements.path, || scorer.called(called, &elements.path));
            if name < HARDLY_CALLED {
                continue;
            }
            let bare = bare(child.entity, &elements.evidence);
            let found = bare.or_else(|| self.assign(child, survey, Within::Object(&[])));
            homes.extend(found.map(|assignment| Home {
                score: score(name, &assignment),
                for_each: Some(elements.for_each.clone()),
                path: elements.path.clone(),
                assignment,
            }));
        }
        homes
    }

    fn in_objects(&self, child: &Subject<'_>, called: &Called) -> Vec<Home> {
        let (scorer, effort) = (Scorer::new(self.survey), self.survey.effort());
        let taken = self.main.map(|(_, assignment)| assignment.anchor.as_slice());
        let objects: BTreeSet<&[String]> = self
            .survey
            .places()
            .iter()
            .flat_map(|place| (1..place.path.len()).filter_map(|end| place.path.get(..end)))
            .filter(|object| Some(*object) != taken)
            .collect();
        let steps = |object: &&[String]| effort.take(OBJECT_STEPS * object.len() as u64);
        let name = |object| self.name(child, object, || scorer.called(called, object));
        let mut named: Vec<(f64, &[String])> =
            objects.into_iter().take_while(steps).map(|object| (name(object), object)).collect();
        named.retain(|(name, _)| *name >= HARDLY_CALLED);
        named.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        named.truncate(MAX_OBJECTS);
        let home = |(name, object): (f64, &[String])| {
            let assignment = self.assign(child, self.survey, Within::Object(object))?;
            Some(Home {
                score: score(name, &assignment),
                for_each: None,
                path: object.to_vec(),
                assignment,
            })
        };
        named.into_iter().filter_map(home).collect()
    }

    /// Among the main node's own properties.
    fn beside(&self, child: &Subject<'_>) -> Option<Home> {
        let anchor = self.main.map(|(_, assignment)| assignment.anchor.clone())?;
        if child.path.is_some() {
            return None;
        }
        let assignment = self.assign(child, self.survey, Within::Beside(&anchor))?;
        let score = score(BESIDE, &assignment);
        Some(Home { score, for_each: None, path: anchor, assignment })
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
        within: Within<'_>,
    ) -> Option<Assignment> {
        let elsewhere = |name: &str| self.of_main(name);
        let mentioned = self.mentioned;
        Assigner { subject: child, mentioned, survey, within, elsewhere: &elsewhere }.assign().ok()
    }

    /// What the main node has under this name, or under this name without that of its entity: a line has the `order_id` that
    /// is the `id` of the order.
    fn of_main(&self, name: &str) -> Option<Candidate> {
        let (main, assignment) = self.main?;
        let (wanted, owner) = (words(name), words(&main.name));
        let is_it = |choice: &&Choice| {
            let own = words(&choice.name);
            (own == wanted && own.iter().any(|word| owner.contains(word)))
                || owner.iter().chain(&own).eq(wanted.iter())
        };
        assignment.choices().find(is_it).and_then(Choice::candidate).cloned()
    }
}

/// The best of these places, if it is good enough and no other suits alike.
fn clearly_best(mut homes: Vec<Home>) -> Option<Home> {
    homes.retain(|home| home.score >= GOOD_ENOUGH);
    homes.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.path.cmp(&b.path)));
    let mut homes = homes.into_iter();
    let best = homes.next()?;
    let reads = |home: &Home| {
        let paths = home.assignment.choices().map(|it| it.path().cloned());
        (home.for_each.clone(), paths.collect::<Vec<_>>())
    };
    let is_rival = |it: &Home| reads(it) != reads(&best) && !is_of_part(&it.path, &best.path);
    let next = homes.find(is_rival).map_or(0.0, |next| next.score);
    (best.score - next >= CLEAR_LEAD).then_some(best)
}

fn score(name: f64, assignment: &Assignment) -> f64 {
    NAME * name + (1.0 - NAME) * assignment.quality()
}

/// The elements themselves as the key, where they have no fields: `"topics": ["wasm", "json"]`.
fn bare(entity: &Entity, elements: &Evidence) -> Option<Assignment> {
    let mut keys = entity.key_properties();
    let (key, None) = (keys.next()?, keys.next()) else { return None };
    let mut values =
        elements.event_types().flat_map(|(_, events)| events.samples()).map(Seen::event).peekable();
    values.peek()?;
    if !values.all(|value| fit(&key.property_type, value) == Fit::Valid) {
        return None;
    }
    let element =
        Candidate { path: Path::new(), score: BARE_ELEMENT, fits_type: true, convert: None };
    let key = Choice {
        name: key.logical_name.clone(),
        candidates: vec![element],
        chosen: Some(0),
        from_event: false,
        is_named: false,
        lead: BARE_ELEMENT,
    };
    Some(Assignment { keys: vec![key], properties: Vec::new(), anchor: Path::new() })
}
