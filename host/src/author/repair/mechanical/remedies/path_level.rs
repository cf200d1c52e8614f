//! Where paths start: at the event, at an element, or at the one around it.

use super::{
    Context, Remedy, TolerantMapping, derived, edge_end, fix, maybe, read_path, replace, split,
};
use crate::diagnostics::finding::patch;
use crate::gate::fit::suggest::{ElementPath, iterations_with};
use crate::plan::language::{ObjectKind, STARTS, start_word};

/// What starts at an element where there is none: the path of a `from`, or an empty path.
pub(super) fn outside_for_each(context: &Context<'_, '_>, at: &str) -> Remedy {
    if let Some(fix) = edge_end::wrong_node(context, at) {
        return Some(fix);
    }
    let (parent, name) = split(at)?;
    if name != "from" {
        return replace(at, derived(context, at)?);
    }
    // Around a single level of elements there is the event.
    lost_for_each(context, parent)
        .or_else(|| level_meant(context, parent))
        .or_else(|| maybe(patch::replace(at, "event")))
}

/// The iteration that a node lacks that reads something from the parent: the one in whose elements all is that it reads.
fn lost_for_each(context: &Context<'_, '_>, at: &str) -> Remedy {
    let node = context.plan.rule_around(at).filter(|rule| rule.kind == ObjectKind::Node)?;
    let wanted = |mapping: &TolerantMapping<'_>| {
        let from = mapping.json.get("from").and_then(serde_json::Value::as_str);
        let path = mapping.path.clone().filter(|_| from != Some("event"))?;
        let outwards = from.and_then(|from| STARTS.iter().position(|it| *it == from));
        Some(ElementPath { path, outwards: u8::try_from(outwards.unwrap_or_default()).ok()? })
    };
    let wanted: Vec<ElementPath> = node.mappings.iter().filter_map(wanted).collect();
    let evidence = context.task.evidence();
    let suiting = iterations_with(evidence, &context.target.types, &wanted, context.efforts());
    let [only] = suiting.as_slice() else { return None };
    fix(patch::add(&format!("{}/for_each", node.at), only))
}

/// Where a path with a `from` that says nothing starts: the one level of which it is a path, if it is of one alone.
pub(super) fn level_meant(context: &Context<'_, '_>, at: &str) -> Remedy {
    let value = context.plan.get(at)?;
    let path = read_path(value.get("source_path").or_else(|| value.get("span_id_path"))?)?;
    let scope = context.plan.scope(at)?;
    let level = context.only_level_with(&path, scope)?;
    let from = format!("{at}/from");
    fix(match start_word(level, scope.level()) {
        Some(start) => patch::replace(&from, start),
        None => patch::remove(&from),
    })
}
