//! Which of the fields that plans don't have are misspelt, and which fields they are meant to be.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::grammar::{alternatives_to, kind_at, suits};
use super::pointer::split;
use crate::diagnostics::codes;
use crate::diagnostics::finding::patch;
use crate::evidence::effort::StepBudget;
use crate::evidence::similarity::ranking::best;
use crate::evidence::similarity::{TYPO_THRESHOLD, spelling};
use crate::plan::PlanParseError;
use crate::plan::language::{Field, ObjectKind, Shape};

/// What another word for the same thing is worth, and how far ahead it is of a name that is as much alike.
const ALIAS: f64 = 0.9;
const ALIAS_LEAD: f64 = 0.01;

/// The misspelt fields of a plan.
#[derive(Default)]
pub(super) struct Renames {
    /// The pointer of each, with that of the field that it is meant to be.
    meant: BTreeMap<String, String>,
    /// The fields that are meant, each by one alone.
    reached: BTreeSet<String>,
    /// Those, and the fields that may then be missing.
    supplied: BTreeSet<String>,
}

/// What is wrong with the fields of one object.
#[derive(Default)]
struct Discrepancy<'p> {
    unknown: usize,
    missing: Vec<&'p str>,
}

impl Renames {
    pub(super) fn find(json: &Value, problems: &[PlanParseError], effort: &StepBudget) -> Self {
        let mut unknown: Vec<(&str, &str, String)> = Vec::new();
        let mut discrepancies: BTreeMap<&str, Discrepancy<'_>> = BTreeMap::new();
        for problem in problems {
            let at = problem.pointer.as_str();
            let Some((parent, name)) = split(at) else { continue };
            match problem.code {
                codes::UNKNOWN_FIELD => {
                    discrepancies.entry(parent).or_default().unknown += 1;
                    unknown.push((at, parent, name));
                }
                codes::MISSING_REQUIRED_FIELD => {
                    discrepancies.entry(parent).or_default().missing.push(at);
                }
                _ => {}
            }
        }
        let mut renames = Self::default();
        for (at, parent, name) in unknown {
            let Some(fields) = json.pointer(parent).and_then(Value::as_object) else { continue };
            let (Some(kind), Some(content)) = (kind_at(json, parent), fields.get(&name)) else {
                continue;
            };
            let Some(field) = meant(&name, content, fields, kind, effort)
                .or_else(|| the_only_one_missing(kind, content, discrepancies.get(parent)?))
            else {
                continue;
            };
            let meant = patch::below(parent, field);
            if renames.reached.insert(meant.clone()) {
                let others = kind.fields().iter().map(|it| it.name);
                let replaced = others.filter(|it| alternatives_to(kind, it).contains(&field));
                renames.supplied.extend(replaced.map(|it| patch::below(parent, it)));
                renames.supplied.insert(meant.clone());
                renames.meant.insert(at.to_owned(), meant);
            }
        }
        renames
    }

    /// The field that the one at this pointer is meant to be.
    pub(super) fn meant(&self, at: &str) -> Option<&str> {
        self.meant.get(at).map(String::as_str)
    }

    /// Whether the missing field at this pointer is there under another name, or one that can be in its place is.
    pub(super) fn supply(&self, at: &str) -> bool {
        self.supplied.contains(at)
    }
}

/// The one field that is missing where one is too many: they are the same if what it holds suits.
fn the_only_one_missing(
    kind: ObjectKind,
    content: &Value,
    discrepancy: &Discrepancy<'_>,
) -> Option<&'static str> {
    let Discrepancy { unknown: 1, missing } = discrepancy else { return None };
    let [only] = missing.as_slice() else { return None };
    let (_, missing) = split(only)?;
    // Sources of values may be left out for one another, so that one is missing doesn't say that it is meant.
    let is_one_of_several = missing == "source_path" && !content.is_array();
    let field = kind.field(&missing)?;
    (suits(field.shape, content) && !is_one_of_several).then_some(field.name)
}

/// The field that isn't there yet and is meant by an unknown name with this content.
fn meant(
    name: &str,
    content: &Value,
    fields: &Map<String, Value>,
    kind: ObjectKind,
    effort: &StepBudget,
) -> Option<&'static str> {
    let is_there = |field: &str| fields.contains_key(field);
    let is_ruled_out = |field: &str| alternatives_to(kind, field).into_iter().any(is_there);
    let is_open = |field: &str| !is_there(field) && !is_ruled_out(field);
    let open = kind.fields().iter().filter(|it| is_open(it.name) && suits(it.shape, content));
    let score = |field: &Field| {
        if holds_mappings(field.shape, content) {
            return 1.0;
        }
        let is_alias = field.aliases.iter().any(|it| spelling::plain(it) == spelling::plain(name));
        let near = spelling::names_or_short_forms(name, field.name, effort);
        if is_alias { near.max(ALIAS) + ALIAS_LEAD } else { near }
    };
    let best = best(open.map(|field| (score(field), field)))?;
    (best.score >= TYPO_THRESHOLD && best.margin > 0.0).then_some(best.item.name)
}

/// Whether this can be nothing else than what the field holds: mappings are recognised by their own fields.
fn holds_mappings(shape: Shape, content: &Value) -> bool {
    let is_mapping = |it: &Value| it.get("property_name").is_some();
    match (shape, content) {
        (Shape::Objects(ObjectKind::Property), Value::Array(items)) => {
            !items.is_empty() && items.iter().all(is_mapping)
        }
        (Shape::Object(ObjectKind::Key), content) => is_mapping(content),
        _ => false,
    }
}
