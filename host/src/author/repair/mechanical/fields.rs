//! Fields that plans don't have: misspelt ones are renamed, those of another place are moved there, superfluous ones go.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::context::{object_at, split};
use super::grammar::{Field, Holds, Kind, holds, kind, looks_like, suits};
use super::plan::Remedy;
use super::shape;
use crate::diagnostics::finding::patch;
use crate::evidence::effort::Effort;
use crate::evidence::similarity::spelling;
use crate::plan::{PlanParseError, PlanParseErrorCode as Code};

/// How alike two names have to be for one to be the other misspelt.
const SLIP: f64 = 0.7;

/// What a name is worth that has all its words in the other, or the other's in it: `path` is `source_path`.
const SHORT_FORM: f64 = 0.8;

/// What another word for the same thing is worth.
const OTHER_WORD: f64 = 0.9;

/// Words of names that say when something applies. What a text below such a name says would be lost with it.
const GUARDS: &[&str] = &[
    "condition",
    "conditions",
    "except",
    "exclude",
    "filter",
    "filters",
    "guard",
    "if",
    "match",
    "matches",
    "only",
    "predicate",
    "skip",
    "unless",
    "when",
    "where",
];

/// What becomes of the unknown fields: the pointer of each, to the field that it is meant to be.
pub(super) struct Fields<'a> {
    value: &'a Value,
    effort: &'a Effort,
    renamed: BTreeMap<String, String>,
    /// The fields that others are renamed to.
    found: BTreeSet<String>,
}

/// The fields of one object that are too many, and those that it lacks.
#[derive(Default)]
struct Odd {
    strangers: usize,
    missing: Vec<String>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(value: &'a Value, problems: &[PlanParseError], effort: &'a Effort) -> Self {
        let mut unknown: Vec<&str> = Vec::new();
        let mut odd: BTreeMap<String, Odd> = BTreeMap::new();
        for problem in problems {
            let at = problem.pointer.as_str();
            let Some((parent, _)) = split(at) else { continue };
            match problem.code {
                Code::UnknownField => {
                    odd.entry(parent.to_owned()).or_default().strangers += 1;
                    unknown.push(at);
                }
                Code::MissingRequiredField => {
                    odd.entry(parent.to_owned()).or_default().missing.push(at.to_owned());
                }
                _ => {}
            }
        }
        let mut fields = Self { value, effort, renamed: BTreeMap::new(), found: BTreeSet::new() };
        for at in unknown {
            let meant = fields.meant_by(at, &odd).filter(|meant| !fields.found.contains(meant));
            if let Some(meant) = meant {
                fields.found.insert(meant.clone());
                fields.renamed.insert(at.to_owned(), meant);
            }
        }
        fields
    }

    fn meant_by(&self, at: &str, odd: &BTreeMap<String, Odd>) -> Option<String> {
        let (parent, name) = split(at)?;
        let fields = object_at(self.value, parent)?;
        let content = fields.get(&name)?;
        let kind = kind(self.value, parent)?;
        if let Some(meant) = meant(&name, content, fields, kind, self.effort) {
            return Some(patch::below(parent, meant));
        }
        // The one field that is missing, and the one that is too many, are the same one if what it holds suits.
        let Odd { strangers: 1, missing } = odd.get(parent)? else { return None };
        let [only] = missing.as_slice() else { return None };
        let (_, missing) = split(only)?;
        let holds = kind.fields().iter().find(|field| field.name == missing)?.shape;
        // Sources of values may be left out for one another, so that one is missing doesn't say that it is meant.
        let is_one_of_several = missing == "source_path" && !matches!(content, Value::Array(_));
        (suits(holds, content) && !is_one_of_several).then(|| only.clone())
    }

    /// Whether the missing field at this pointer is there under another name.
    pub(super) fn is_renamed_to(&self, at: &str) -> bool {
        self.found.contains(at) || (is_source(at) && self.has_source(at))
    }

    /// Whether a value that lacks a path has another source, under another name.
    fn has_source(&self, at: &str) -> bool {
        let Some((parent, _)) = split(at) else { return false };
        let sources = ["constant", "template", "coalesce", "all", "any", "not"];
        sources.iter().any(|source| self.found.contains(&patch::below(parent, source)))
            || TESTS.iter().any(|test| self.found.contains(&patch::below(parent, test)))
                && at.ends_with("/exists")
    }

    /// A field that is meant to be another one is renamed. What says something that plans say elsewhere goes there. Any
    /// other goes; for certain only where nothing is lost with it.
    pub(super) fn unknown(&self, at: &str) -> Remedy {
        let content = self.value.pointer(at)?;
        if let Some(meant) = self.renamed.get(at) {
            let holds = holds(self.value, meant)?;
            return Some(match shape::made(holds, content) {
                Some(made) => (patch::both(patch::remove(at), patch::add(meant, made)), true),
                None => (patch::rename(at, meant), true),
            });
        }
        let (parent, name) = split(at)?;
        if let Some(moved) = self.elsewhere(parent, &name, content) {
            return Some((moved, true));
        }
        // That no other field is meant isn't known where the search came to no end.
        self.effort.whole(Some((patch::remove(at), says_nothing(&name, content))))
    }

    /// What a field says that belongs to another place, put there.
    fn elsewhere(&self, parent: &str, name: &str, content: &Value) -> Option<json_patch::Patch> {
        match (kind(self.value, parent)?, name) {
            (Kind::Property | Kind::Key, "default" | "fallback" | "default_value") => {
                shape::with_default(parent, name, self.value.pointer(parent)?, content)
            }
            (Kind::Node, "edges" | "relationships") => {
                let edges = content.as_array().filter(|edges| {
                    !edges.is_empty() && edges.iter().all(|it| looks_like(Kind::Edge, it))
                })?;
                let there = match self.value.get("edges") {
                    None => Vec::new(),
                    Some(there) => there.as_array()?.clone(),
                };
                let all: Vec<&Value> = there.iter().chain(edges).collect();
                let at = patch::below(parent, name);
                Some(patch::both(patch::remove(&at), patch::add("/edges", json!(all))))
            }
            _ => None,
        }
    }
}

/// The tests of conditions.
const TESTS: &[&str] = &["truthy", "equals", "one_of", "starts_with", "is_type"];

fn is_source(at: &str) -> bool {
    at.ends_with("/source_path") || at.ends_with("/exists")
}

/// Whether a field that plans don't have is prose, or empty. Anything else may be what the plan was to do, which dropping it
/// would change: a condition, say, without which a plan takes every event.
fn says_nothing(name: &str, content: &Value) -> bool {
    let is_guard = || spelling::words(name).iter().any(|word| GUARDS.contains(&word.as_str()));
    match content {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::String(text) => text.is_empty() || !is_guard(),
        Value::Bool(_) | Value::Number(_) => !is_guard(),
    }
}

/// The field that isn't there yet and is meant by an unknown name with this content.
fn meant(
    name: &str,
    content: &Value,
    fields: &Map<String, Value>,
    kind: Kind,
    effort: &Effort,
) -> Option<&'static str> {
    let is_open = |field: &str| !fields.contains_key(field) && !is_ruled_out(field, fields, kind);
    let open = kind.fields().iter().filter(|it| is_open(it.name) && suits(it.shape, content));
    let score = |field: &Field| {
        let other = field.aliases.iter().any(|it| spelling::plain(it) == spelling::plain(name));
        let said = if other { OTHER_WORD } else { 0.0 };
        let mappings = if holds_mappings(field.shape, content) { 1.0 } else { 0.0 };
        let near = alike(name, field.name, effort);
        (near.max(said).max(mappings) + if said > 0.0 { 0.01 } else { 0.0 }, field.name)
    };
    let mut scored: Vec<(f64, &'static str)> = open.map(score).collect();
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let (best, field) = *scored.first()?;
    let second = scored.get(1).map_or(0.0, |(score, _)| *score);
    (best >= SLIP && best > second).then_some(field)
}

/// Whether an object can't have a field for those that it has: a value has one source, a condition one test, and a plan one
/// form.
fn is_ruled_out(field: &str, fields: &Map<String, Value>, kind: Kind) -> bool {
    let has_other = |names: &[&str]| {
        names.contains(&field) && names.iter().any(|name| fields.contains_key(*name))
    };
    match kind {
        Kind::Key | Kind::Property | Kind::Choice => {
            has_other(&["source_path", "constant", "template", "coalesce"])
        }
        Kind::Condition => {
            has_other(&[TESTS, &["exists", "all", "any", "not"]].concat())
                || (field == "source_path"
                    && ["all", "any", "not"].iter().any(|name| fields.contains_key(*name)))
        }
        Kind::ForEach => has_other(&["array", "entries"]),
        Kind::Plan if matches!(field, "target_entity_name" | "key_field" | "property_fields") => {
            fields.contains_key("nodes")
        }
        Kind::Plan if field == "nodes" => {
            fields.contains_key("target_entity_name") || fields.contains_key("key_field")
        }
        _ => false,
    }
}

fn alike(name: &str, field: &str, effort: &Effort) -> f64 {
    let (left, right) = (spelling::words(name), spelling::words(field));
    let (short, long) = if left.len() < right.len() { (&left, &right) } else { (&right, &left) };
    let within = !short.is_empty() && short.iter().all(|word| long.contains(word));
    spelling::names(name, field, effort).max(if within { SHORT_FORM } else { 0.0 })
}

/// Whether this can be nothing else than what the field holds: mappings are told by their own fields.
fn holds_mappings(holds: Holds, content: &Value) -> bool {
    let is_mapping = |it: &Value| it.get("property_name").is_some();
    match (holds, content) {
        (Holds::Objects(Kind::Property), Value::Array(items)) => {
            !items.is_empty() && items.iter().all(is_mapping)
        }
        (Holds::Object(Kind::Key), content) => is_mapping(content),
        _ => false,
    }
}
