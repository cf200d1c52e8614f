//! Which entity and which events a rule is about.

use std::collections::{BTreeMap, BTreeSet};

use super::assign::mean;
use super::literal::{Lookup, bare, quoted};
use crate::evidence::matching::{Aim, Scorer, Survey, Wanted};
use crate::graph::spec::{Entity, GraphSpec, PropertySpec};

/// How many event types a plan lists.
const MAX_TYPES: usize = 64;

/// What a rule is about, and whether it says so.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chosen<T> {
    pub(super) it: T,
    /// Whether the rule names it; otherwise it is what suits best.
    pub(super) is_named: bool,
}

/// The entity that a rule is about: the first that it names; else the one whose properties the events have.
pub(super) fn entity<'g>(
    graph: &'g GraphSpec,
    texts: &[&str],
    lookup: Lookup<'_>,
) -> Option<Chosen<&'g Entity>> {
    let may_read = |text: &&&str| lookup.may_read(text);
    let mut words = texts.iter().take_while(may_read).flat_map(|text| bare(text));
    if let Some(entity) = words.find_map(|name| graph.entity(name)) {
        return Some(Chosen { it: entity, is_named: true });
    }
    let entities = graph.entities();
    if let [only] = entities {
        return Some(Chosen { it: only, is_named: true });
    }
    let event_types: Vec<&str> = lookup.evidence.event_types().map(|(name, _)| name).collect();
    let survey = Survey::new(lookup.evidence, &event_types, lookup.effort);
    let scored = entities.iter().map(|entity| (suits(entity, &survey), entity));
    // Of equals the first.
    let best = scored.rev().max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.map(|(_, entity)| Chosen { it: entity, is_named: false })
}

/// How well the properties of an entity are found in the events, on the average.
fn suits(entity: &Entity, survey: &Survey<'_>) -> f64 {
    let scorer = Scorer::new(survey);
    let key = entity.key_properties().next().map(|key| key.logical_name.as_str());
    let best = |property: &PropertySpec| {
        let wanted = Wanted {
            name: &property.logical_name,
            property_type: Some(&property.property_type),
            hint: None,
            entity: &entity.name,
            is_key: key == Some(property.logical_name.as_str()),
        };
        let found = scorer.rank(&Aim::new(&wanted), None);
        found.first().filter(|it| it.fits_type).map_or(0.0, |it| it.score)
    };
    mean(entity.properties.iter().map(best)).unwrap_or(0.0)
}

/// The events that a rule is about.
#[derive(Clone, Debug)]
pub(super) struct Events {
    /// Of each type that the rule names and samples have, the one with the most samples first; never empty.
    pub(super) event_types: Chosen<Vec<String>>,
    /// The same as a plan writes it: a prefix where the rule has one, or the types.
    pub(super) patterns: Vec<String>,
}

/// Finds the events that a rule is about: those of a type that it names; else those that have the entity's properties.
pub(super) fn events(texts: &[&str], entity: &Entity, lookup: Lookup<'_>) -> Events {
    let Lookup { evidence, effort } = lookup;
    let counts: BTreeMap<&str, usize> =
        evidence.event_types().map(|(name, events)| (name, events.count())).collect();
    let texts: Vec<&str> = texts.iter().take_while(|text| lookup.may_read(text)).copied().collect();
    let marked: BTreeSet<&str> =
        texts.iter().copied().chain(texts.iter().flat_map(|text| quoted(text))).collect();
    let words: BTreeSet<&str> = texts.iter().flat_map(|text| bare(text)).collect();
    let prefixes: BTreeSet<&str> = marked
        .iter()
        .chain(&words)
        .filter_map(|it| it.strip_suffix('*'))
        .filter(|it| !it.is_empty())
        .collect();
    let types = |is_named: &dyn Fn(&str) -> bool| -> Vec<String> {
        let names = counts.keys().filter(|name| is_named(name));
        names.map(|name| (*name).to_owned()).collect()
    };
    let by_prefix = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
    let mut event_types = types(&|name| marked.contains(name) || by_prefix(name));
    if event_types.is_empty() {
        event_types = types(&|name| words.contains(name));
    }
    let is_named = !event_types.is_empty() || counts.len() == 1;
    if event_types.is_empty() {
        let suits = |name: &str| suits(entity, &Survey::new(evidence, &[name], effort));
        let suited = counts.keys().map(|name| (suits(name), name));
        let best = suited.rev().max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, name)| name);
        event_types.extend(best.map(|name| (*name).to_owned()));
    }
    event_types
        .sort_by_key(|name| (std::cmp::Reverse(counts.get(name.as_str()).copied()), name.clone()));
    let covers = |prefix: &&&str| event_types.iter().all(|name| name.starts_with(**prefix));
    let patterns = match prefixes.iter().filter(covers).max_by_key(|it| it.len()) {
        Some(prefix) => vec![format!("{prefix}*")],
        None => {
            let mut types: Vec<String> = event_types.iter().take(MAX_TYPES).cloned().collect();
            types.sort();
            types
        }
    };
    Events { event_types: Chosen { it: event_types, is_named }, patterns }
}
