//! Other values of the same kind: which is meant is nowhere but in somebody's head.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::{Fault, fault, with};
use super::spots;
use crate::faults::case::Case;

/// How many paths are tried in place of one.
const OTHER_PATHS: usize = 5;

/// Each value that is read from the event itself read from other scalars that events have.
pub(super) fn another_path(case: &Case, faults: &mut Vec<Fault>) {
    let evidence = case.task.evidence();
    let paths: BTreeSet<&Vec<String>> = evidence
        .event_types()
        .flat_map(|(_, events)| events.observed())
        .filter(|(_, seen)| seen.distinct > 0)
        .map(|(path, _)| path)
        .collect();
    for spot in spots(case) {
        let inside = case.plan.pointer(&format!("{}/for_each", spot.owner)).is_some();
        let Some(right) = spot.path().filter(|_| !inside) else { continue };
        let others: Vec<_> = paths.iter().filter(|path| ***path != right).collect();
        for path in others.iter().step_by(others.len().div_ceil(OTHER_PATHS).max(1)) {
            let at = format!("{}/source_path", spot.at);
            faults.push(fault(&with(case, &at, json!(path)), at, path.join(".")));
        }
    }
}

/// The values of two properties of a node or an edge exchanged.
pub(super) fn swapped(case: &Case, faults: &mut Vec<Fault>) {
    let spots = spots(case);
    for (i, one) in spots.iter().enumerate() {
        for other in spots[i + 1..].iter().filter(|it| it.owner == one.owner) {
            let named = |value: &Value, name: &str| {
                let mut value = value.clone();
                value["property_name"] = json!(name);
                value
            };
            let mut plan = with(case, &one.at, named(other.value, one.name()));
            *plan.pointer_mut(&other.at).unwrap() = named(one.value, other.name());
            let mut fault = fault(&plan, &one.at, format!("{} and {}", one.name(), other.name()));
            fault.places.push(other.at.clone());
            faults.push(fault);
        }
    }
}
