//! Which entity and which events a rule is about.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::rule::{Lookup, bare, comparisons, quoted};
use crate::evidence::effort::StepBudget;
use crate::evidence::matching::{Aim, Scorer, Survey, Wanted};
use crate::evidence::{Evidence, Path, Samples, Task, at};
use crate::graph::spec::{Entity, GraphSpec};

/// How many event types a plan lists.
const MAX_TYPES: usize = 64;

/// What a rule is about, and whether it says so.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chosen<T> {
    pub(super) it: T,
    /// Whether the rule names it; otherwise it is what suits best.
    pub(super) is_named: bool,
}

/// The entity that a rule is about: the first whose name is a text of its own; else the first that is named between quotation
/// marks; else the first that is a word of a text; else the one whose properties the events have.
pub(super) fn entity<'g>(
    graph: &'g GraphSpec,
    texts: &[&str],
    lookup: Lookup<'_>,
) -> Option<Chosen<&'g Entity>> {
    let may_read = |text: &&&str| lookup.may_read(text);
    let texts: Vec<&str> = texts.iter().take_while(may_read).copied().collect();
    let whole = || texts.iter().find_map(|text| graph.entity(text));
    let marked = || texts.iter().flat_map(|text| quoted(text)).find_map(|name| graph.entity(name));
    let word = || texts.iter().flat_map(|text| bare(text)).find_map(|name| graph.entity(name));
    if let Some(entity) = whole().or_else(marked).or_else(word) {
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

/// How well the properties of an entity are found in the events, on the average; its key counts as much as all others.
fn suits(entity: &Entity, survey: &Survey<'_>) -> f64 {
    let scorer = Scorer::new(survey);
    let key = entity.key_properties().next().map(|key| key.logical_name.as_str());
    let (mut sum, mut count, mut key_score) = (0.0, 0.0, 0.0);
    for property in entity.properties.iter() {
        let is_key = key == Some(property.logical_name.as_str());
        let wanted = Wanted {
            name: &property.logical_name,
            property_type: Some(&property.property_type),
            hint: None,
            entity: &entity.name,
            is_key,
        };
        let found = scorer.rank(&Aim::new(&wanted), None);
        let best = found.first().filter(|it| it.fits_type).map_or(0.0, |it| it.score);
        sum += best;
        count += 1.0;
        if is_key {
            key_score = best;
        }
    }
    f64::midpoint(sum / f64::max(count, 1.0), key_score)
}

/// The events that a rule is about.
#[derive(Clone, Debug)]
pub(super) struct Events<'t> {
    /// Of each type that the rule names and samples have, the one with the most samples first; never empty.
    pub(super) event_types: Chosen<Vec<String>>,
    /// The same as a plan writes it: a prefix where the rule has one, or the types.
    pub(super) patterns: Vec<String>,
    /// What the rule says has to hold of them.
    pub(super) when: Option<Value>,
    /// What is known of them: of those samples alone that the rule's conditions hold for, where it has any.
    pub(super) evidence: Cow<'t, Evidence>,
}

/// Finds the events that a rule is about: those of a type that it names, or else with a value that it compares with; else
/// those that have the entity's properties.
pub(super) fn events<'t>(
    task: &'t Task,
    texts: &[&str],
    entity: &Entity,
    effort: &StepBudget,
) -> Events<'t> {
    let lookup = Lookup { evidence: task.evidence(), effort };
    let conditions = Conditions::read(lookup, texts);
    let evidence = conditions.evidence(task).map_or(Cow::Borrowed(task.evidence()), Cow::Owned);
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
    if event_types.is_empty() && !conditions.0.is_empty() {
        event_types = types(&|_| true);
    }
    let is_named = !event_types.is_empty() || counts.len() == 1;
    if event_types.is_empty() {
        let suits = |name: &str| suits(entity, &Survey::new(&evidence, &[name], effort));
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
    let event_types = Chosen { it: event_types, is_named };
    Events { event_types, patterns, when: conditions.to_json(), evidence }
}

/// The values that texts of a rule compare with: `content.kind == 'refund'`.
#[derive(Debug, Default)]
struct Conditions(BTreeMap<Path, BTreeSet<String>>);

impl Conditions {
    /// Those of which some sample has the value.
    fn read(lookup: Lookup<'_>, texts: &[&str]) -> Self {
        let mut conditions = Self::default();
        for text in texts.iter().take_while(|text| lookup.may_read(text)) {
            for (path, literal) in comparisons(text, lookup) {
                if holds_somewhere(lookup, &path, literal) {
                    conditions.0.entry(path).or_default().insert(literal.to_owned());
                }
            }
        }
        conditions
    }

    /// The evidence of those samples for which they hold; `None` where there are none of either.
    fn evidence(&self, task: &Task) -> Option<Evidence> {
        if self.0.is_empty() {
            return None;
        }
        let holds = |event: &Value| {
            self.0.iter().all(|(path, values)| {
                let value = at(event, path).and_then(Value::as_str);
                value.is_some_and(|value| values.contains(value))
            })
        };
        let events = task.evidence().event_types().flat_map(|(_, events)| events.samples());
        let lines: String = events
            .filter(|seen| holds(seen.event()))
            .map(|seen| format!("{}\n", seen.event()))
            .collect();
        let samples = Samples::parse(&lines, "samples").ok()?;
        Some(Evidence::new(&samples, task.event_schema()))
    }

    /// As a plan writes them.
    fn to_json(&self) -> Option<Value> {
        let test = |(path, values): (&Path, &BTreeSet<String>)| match values.len() {
            1 => json!({"source_path": path, "equals": values.first()}),
            _ => json!({"source_path": path, "one_of": values}),
        };
        let mut tests: Vec<Value> = self.0.iter().map(test).collect();
        match tests.len() {
            0 | 1 => tests.pop(),
            _ => Some(json!({"all": tests})),
        }
    }
}

fn holds_somewhere(lookup: Lookup<'_>, path: &[String], literal: &str) -> bool {
    let events = lookup.evidence.event_types().map(|(_, events)| events);
    let mut values = events.take_while(|_| lookup.may_read("=")).flat_map(|it| it.seen(path));
    values.any(|(_, value)| lookup.may_read("=") && value.as_str() == Some(literal))
}
