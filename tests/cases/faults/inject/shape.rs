//! Plans that aren't of the form of plans.

use serde_json::{Value, json};

use super::{Fault, fault, text, with};
use crate::faults::case::Case;

pub(super) fn missing_field(case: &Case, faults: &mut Vec<Fault>) {
    let mappings = case.mappings();
    let inner = mappings
        .iter()
        .flat_map(|(at, _)| ["property_name", "source_path"].map(|name| (at.as_str(), name)));
    let outer =
        ["event_type", "target_entity_name", "function_name", "key_field"].map(|name| ("", name));
    for (at, name) in outer.into_iter().chain(inner) {
        let mut plan = case.plan.clone();
        plan.pointer_mut(at).unwrap().as_object_mut().unwrap().remove(name);
        faults.push(fault(&plan, format!("{at}/{name}"), name));
    }
}

pub(super) fn unknown_field(case: &Case, faults: &mut Vec<Fault>) {
    let mut places =
        vec![("".to_owned(), "description"), ("".to_owned(), "version"), ("".to_owned(), "labels")];
    for (at, _) in case.mappings() {
        places.extend([(at.clone(), "type"), (at.clone(), "required"), (at, "comment")]);
    }
    for (at, name) in places {
        let mut plan = case.plan.clone();
        plan.pointer_mut(&at).unwrap()[name] = json!("string");
        faults.push(fault(&plan, format!("{at}/{name}"), name));
    }
}

pub(super) fn misspelt_field(case: &Case, faults: &mut Vec<Fault>) {
    let mut places = vec![
        (String::new(), "event_type", "eventType"),
        (String::new(), "target_entity_name", "entity"),
        (String::new(), "target_entity_name", "target_entity"),
        (String::new(), "function_name", "function"),
        (String::new(), "key_field", "key"),
        (String::new(), "key_field", "keyField"),
        (String::new(), "property_fields", "properties"),
        (String::new(), "property_fields", "fields"),
        (String::new(), "session_id_path", "session_path"),
        (String::new(), "span_handling", "span"),
    ];
    for (at, _) in case.mappings() {
        for (name, other) in [
            ("property_name", "name"),
            ("property_name", "propertyName"),
            ("source_path", "path"),
            ("source_path", "source_paths"),
        ] {
            places.push((at.clone(), name, other));
        }
    }
    for (at, name, other) in places {
        let mut plan = case.plan.clone();
        let fields = plan.pointer_mut(&at).unwrap().as_object_mut().unwrap();
        let Some(value) = fields.remove(name) else { continue };
        fields.insert(other.to_owned(), value);
        faults.push(fault(&plan, format!("{at}/{other}"), other));
    }
}

pub(super) fn json_type(case: &Case, faults: &mut Vec<Fault>) {
    for (at, it) in case.mappings() {
        let path = format!("{at}/source_path");
        faults.push(fault(&with(case, &path, Value::Null), path, "null for a path"));
        let name = format!("{at}/property_name");
        faults.push(fault(&with(case, &name, Value::Null), name, "null for a name"));
        if at != "/key_field" {
            let mut nulls = case.plan.clone();
            nulls.pointer_mut(&at).unwrap()["nulls"] = Value::Null;
            faults.push(fault(&nulls, format!("{at}/nulls"), "null for nulls"));
            let mut wrapped = it.clone();
            wrapped["source_path"] = json!([it["source_path"][0], 7]);
            faults.push(fault(
                &with(case, &at, wrapped),
                format!("{at}/source_path"),
                "a number in a path",
            ));
        }
    }
    let mappings = case.mappings();
    let map: serde_json::Map<String, Value> = mappings[1..]
        .iter()
        .map(|(_, it)| (text(&it["property_name"]).to_owned(), it["source_path"].clone()))
        .collect();
    let in_order = map.keys().eq(mappings[1..].iter().map(|(_, it)| text(&it["property_name"])));
    if in_order {
        faults.push(fault(
            &with(case, "/property_fields", Value::Object(map)),
            "/property_fields",
            "a map of properties",
        ));
    }
    let key = json!([case.plan["key_field"]]);
    faults.push(fault(&with(case, "/key_field", key), "/key_field", "a list of keys"));
    if case.plan["session_id_path"] == json!(["session_id"]) {
        faults.push(fault(
            &with(case, "/session_id_path", Value::Null),
            "/session_id_path",
            "null for the session",
        ));
        faults.push(fault(
            &with(case, "/session_id_path", json!([])),
            "/session_id_path",
            "an empty session path",
        ));
    }
    faults.push(fault(&json!([case.plan]), "", "a list of plans"));
    faults.push(fault(&json!({"plan": case.plan}), "", "a plan inside of an object"));
}

pub(super) fn duplicate(case: &Case, faults: &mut Vec<Fault>) {
    let mappings = case.mappings();
    for (i, (_, it)) in mappings.iter().enumerate() {
        let (_, next) = mappings[(i + 1) % mappings.len()];
        for path in [&it["source_path"], &next["source_path"]] {
            let mut plan = case.plan.clone();
            let fields = plan["property_fields"].as_array_mut().unwrap();
            fields.push(json!({"property_name": it["property_name"], "source_path": path}));
            let place = format!("/property_fields/{}", fields.len() - 1);
            faults.push(fault(&plan, place, text(&it["property_name"])));
        }
    }
}
