//! Where paths start: at the event, at an element, or at the one around it.

use serde_json::Value;

use super::context::{Context, path_of, split};
use super::grammar::Kind;
use super::plan::Remedy;
use super::values::derived;
use crate::diagnostics::finding::patch;
use crate::gate::fit::suggest::{ElementPath, iterations_with, written};
use crate::plan::expr::{ForEach, Level};

/// What starts at an element where there is none: the path of a `from`, or an empty path.
pub(super) fn outside(context: &Context<'_, '_>, at: &str) -> Remedy {
    let (parent, name) = split(at)?;
    if name != "from" {
        return derived(context, at).map(|(value, certain)| (patch::replace(at, value), certain));
    }
    if let Some(for_each) = lost_for_each(context, parent) {
        return Some((for_each, true));
    }
    // Around a single level of elements there is the event.
    Some(match from_meant(context, parent) {
        Some(meant) => (meant, true),
        None => (patch::replace(at, "event"), false),
    })
}

/// The iteration that a node lacks that reads something from the parent: the one in whose elements all is that it reads.
fn lost_for_each(context: &Context<'_, '_>, at: &str) -> Option<json_patch::Patch> {
    let node = context.owner(at).filter(|owner| owner.kind == Kind::Node)?;
    let wanted = |mapping: &Value| {
        let from = mapping.get("from").and_then(Value::as_str);
        let path = mapping.get("source_path").and_then(path_of)?;
        (from != Some("event")).then_some(ElementPath { path, from_parent: from == Some("parent") })
    };
    let keys = node.keys();
    let mappings = keys.iter().map(|(_, key)| *key).chain(node.properties());
    let wanted: Vec<ElementPath> = mappings.filter_map(wanted).collect();
    let suiting =
        iterations_with(context.task().evidence(), context.types(), &wanted, context.efforts());
    let [only] = suiting.as_slice() else { return None };
    Some(patch::add(&format!("{}/for_each", node.at), written(only)))
}

/// Where a path with a `from` that says nothing starts: the one level of which it is a path, if it is of one alone.
pub(super) fn from_meant(context: &Context<'_, '_>, at: &str) -> Option<json_patch::Patch> {
    let value = context.value.pointer(at)?;
    let path = path_of(value.get("source_path").or_else(|| value.get("span_id_path"))?)?;
    let for_each = context.for_each(at)?;
    let innermost = for_each.map_or(Level::EVENT, ForEach::level);
    let is_of = |level: &u8| {
        context.known_at(for_each, Level(*level)).is_some_and(|known| known.has(&path))
    };
    let mut levels = (0..=innermost.0).filter(is_of);
    let level = levels.next().filter(|_| levels.next().is_none())?;
    let place = format!("{at}/from");
    Some(match level {
        level if level == innermost.0 => patch::remove(&place),
        0 => patch::replace(&place, "event"),
        _ => patch::replace(&place, "parent"),
    })
}
