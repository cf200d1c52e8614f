//! Plans that are written in another form as a whole: one remedy, which makes all other problems go.

use serde_json::Value;

use super::{described, reshape};
use crate::diagnostics::finding::{Finding, patch};
use crate::plan::PlanParseError;

/// Fields that say what a node is, in the short form or in a list of nodes.
const OF_NODES: &[&str] = &[
    "target_entity_name",
    "entity_name",
    "key_field",
    "key_fields",
    "property_fields",
    "for_each",
    "name",
];

/// What is wrong with a plan as a whole, with what would fix it.
pub(in super::super) fn of_whole_plan(
    value: &Value,
    problems: &[PlanParseError],
) -> Option<Finding> {
    wrapped(value, problems).or_else(|| in_short_form(value, problems))
}

/// A plan inside of something else: the only item of an array, or the only field of an object.
fn wrapped(value: &Value, problems: &[PlanParseError]) -> Option<Finding> {
    let inner = match value {
        Value::Array(items) if items.len() == 1 => items.first()?,
        Value::Object(fields) if fields.len() == 1 => fields.values().next()?,
        _ => return None,
    };
    let says = |name: &str| inner.get(name).is_some();
    let is_plan = says("event_type") && (says("key_field") || says("nodes"));
    let problem = problems.first().filter(|_| is_plan)?;
    Some(described(problem, "").with_fix(patch::replace("", inner)))
}

/// Fields of the short form beside some that only nodes have: the node that they are about, in a list.
fn in_short_form(value: &Value, problems: &[PlanParseError]) -> Option<Finding> {
    let fields = value.as_object().filter(|fields| !fields.contains_key("nodes"))?;
    let keys = fields.get("key_fields").and_then(Value::as_array);
    let has_several_keys = keys.is_some_and(|keys| keys.len() > 1);
    let name = match fields.contains_key("for_each") {
        true => "for_each",
        false if has_several_keys => "key_fields",
        false => return None,
    };
    let at = format!("/{name}");
    let problem = problems.iter().find(|problem| problem.pointer == at)?;
    let entity = fields.get("target_entity_name").or_else(|| fields.get("entity_name"))?;
    let node = reshape::long_form(fields, entity)?;
    let gone = reshape::without(fields, OF_NODES)?;
    let mut finding = described(problem, &at);
    finding.expected = format!("a node in a list `nodes` to have `{name}`");
    Some(finding.with_fix(patch::both(gone, patch::add("/nodes", [node]))))
}
