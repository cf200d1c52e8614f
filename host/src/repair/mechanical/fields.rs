//! Fields that plans don't have: misspelt ones are renamed, superfluous ones go.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::context::object_at;
use super::plan::{Remedy, pointer};
use crate::finding::patch;
use crate::gate::fit::likeness;
use crate::plan::{
    Field, KEY_FIELDS, PLAN_FIELDS, PROPERTY_FIELDS, PlanParseError, PlanParseErrorCode as Code,
    SPAN_FIELDS,
};

/// How alike two names have to be for one to be the other misspelt.
const SLIP: f64 = 0.7;

/// What a name is worth that has all its words in the other, or the other's in it: `path` is `source_path`.
const SHORT_FORM: f64 = 0.8;

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
    pub(super) fn new(value: &'a Value, problems: &[PlanParseError]) -> Self {
        let mut unknown: Vec<String> = Vec::new();
        let mut odd: BTreeMap<String, Odd> = BTreeMap::new();
        for problem in problems {
            let at = pointer(value, &problem.path);
            let Some((parent, _)) = split(&at) else { continue };
            match problem.code {
                Code::UnknownField => {
                    odd.entry(parent.to_owned()).or_default().strangers += 1;
                    unknown.push(at);
                }
                Code::MissingRequiredField => {
                    odd.entry(parent.to_owned()).or_default().missing.push(at);
                }
                _ => {}
            }
        }
        let mut fields = Self { value, renamed: BTreeMap::new(), found: BTreeSet::new() };
        for at in unknown {
            let meant = fields.meant_by(&at, &odd).filter(|meant| !fields.found.contains(meant));
            if let Some(meant) = meant {
                fields.found.insert(meant.clone());
                fields.renamed.insert(at, meant);
            }
        }
        fields
    }

    fn meant_by(&self, at: &str, odd: &BTreeMap<String, Odd>) -> Option<String> {
        let (parent, name) = split(at)?;
        let fields = object_at(self.value, parent)?;
        let content = fields.get(&name)?;
        if let Some(meant) = meant(&name, content, fields, known_fields(parent)) {
            return Some(patch::below(parent, meant));
        }
        // The one field that is missing, and the one that is too many, are the same one if what it holds suits.
        let Odd { strangers: 1, missing } = odd.get(parent)? else { return None };
        let [only] = missing.as_slice() else { return None };
        split(only).filter(|(_, it)| suits(it, content)).map(|_| only.clone())
    }

    /// Whether the missing field at this pointer is there under another name.
    pub(super) fn is_renamed_to(&self, at: &str) -> bool {
        self.found.contains(at)
    }

    /// A field that is meant to be another one is renamed. Any other goes; for certain only where nothing is lost with it.
    pub(super) fn unknown(&self, at: &str) -> Remedy {
        if let Some(meant) = self.renamed.get(at) {
            return Some((patch::rename(at, meant), true));
        }
        let (_, name) = split(at)?;
        let content = self.value.pointer(at)?;
        Some((patch::remove(at), says_nothing(&name, content)))
    }
}

/// Whether a field that plans don't have is prose, or empty. Anything else may be what the plan was to do, which dropping it
/// would change: a condition, say, without which a plan takes every event.
fn says_nothing(name: &str, content: &Value) -> bool {
    let is_guard = || likeness::words(name).iter().any(|word| GUARDS.contains(&word.as_str()));
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
    known: &[Field],
) -> Option<&'static str> {
    let open =
        known.iter().filter(|field| !fields.contains_key(field.name) && suits(field.name, content));
    let holds = |field: &str| if holds_mappings(field, content) { 1.0 } else { 0.0 };
    let mut scored: Vec<(f64, &'static str)> =
        open.map(|field| (alike(name, field.name).max(holds(field.name)), field.name)).collect();
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let (best, field) = *scored.first()?;
    let second = scored.get(1).map_or(0.0, |(score, _)| *score);
    (best >= SLIP && best > second).then_some(field)
}

fn alike(name: &str, field: &str) -> f64 {
    let (left, right) = (likeness::words(name), likeness::words(field));
    let (short, long) = if left.len() < right.len() { (&left, &right) } else { (&right, &left) };
    let within = !short.is_empty() && short.iter().all(|word| long.contains(word));
    likeness::names(name, field).max(if within { SHORT_FORM } else { 0.0 })
}

/// Whether this can be nothing else than what the field holds: mappings are told by their own fields.
fn holds_mappings(field: &str, content: &Value) -> bool {
    let is_mapping =
        |it: &Value| it.get("property_name").is_some() || it.get("source_path").is_some();
    match (field, content) {
        ("property_fields", Value::Array(items)) => {
            !items.is_empty() && items.iter().all(is_mapping)
        }
        ("key_field", content) => is_mapping(content),
        _ => false,
    }
}

/// Whether a field may hold this, or what can be made of it.
fn suits(field: &str, content: &Value) -> bool {
    match field {
        "key_field" => content.is_object(),
        "span_handling" => content.is_object() || content.is_null(),
        "property_fields" => content.is_array() || content.is_object(),
        "partial_when_path" => content.is_array() || content.is_string() || content.is_null(),
        _ if field.ends_with("_path") => content.is_array() || content.is_string(),
        _ => content.is_string(),
    }
}

/// The fields of the object at a pointer.
fn known_fields(parent: &str) -> &'static [Field] {
    match parent {
        "" => PLAN_FIELDS,
        "/key_field" => KEY_FIELDS,
        "/span_handling" => SPAN_FIELDS,
        _ => PROPERTY_FIELDS,
    }
}

/// A pointer's parent, and its last name.
pub(super) fn split(pointer: &str) -> Option<(&str, String)> {
    let (parent, name) = pointer.rsplit_once('/')?;
    Some((parent, name.replace("~1", "/").replace("~0", "~")))
}
