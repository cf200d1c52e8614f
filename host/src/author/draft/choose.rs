//! Which entity and which events a rule is about.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::lookup::Lookup;
use super::prose;
use crate::evidence::Samples;
use crate::evidence::effort::Effort;
use crate::evidence::matching::{Aim, Scorer, Survey, Wanted, Word, words};
use crate::evidence::{EventSchema, Task};
use crate::evidence::{Evidence, Path, at};
use crate::graph::spec::{Entity, GraphSpec};

/// How deep a rule is searched for texts.
const MAX_DEPTH: usize = 16;

/// How alike a word of a name and a word of a text have to be.
const SAME: f64 = 0.9;

/// How many event types a plan lists.
const MAX_TYPES: usize = 64;

/// Keys under which a rule says which events it applies to.
const APPLYING: &[&str] = &["applies", "condition", "filter", "if", "trigger", "when", "where"];

/// What makes a condition of a path and a value.
const COMPARING: &[&str] = &["=", " is ", " equals ", " equal to "];

/// The texts of a rule with how deep they are, the outer ones first.
pub(super) fn texts(rule: &Map<String, Value>) -> Vec<&str> {
    let mut level: Vec<&Value> = rule.values().collect();
    let mut texts = Vec::new();
    for _ in 0..MAX_DEPTH {
        let mut next = Vec::new();
        for value in level {
            match value {
                Value::String(text) => texts.push(text.as_str()),
                Value::Array(items) => next.extend(items),
                Value::Object(object) => next.extend(object.values()),
                _ => {}
            }
        }
        level = next;
    }
    texts
}

/// The entity that a rule is about: the first whose name is a text of its own; else the first that is named in a text,
/// between backticks rather than among other words; else the one whose name's words occur; else the one whose
/// properties the events have.
pub(super) fn entity<'g>(
    graph: &'g GraphSpec,
    texts: &[&str],
    lookup: Lookup<'_>,
) -> Option<&'g Entity> {
    let Lookup { evidence, effort } = lookup;
    let entities = graph.entities();
    if let Some(entity) = texts.iter().find_map(|text| graph.entity(text)) {
        return Some(entity);
    }
    let marked = texts.iter().flat_map(|text| prose::quoted(text));
    if let Some(entity) = marked.into_iter().find_map(|text| graph.entity(text)) {
        return Some(entity);
    }
    let first = |entity: &Entity| {
        let place = |(index, text): (usize, &&str)| {
            let is_there = lookup.may_read(text) && prose::mentions(text, &entity.name);
            is_there.then(|| (index, text.find(&entity.name)))
        };
        texts.iter().enumerate().find_map(place)
    };
    let mentioned = entities.iter().filter_map(|entity| Some((first(entity)?, entity)));
    if let Some((_, entity)) = mentioned.min_by_key(|(place, _)| *place) {
        return Some(entity);
    }
    let said: Vec<Word> = texts.iter().flat_map(|text| words(text)).collect();
    let spoken_of = |entity: &&Entity| {
        words(&entity.name).iter().all(|word| said.iter().any(|it| it.alike(word, effort) >= SAME))
    };
    let spoken: Vec<&Entity> = entities.iter().filter(spoken_of).collect();
    let among = if spoken.is_empty() { entities.iter().collect() } else { spoken };
    if let [entity] = among.as_slice() {
        return Some(entity);
    }
    let event_types: Vec<&str> = evidence.event_types().map(|(name, _)| name).collect();
    let survey = Survey::new(evidence, &event_types, effort);
    let scored = among.into_iter().map(|entity| (suits(entity, &survey), entity));
    // Of equals the first.
    scored.rev().max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, entity)| entity)
}

/// How well the properties of an entity are found in the events, on the average; its key counts as much as all others.
fn suits(entity: &Entity, survey: &Survey<'_>) -> f64 {
    let scorer = Scorer::new(survey);
    let key = entity.key_properties().next().map(|key| key.logical_name.as_str());
    let mut scores = Vec::new();
    let mut key_score = 0.0;
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
        scores.push(best);
        if is_key {
            key_score = best;
        }
    }
    #[allow(clippy::cast_precision_loss, reason = "an entity has far fewer than 2^52 properties")]
    let mean = scores.iter().sum::<f64>() / scores.len().max(1) as f64;
    f64::midpoint(mean, key_score)
}

/// The events that a rule is about.
#[derive(Clone, Debug)]
pub(super) struct Events<'t> {
    /// Of each type that the rule names and samples have, the one with the most samples first; never empty.
    pub(super) event_types: Vec<String>,
    /// The same as a plan writes it: a prefix where the rule has one, or the types.
    pub(super) patterns: Vec<String>,
    /// What the rule says has to hold of them.
    pub(super) when: Option<Value>,
    /// What is known of them: of those samples alone that the rule's conditions hold for, where it has any.
    pub(super) evidence: Cow<'t, Evidence>,
}

/// Finds the events that a rule is about.
pub(super) fn events<'t>(
    task: &'t Task,
    rule: &Map<String, Value>,
    texts: &[&str],
    entity: &Entity,
    effort: &Effort,
) -> Events<'t> {
    let lookup = Lookup { evidence: task.evidence(), effort };
    let narrowed = Conditions::read(lookup, texts);
    let evidence = narrowed.evidence(task).map_or(Cow::Borrowed(task.evidence()), Cow::Owned);
    let said = Conditions::read(lookup, &applying(rule, lookup));
    let counts: BTreeMap<&str, usize> =
        evidence.event_types().map(|(name, events)| (name, events.count())).collect();
    let named = |how: &dyn Fn(&str, &str) -> bool| -> Vec<String> {
        let is_named =
            |name: &&&str| texts.iter().any(|text| lookup.may_read(text) && how(text, name));
        counts.keys().filter(is_named).map(|name| (*name).to_owned()).collect()
    };
    let mut event_types = named(&|text, name| text == name || is_quoted(text, name));
    if event_types.is_empty() {
        event_types = named(&prose::mentions);
    }
    if event_types.is_empty() && !said.is_empty() {
        event_types = counts.keys().map(|name| (*name).to_owned()).collect();
    }
    if event_types.is_empty() {
        let said: BTreeMap<&str, Vec<Word>> =
            texts.iter().map(|text| (*text, words(text))).collect();
        event_types = named(&|text, name| {
            let said = said.get(text).map_or(&[][..], Vec::as_slice);
            words(name).iter().all(|word| said.iter().any(|it| it.alike(word, effort) >= SAME))
        });
    }
    if event_types.is_empty() {
        let suits = |name: &&str| suits(entity, &Survey::new(&evidence, &[*name], effort));
        let suited = counts.keys().map(|name| (suits(name), name));
        let best = suited.rev().max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, name)| name);
        event_types.extend(best.map(|name| (*name).to_owned()));
    }
    event_types
        .sort_by_key(|name| (std::cmp::Reverse(counts.get(name.as_str()).copied()), name.clone()));
    let patterns = patterns(texts, &event_types);
    Events { event_types, patterns, when: said.to_json(), evidence }
}

/// Event types as a plan writes them: the prefix that the rule gives, if it covers all of them, or a list of them.
fn patterns(texts: &[&str], event_types: &[String]) -> Vec<String> {
    let covers = |prefix: &&str| {
        prefix.ends_with('.') && event_types.iter().all(|name| name.starts_with(prefix))
    };
    let given = |text: &&str| {
        let starred = text.split_whitespace().flat_map(|part| {
            let part = part.trim_matches(|c: char| !c.is_alphanumeric() && c != '*');
            part.strip_suffix('*')
        });
        let opened = prose::quoted(text).into_iter().filter(|_| speaks_of_beginnings(text));
        let starred_quotes = prose::quoted(text).into_iter().filter_map(|it| it.strip_suffix('*'));
        let all = starred.chain(opened).chain(starred_quotes);
        all.filter(covers).max_by_key(|it| it.len()).map(str::to_owned)
    };
    if let Some(prefix) = texts.iter().find_map(given) {
        return vec![format!("{prefix}*")];
    }
    let mut types = event_types.to_vec();
    types.truncate(MAX_TYPES);
    types.sort();
    types
}

fn speaks_of_beginnings(text: &str) -> bool {
    let lower = text.to_lowercase();
    ["starts with", "begins with", "start with", "begin with"].iter().any(|it| lower.contains(it))
}

/// The texts of a rule that say which events it applies to: those under keys that say so, and sentences that name a type of
/// events.
fn applying<'r>(rule: &'r Map<String, Value>, lookup: Lookup<'_>) -> Vec<&'r str> {
    let applies = |key: &str| super::brief::is_any(&words(key), APPLYING);
    let mut found: Vec<&str> =
        rule.iter().filter(|(key, _)| applies(key)).filter_map(|(_, it)| it.as_str()).collect();
    let prose = rule.iter().filter(|(key, _)| !applies(key)).filter_map(|(_, it)| it.as_str());
    let names_type = |text: &&str| {
        let mut types = lookup.evidence.event_types();
        types.any(|(name, _)| lookup.may_read(text) && prose::mentions(text, name))
    };
    found.extend(prose.flat_map(|text| text.split(['\n', ';'])).filter(names_type));
    found
}

/// Whether a text names an event type between quotation marks, or by what it begins with: `'order.'`, `order.*`.
fn is_quoted(text: &str, name: &str) -> bool {
    let begins = |part: &str, open: bool| {
        let stem = part.strip_suffix('*').unwrap_or(part);
        let cut = stem.len() < part.len() || open || !stem.ends_with(char::is_alphanumeric);
        stem == name || (cut && !stem.is_empty() && name.starts_with(stem))
    };
    let open = speaks_of_beginnings(text);
    prose::quoted(text).into_iter().any(|part| begins(part, open))
        || text
            .split_whitespace()
            .any(|part| part.len() > 1 && part.ends_with('*') && begins(part, false))
}

/// The values that texts of a rule ask for: `content.kind == 'refund'`.
#[derive(Debug, Default)]
struct Conditions(BTreeMap<Path, BTreeSet<String>>);

impl Conditions {
    /// Those of which some sample has the value.
    fn read(lookup: Lookup<'_>, texts: &[&str]) -> Self {
        let mut conditions = Self::default();
        for text in texts.iter().filter(|text| COMPARING.iter().any(|it| text.contains(it))) {
            let paths = prose::paths(text, lookup);
            for path in paths.into_iter().filter(|path| path.as_slice() != ["event_type"]) {
                for literal in prose::quoted(text) {
                    if holds_somewhere(lookup, &path, literal) {
                        let values = conditions.0.entry(path.clone()).or_default();
                        values.insert(literal.to_owned());
                    }
                }
            }
        }
        conditions
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The evidence of those samples for which they hold; `None` where there are none of either.
    fn evidence(&self, task: &Task) -> Option<Evidence> {
        if self.is_empty() {
            return None;
        }
        let mut lines = String::new();
        for (_, events) in task.evidence().event_types() {
            for seen in events.samples() {
                let holds = |(path, values): (&Path, &BTreeSet<String>)| {
                    let value = at(seen.event(), path).and_then(Value::as_str);
                    value.is_some_and(|value| values.contains(value))
                };
                if self.0.iter().all(holds) {
                    lines.push_str(&seen.event().to_string());
                    lines.push('\n');
                }
            }
        }
        let samples = Samples::parse(&lines, "samples").ok()?;
        let schema: Option<&EventSchema> = task.event_schema();
        Some(Evidence::new(&samples, schema))
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
    let mut values = events.take_while(|_| lookup.may_read("")).flat_map(|it| it.seen(path));
    values.any(|(_, value)| lookup.may_read("") && value.as_str() == Some(literal))
}
