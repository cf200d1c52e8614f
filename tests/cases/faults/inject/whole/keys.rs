//! Entities, keys and properties of nodes.

use serde_json::{Value, json};

use super::super::{Fault, fault, with};
use super::{nodes, slips, spots};
use crate::faults::case::Case;

pub(super) fn entity(case: &Case, faults: &mut Vec<Fault>) {
    for at in nodes(case) {
        let place = format!("{at}/entity_name");
        let name = case.plan.pointer(&place).unwrap().as_str().unwrap();
        let others = case.task.graph().entities().iter().map(|it| it.name.clone());
        for other in slips(name).into_iter().chain(others.filter(|it| it != name).take(3)) {
            let mut plan = with(case, &place, json!(other));
            let is_given = plan.pointer(&at).unwrap().get("name").is_some();
            if !is_given && is_taken(case, &other) {
                plan.pointer_mut(&at).unwrap()["name"] = json!(name);
            } else if !is_given {
                // Edges call it what it is called.
                let edges = plan.get_mut("edges").and_then(Value::as_array_mut);
                for edge in edges.into_iter().flatten() {
                    for end in ["from", "to"] {
                        if edge[end] == name {
                            edge[end] = json!(other);
                        }
                    }
                }
            }
            faults.push(fault(&plan, &at, other));
        }
    }
}

/// Whether a node is called so.
fn is_taken(case: &Case, name: &str) -> bool {
    nodes(case).iter().any(|at| {
        let node = case.plan.pointer(at).unwrap();
        node.get("name").unwrap_or(&node["entity_name"]) == name
    })
}

pub(super) fn property(case: &Case, faults: &mut Vec<Fault>) {
    for spot in spots(case).into_iter().filter(|spot| !spot.is_key) {
        for other in slips(spot.name()) {
            let plan = with(case, &format!("{}/property_name", spot.at), json!(other));
            faults.push(fault(&plan, &spot.at, other));
        }
    }
}

pub(super) fn key(case: &Case, faults: &mut Vec<Fault>) {
    for spot in
        spots(case).into_iter().filter(|spot| spot.is_key && spot.owner.starts_with("/nodes"))
    {
        let mut others = slips(spot.name());
        others.push("id".to_owned());
        for other in others.into_iter().filter(|it| it != spot.name()) {
            let plan = with(case, &format!("{}/property_name", spot.at), json!(other));
            faults.push(fault(&plan, &spot.at, other));
        }
    }
}

/// The keys of several properties: pointer and list.
fn composite(case: &Case) -> Vec<(String, &Vec<Value>)> {
    let mut owners = nodes(case);
    owners.extend(
        super::edges(case)
            .into_iter()
            .flat_map(|at| ["from", "to"].map(|end| format!("{at}/{end}"))),
    );
    let keys = |at: String| {
        let keys = case.plan.pointer(&at)?.get("key_fields")?.as_array()?;
        (keys.len() > 1).then_some((format!("{at}/key_fields"), keys))
    };
    owners.into_iter().filter_map(keys).collect()
}

pub(super) fn order(case: &Case, faults: &mut Vec<Fault>) {
    for (at, keys) in composite(case) {
        for i in 1..keys.len() {
            let mut other = keys.clone();
            other.swap(i - 1, i);
            faults.push(fault(&with(case, &at, json!(other)), &at, "order"));
        }
    }
}

pub(super) fn missing_part(case: &Case, faults: &mut Vec<Fault>) {
    for (at, keys) in composite(case) {
        for i in 0..keys.len() {
            let mut rest = keys.clone();
            let part = rest.remove(i);
            let what = part["property_name"].to_string();
            faults.push(fault(&with(case, &at, json!(rest)), &at, what));
            let owner = at.strip_suffix("/key_fields").unwrap();
            if owner.starts_with("/nodes") {
                let mut plan = with(case, &at, json!(rest));
                let properties = plan.pointer_mut(owner).unwrap();
                if let Some(list) =
                    properties.get_mut("property_fields").and_then(Value::as_array_mut)
                {
                    list.push(part);
                    faults.push(fault(&plan, owner, "a part among the properties"));
                }
            }
        }
    }
}
