//! Required fields that aren't there, and that follow from the rest of the plan and the task.

use serde_json::{Value, json};

use super::{Context, Remedy, add, conversion, derived, edge_end, fix, is_optional, maybe, split};
use crate::diagnostics::finding::patch;
use crate::plan::language::{ObjectKind, Shape};

/// The field, with what has to be in it. Where several are missing, nothing is certain.
pub(super) fn remedy(context: &Context<'_, '_>, at: &str) -> Remedy {
    Some(completed(context, at)?.only_if(!context.lacks_several))
}

fn completed(context: &Context<'_, '_>, at: &str) -> Remedy {
    let plan = context.plan;
    let (parent, name) = split(at)?;
    let is_empty = || plan.get(parent).and_then(Value::as_object).is_some_and(|it| it.is_empty());
    match (plan.kind(parent), name.as_str()) {
        (Some(ObjectKind::Condition), _) if is_empty() => {
            let (around, field) = split(parent)?;
            is_optional(plan.kind(around)?, &field).then(|| fix(patch::remove(parent)))?
        }
        (Some(ObjectKind::Condition), "exists") => maybe(patch::add(at, true)),
        (Some(ObjectKind::Plan), "key_field") | (Some(ObjectKind::Node), "key_fields") => {
            key(context, parent, at)
        }
        (Some(ObjectKind::External), "key_fields") => edge_end::node_of_external(context, parent),
        (Some(ObjectKind::Edge), "from" | "to") => edge_end::missing(context, at),
        (None, _) if matches!(plan.shape(parent), Some(Shape::Step | Shape::Arguments)) => {
            conversion::remedy(context, at)
        }
        _ => add(at, derived(context, at)?),
    }
}

/// The key of a node: of each of its properties, the mapping that is its, or a path that suits it.
fn key(context: &Context<'_, '_>, parent: &str, at: &str) -> Remedy {
    let rule = context.plan.rule(parent)?;
    let entity = rule.entity?;
    let scope = context.scope(parent)?;
    let (mut keys, mut moved, mut is_certain) = (Vec::new(), Vec::new(), true);
    for key in entity.item.key_properties() {
        if let Some(mapping) = rule.properties().find(|it| it.is_of(key)) {
            keys.push(Value::Object(mapping.as_key()?));
            moved.push(patch::remove(&mapping.at));
        } else {
            let path = scope.path_for(&key.logical_name, true)?;
            is_certain &= path.is_certain();
            keys.push(json!({"property_name": key.logical_name, "source_path": path.item}));
        }
    }
    let added = match (rule.kind, keys.as_slice()) {
        (ObjectKind::Plan, [only]) => patch::add(at, only),
        (ObjectKind::Plan, _) => return None,
        _ => patch::add(at, keys),
    };
    let patch = moved.into_iter().fold(added, patch::both);
    Some(entity.map(|_| patch).only_if(is_certain))
}
