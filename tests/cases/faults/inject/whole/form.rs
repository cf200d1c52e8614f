//! Plans that aren't of the form of plans, where the whole language is concerned.

use serde_json::{Map, Value, json};

use super::super::{Fault, fault, with};
use super::{having_also, nodes, renamed, spots, without};
use crate::faults::case::Case;

/// Fields of the short form in the long one, and the other way round.
pub(super) fn other_form(case: &Case, faults: &mut Vec<Fault>) {
    for at in nodes(case) {
        let plan = renamed(case, &at, "entity_name", "target_entity_name");
        faults.push(fault(&plan, format!("{at}/target_entity_name"), "target_entity_name"));
        let keys = case.plan.pointer(&format!("{at}/key_fields")).unwrap();
        if let [only] = keys.as_array().unwrap().as_slice() {
            let mut plan = without(case, &at, "key_fields");
            plan.pointer_mut(&at).unwrap()["key_field"] = only.clone();
            faults.push(fault(&plan, format!("{at}/key_field"), "key_field"));
            let plan = with(case, &format!("{at}/key_fields"), only.clone());
            faults.push(fault(&plan, format!("{at}/key_fields"), "a key for a list"));
        }
    }
    if let Some(nodes) = case.plan.get("nodes").and_then(Value::as_array) {
        let by_name = |node: &Value| {
            let mut node = node.clone();
            let entity = node.as_object_mut().unwrap().remove("entity_name").unwrap();
            (entity.as_str().unwrap().to_owned(), node)
        };
        let map: Map<String, Value> = nodes.iter().map(by_name).collect();
        let names: Vec<&String> = map.keys().collect();
        let in_order = nodes.len() == map.len()
            && nodes.iter().zip(&names).all(|(node, name)| {
                node["entity_name"] == name.as_str() && node.get("name").is_none()
            });
        if in_order {
            faults.push(fault(
                &with(case, "/nodes", Value::Object(map)),
                "/nodes",
                "a map of nodes",
            ));
        }
        if let [only] = nodes.as_slice() {
            faults.push(fault(&with(case, "/nodes", only.clone()), "/nodes", "a node for a list"));
            let mut plan = without(case, "", "nodes");
            for (name, value) in only.as_object().unwrap() {
                plan[name] = value.clone();
            }
            faults.push(fault(&plan, "", "the fields of a node at the top"));
        } else {
            let mut plan = case.plan.clone();
            let first = plan["nodes"].as_array_mut().unwrap().remove(0);
            let is_plain = first.get("for_each").is_none()
                && first.get("when").is_none()
                && first.get("name").is_none();
            if let ([key], true) = (first["key_fields"].as_array().unwrap().as_slice(), is_plain) {
                plan["target_entity_name"] = first["entity_name"].clone();
                plan["key_field"] = key.clone();
                if let Some(fields) = first.get("property_fields") {
                    plan["property_fields"] = fields.clone();
                }
                let mut fault = fault(&plan, "/target_entity_name", "the first node at the top");
                fault.places.extend([
                    "/key_field".to_owned(),
                    "/property_fields".to_owned(),
                    "/nodes".to_owned(),
                ]);
                faults.push(fault);
            }
        }
    }
    for at in nodes(case) {
        if at == "/nodes/0" && case.plan.get("edges").is_some() {
            let mut plan = without(case, "", "edges");
            plan.pointer_mut(&at).unwrap()["edges"] = case.plan["edges"].clone();
            let mut fault = fault(&plan, format!("{at}/edges"), "edges inside of a node");
            fault.places.push("/edges".to_owned());
            faults.push(fault);
        }
    }
}

pub(super) fn misspelt(case: &Case, faults: &mut Vec<Fault>) {
    let mut places: Vec<(String, &str, &str)> = vec![
        (String::new(), "nodes", "node"),
        (String::new(), "edges", "edge"),
        (String::new(), "edges", "relationships"),
        (String::new(), "span_handling", "spans"),
    ];
    for at in nodes(case) {
        for (field, other) in [
            ("entity_name", "entity"),
            ("entity_name", "entityName"),
            ("key_fields", "keys"),
            ("key_fields", "keyFields"),
            ("property_fields", "properties"),
            ("property_fields", "fields"),
        ] {
            places.push((at.clone(), field, other));
        }
    }
    for spot in spots(case) {
        for (field, other) in [
            ("property_name", "name"),
            ("source_path", "path"),
            ("convert", "conversion"),
            ("convert", "conversions"),
            ("template", "templte"),
            ("constant", "value"),
            ("coalesce", "coalesc"),
        ] {
            places.push((spot.at.clone(), field, other));
        }
    }
    for (at, field, other) in places {
        if case.plan.pointer(&at).unwrap().get(field).is_some() {
            faults.push(fault(&renamed(case, &at, field, other), format!("{at}/{other}"), other));
        }
    }
}

pub(super) fn missing(case: &Case, faults: &mut Vec<Fault>) {
    let mut places: Vec<(String, &str)> = Vec::new();
    for at in nodes(case) {
        places.extend([(at.clone(), "entity_name"), (at, "key_fields")]);
    }
    for at in super::edges(case) {
        places.push((at, "relationship_name"));
    }
    for spot in spots(case) {
        places.extend([(spot.at.clone(), "property_name"), (spot.at, "source_path")]);
    }
    for (at, field) in places {
        if case.plan.pointer(&at).unwrap().get(field).is_some() {
            faults.push(fault(&without(case, &at, field), format!("{at}/{field}"), field));
        }
    }
}

pub(super) fn unknown(case: &Case, faults: &mut Vec<Fault>) {
    let mut places: Vec<(String, &str)> = vec![(String::new(), "version")];
    let objects = nodes(case).into_iter().chain(super::edges(case));
    places.extend(objects.flat_map(|at| [(at.clone(), "description"), (at, "comment")]));
    for spot in spots(case) {
        places.extend([(spot.at.clone(), "required"), (spot.at, "data_type")]);
    }
    for (at, field) in places {
        let plan = having_also(case, &at, field, json!("string"));
        faults.push(fault(&plan, format!("{at}/{field}"), field));
    }
}
