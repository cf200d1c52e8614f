//! Edges and their ends.

use serde_json::{Value, json};

use super::super::{Fault, fault, with};
use super::{edges, having_also, nodes, path_slips, renamed, slips};
use crate::faults::case::{Case, path_of};

fn edge<'c>(case: &'c Case, at: &str) -> &'c Value {
    case.plan.pointer(at).unwrap()
}

/// What edges call the nodes of a plan.
fn names(case: &Case) -> Vec<&str> {
    let node = |at: String| {
        let node = case.plan.pointer(&at).unwrap();
        node.get("name").unwrap_or(&node["entity_name"]).as_str().unwrap()
    };
    nodes(case).into_iter().map(node).collect()
}

pub(super) fn swapped(case: &Case, faults: &mut Vec<Fault>) {
    for at in edges(case) {
        let (from, to) = (edge(case, &at)["from"].clone(), edge(case, &at)["to"].clone());
        let mut plan = with(case, &format!("{at}/from"), to);
        *plan.pointer_mut(&format!("{at}/to")).unwrap() = from;
        faults.push(fault(&plan, &at, "ends"));
    }
}

pub(super) fn unknown_node(case: &Case, faults: &mut Vec<Fault>) {
    for at in edges(case) {
        for end in ["from", "to"] {
            let place = format!("{at}/{end}");
            let Some(name) = edge(case, &at)[end].as_str() else { continue };
            let mut others = slips(name);
            others.push(name.to_lowercase());
            others.push("Thing".to_owned());
            for node in nodes(case) {
                let node = case.plan.pointer(&node).unwrap();
                if node.get("name").is_some_and(|it| it == name) {
                    others.push(node["entity_name"].as_str().unwrap().to_owned());
                }
            }
            for other in others.into_iter().filter(|it| !names(case).contains(&it.as_str())) {
                faults.push(fault(&with(case, &place, json!(other)), &place, other));
            }
        }
    }
}

pub(super) fn another_node(case: &Case, faults: &mut Vec<Fault>) {
    for at in edges(case) {
        for end in ["from", "to"] {
            let written = &edge(case, &at)[end];
            for other in names(case).into_iter().filter(|it| written != it) {
                let plan = with(case, &format!("{at}/{end}"), json!(other));
                faults.push(fault(&plan, &at, format!("{other} for {written}")));
            }
        }
    }
}

pub(super) fn misspelt(case: &Case, faults: &mut Vec<Fault>) {
    for at in edges(case) {
        let place = format!("{at}/relationship_name");
        let name = edge(case, &at)["relationship_name"].as_str().unwrap();
        for other in slips(name).into_iter().chain([name.to_lowercase(), name.replace('_', "")]) {
            if other != name && case.task.graph().relationship(&other).is_none() {
                faults.push(fault(&with(case, &place, json!(other)), &place, other));
            }
        }
    }
}

pub(super) fn another(case: &Case, faults: &mut Vec<Fault>) {
    for at in edges(case) {
        let written = &edge(case, &at)["relationship_name"];
        let others =
            case.task.graph().relationships().iter().filter(|it| *written != it.name.as_str());
        for other in others.take(4) {
            let plan = with(case, &format!("{at}/relationship_name"), json!(other.name));
            faults.push(fault(&plan, &at, format!("{} for {written}", other.name)));
        }
    }
}

/// The ends that are external nodes.
fn external(case: &Case) -> Vec<String> {
    let ends = |at: String| ["from", "to"].map(|end| format!("{at}/{end}"));
    let all = edges(case).into_iter().flat_map(ends);
    all.filter(|at| case.plan.pointer(at).unwrap().is_object()).collect()
}

pub(super) fn external_entity(case: &Case, faults: &mut Vec<Fault>) {
    for at in external(case) {
        let place = format!("{at}/entity_name");
        let name = case.plan.pointer(&place).unwrap().as_str().unwrap();
        let others = case.task.graph().entities().iter().map(|it| it.name.clone());
        for other in slips(name).into_iter().chain(others.filter(|it| it != name).take(3)) {
            faults.push(fault(&with(case, &place, json!(other)), &at, other));
        }
        faults.push(fault(
            &renamed(case, &at, "entity_name", "target_entity_name"),
            &at,
            "another field",
        ));
    }
}

pub(super) fn external_key(case: &Case, faults: &mut Vec<Fault>) {
    for at in external(case) {
        let keys = case.plan.pointer(&format!("{at}/key_fields")).unwrap().as_array().unwrap();
        for (i, key) in keys.iter().enumerate() {
            let place = format!("{at}/key_fields/{i}");
            let name = key["property_name"].as_str().unwrap();
            for other in slips(name).into_iter().chain(["id".to_owned()]).filter(|it| it != name) {
                let plan = with(case, &format!("{place}/property_name"), json!(other));
                faults.push(fault(&plan, &place, other));
            }
            let Some(path) = key.get("source_path").map(path_of) else { continue };
            for other in path_slips(&path) {
                faults.push(super::at_path(case, &place, &other));
            }
        }
    }
}

pub(super) fn form(case: &Case, faults: &mut Vec<Fault>) {
    for at in edges(case) {
        for end in ["from", "to"] {
            let place = format!("{at}/{end}");
            match &edge(case, &at)[end] {
                Value::String(name) => {
                    let node = nodes(case).into_iter().find(|it| {
                        let node = case.plan.pointer(it).unwrap();
                        node.get("name").unwrap_or(&node["entity_name"]) == name.as_str()
                    });
                    let entity = &case.plan.pointer(&node.unwrap()).unwrap()["entity_name"];
                    let object = json!({"entity_name": entity});
                    faults.push(fault(&with(case, &place, object), &place, "an object for a name"));
                }
                external => {
                    let mut keys = external.clone();
                    keys["key_fields"] = external["key_fields"][0].clone();
                    faults.push(fault(&with(case, &place, keys), &place, "one key for a list"));
                }
            }
            let other = if end == "from" { "source" } else { "target" };
            faults.push(fault(&renamed(case, &at, end, other), format!("{at}/{other}"), other));
            let mut gone = case.plan.clone();
            gone.pointer_mut(&at).unwrap().as_object_mut().unwrap().remove(end);
            faults.push(fault(&gone, &place, format!("no {end}")));
        }
        for other in ["relationship", "type"] {
            let plan = renamed(case, &at, "relationship_name", other);
            faults.push(fault(&plan, format!("{at}/{other}"), other));
        }
        let plan = having_also(case, &at, "properties", json!([]));
        faults.push(fault(&plan, format!("{at}/properties"), "another list"));
    }
    let all = case.plan["edges"].as_array().map_or(&[][..], Vec::as_slice);
    if let [only] = all {
        faults.push(fault(&with(case, "/edges", only.clone()), "/edges", "an edge for a list"));
    }
}
