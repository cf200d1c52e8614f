//! Edges whose nodes go over other elements than each other, or than the edge itself.

use serde_json::Value;

use super::{Context, IterationScope, Remedy, edge_around, edge_end, fix, read_path};
use crate::diagnostics::finding::patch;
use crate::evidence::similarity::ranking::only;
use crate::json::JsonKind;
use crate::plan::expr::{FIRST_OF, Level};

/// The end that is another node, or the level of a `for_each` that isn't what events have, where that of the other is.
pub(super) fn remedy(context: &Context<'_, '_>, at: &str) -> Remedy {
    edge_end::wrong_node(context, at).or_else(|| wrong_level(context, at))
}

fn wrong_level(context: &Context<'_, '_>, at: &str) -> Remedy {
    let plan = context.plan;
    let edge = edge_around(at)?;
    let node = |end: &str| {
        let name = plan.get(&format!("{edge}/{end}"))?.as_str()?;
        plan.nodes().find(|(_, it)| *it == name).map(|(node, _)| node.at.clone())
    };
    let owners = [Some(edge.to_owned()), node("from"), node("to")];
    let mut all: Vec<String> =
        owners.into_iter().flatten().map(|owner| format!("{owner}/for_each")).collect();
    all.retain(|it| plan.get(it).is_some());
    all.dedup();
    let pairs = all.iter().enumerate().flat_map(|(index, one)| {
        all.iter().skip(index + 1).map(move |other| (one.as_str(), other.as_str()))
    });
    let wrong = only(pairs.filter_map(|(one, other)| first_difference(context, one, other)))?;
    let [(one, is_one), (other, is_other)] =
        wrong.map(|at| (at.clone(), is_of_events(context, &at)));
    let (wrong, right) = match (is_one, is_other) {
        (Some(false), Some(true)) => (one, other),
        (Some(true), Some(false)) => (other, one),
        _ => return None,
    };
    let mut level = plan.get(&right)?.as_object()?.clone();
    level.remove("for_each");
    if let Some(inner) = plan.get(&wrong)?.get("for_each") {
        level.insert("for_each".to_owned(), inner.clone());
    }
    fix(patch::replace(&wrong, level))
}

/// The first levels in which two `for_each` differ, by their pointers.
fn first_difference(context: &Context<'_, '_>, one: &str, other: &str) -> Option<[String; 2]> {
    let (mut one, mut other) = (one.to_owned(), other.to_owned());
    for _ in 0..Level::DEEPEST.0 {
        let [a, b] = [&one, &other].map(|at| context.plan.get(at)?.as_object());
        let (a, b) = (a?, b?);
        let without = |level: &serde_json::Map<String, Value>| {
            let mut level = level.clone();
            level.remove("for_each");
            level
        };
        if without(a) != without(b) {
            return Some([one, other]);
        }
        one.push_str("/for_each");
        other.push_str("/for_each");
    }
    None
}

/// Whether events have what one level goes over, and what its condition reads; `None` where that isn't known.
fn is_of_events(context: &Context<'_, '_>, at: &str) -> Option<bool> {
    let level = context.plan.get(at)?;
    let outer = at.strip_suffix("/for_each")?;
    let outside = context.plan.inside_level(outer).unwrap_or(&IterationScope::Event);
    let known = context.known(outside, outside.level())?;
    let has = |path: &Value, kind: JsonKind| {
        read_path(path).is_some_and(|path| known.kinds(&path).contains(kind))
    };
    let is_there = match (level.get("array"), level.get("entries"), level.get(FIRST_OF)) {
        (Some(path), ..) => has(path, JsonKind::Array),
        (_, Some(path), _) => has(path, JsonKind::Object),
        (.., Some(paths)) => paths.as_array()?.iter().any(|path| has(path, JsonKind::Array)),
        _ => return None,
    };
    let Some(condition) = level.get("where").filter(|_| is_there) else { return Some(is_there) };
    let inside = context.plan.inside_level(at)?;
    let mut open = vec![condition];
    let mut reads_what_is_there = true;
    // As long as what was written.
    while let Some(part) = open.pop() {
        match part {
            Value::Array(parts) => open.extend(parts),
            Value::Object(fields) => {
                if let Some(path) = fields.get("source_path").and_then(read_path) {
                    let known = context.known(inside, inside.level_of(part))?;
                    reads_what_is_there &= known.has(&path);
                }
                open.extend(fields.values().filter(|it| it.is_object() || it.is_array()));
            }
            _ => {}
        }
    }
    Some(reads_what_is_there)
}
