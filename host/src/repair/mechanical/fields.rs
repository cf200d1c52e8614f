//! Fields that plans don't have: misspelt ones are renamed, superfluous ones go.

use std::collections::BTreeMap;

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

/// What becomes of the unknown fields: the pointer of each, to the field that it is meant to be.
pub(super) struct Fields {
    renamed: BTreeMap<String, String>,
}

impl Fields {
    pub(super) fn new(value: &Value, problems: &[PlanParseError]) -> Self {
        let of_code = |code: Code| {
            problems.iter().filter(move |it| it.code == code).map(|it| pointer(value, &it.path))
        };
        let missing: Vec<String> = of_code(Code::MissingRequiredField).collect();
        let unknown: Vec<String> = of_code(Code::UnknownField).collect();
        let mut renamed: BTreeMap<String, String> = BTreeMap::new();
        for at in &unknown {
            let Some((parent, name)) = split(at) else { continue };
            let Some(fields) = object_at(value, parent) else { continue };
            let Some(content) = fields.get(&name) else { continue };
            let strangers =
                unknown.iter().filter(|it| split(it).is_some_and(|(it, _)| it == parent)).count();
            let needed: Vec<&String> =
                missing.iter().filter(|it| split(it).is_some_and(|(it, _)| it == parent)).collect();
            let meant = meant(&name, content, fields, known_fields(parent))
                .map(|it| patch::below(parent, it));
            // The one field that is missing, and the one that is too many, are the same one if what it holds suits.
            let meant = meant.or_else(|| match needed.as_slice() {
                [only] if strangers == 1 => {
                    split(only).filter(|(_, it)| suits(it, content)).map(|_| (*only).clone())
                }
                _ => None,
            });
            if let Some(meant) = meant.filter(|meant| !renamed.values().any(|it| it == meant)) {
                renamed.insert(at.clone(), meant);
            }
        }
        Self { renamed }
    }

    /// Whether the missing field at this pointer is there under another name.
    pub(super) fn is_renamed_to(&self, at: &str) -> bool {
        self.renamed.values().any(|it| it == at)
    }

    pub(super) fn unknown(&self, at: &str) -> Remedy {
        let patch = match self.renamed.get(at) {
            Some(meant) => patch::rename(at, meant),
            None => patch::remove(at),
        };
        Some((patch, true))
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
