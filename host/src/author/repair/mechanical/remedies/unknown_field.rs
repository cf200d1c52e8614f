//! Fields that plans don't have: misspelt ones are renamed, those of another place are moved there, superfluous ones go.

use serde_json::{Value, json};

use super::{Context, Remedy, conversion, fix, looks_like, reshape, split, step_around};
use crate::diagnostics::finding::patch;
use crate::evidence::similarity::ranking::Likely;
use crate::evidence::similarity::spelling;
use crate::plan::language::ObjectKind;

/// A field that is meant to be another one is renamed. What says something that plans say elsewhere goes there. Any other
/// goes; for certain only where nothing is lost with it.
pub(super) fn remedy(context: &Context<'_, '_>, at: &str) -> Remedy {
    if step_around(at).is_some() {
        return conversion::remedy(context, at);
    }
    let content = context.plan.get(at)?;
    if let Some(meant) = context.renames.meant(at) {
        return fix(match reshape::reshaped(context.plan.shape(meant)?, content) {
            Some(reshaped) => patch::both(patch::remove(at), patch::add(meant, reshaped)),
            None => patch::rename(at, meant),
        });
    }
    let (parent, name) = split(at)?;
    if let Some(moved) = elsewhere(context, parent, &name, content) {
        return fix(moved);
    }
    let removal = Likely::new(patch::remove(at), says_nothing(&name, content));
    // That no other field is meant isn't known where the search came to no end.
    context.searches().whole(Some(removal))
}

/// What a field says that belongs to another place, put there.
fn elsewhere(
    context: &Context<'_, '_>,
    parent: &str,
    name: &str,
    content: &Value,
) -> Option<json_patch::Patch> {
    match (context.plan.kind(parent)?, name) {
        (ObjectKind::Property | ObjectKind::Key, "default" | "fallback" | "default_value") => {
            reshape::with_default(parent, name, context.plan.get(parent)?, content)
        }
        (ObjectKind::Node, "edges" | "relationships") => {
            let edges = content.as_array().filter(|edges| {
                !edges.is_empty() && edges.iter().all(|it| looks_like(ObjectKind::Edge, it))
            })?;
            let there = match context.plan.get("/edges") {
                None => &[][..],
                Some(there) => there.as_array()?,
            };
            let all: Vec<&Value> = there.iter().chain(edges).collect();
            let at = patch::below(parent, name);
            Some(patch::both(patch::remove(&at), patch::add("/edges", json!(all))))
        }
        _ => None,
    }
}

/// Whether a field that plans don't have is prose, or empty. Anything else may be what the plan was to do, which dropping it
/// would change: a condition, say, without which a plan takes every event.
fn says_nothing(name: &str, content: &Value) -> bool {
    let is_guard = || spelling::words(name).iter().any(|word| is_guard(word));
    match content {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::String(text) => text.is_empty() || !is_guard(),
        Value::Bool(_) | Value::Number(_) => !is_guard(),
    }
}

/// Whether a word of a name says when something applies. What a text below such a name says would be lost with it.
fn is_guard(word: &str) -> bool {
    matches!(
        word,
        "condition"
            | "conditions"
            | "except"
            | "exclude"
            | "filter"
            | "filters"
            | "guard"
            | "if"
            | "match"
            | "matches"
            | "only"
            | "predicate"
            | "skip"
            | "unless"
            | "when"
            | "where"
    )
}
