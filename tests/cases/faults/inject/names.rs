//! Names of the wrong thing.

use serde_json::json;

use super::{Fault, NAMES_SAY_NOTHING, SEVERAL_TYPES, camel, exchanged, fault, text, with};
use crate::faults::case::{Case, path_of};

pub(super) fn invented_field(case: &Case, faults: &mut Vec<Fault>) {
    let (_, key) = &case.mappings()[0];
    let mut somewhere =
        case.plan.pointer("/session_id_path").cloned().unwrap_or(json!(["session_id"]));
    if !case.exists(&path_of(&somewhere)) {
        somewhere = key["source_path"].clone();
    }
    for (name, path) in [
        ("severity_level", somewhere),
        ("raw_event_json", json!(["event_type"])),
        ("sentiment", json!(["content", "sentiment"])),
        ("hypothesis", json!(["analysis", "hypothesis", "text"])),
    ] {
        for first in [true, false] {
            let mut plan = case.plan.clone();
            let fields = plan["property_fields"].as_array_mut().unwrap();
            let index = if first { 0 } else { fields.len() };
            fields.insert(index, json!({"property_name": name, "source_path": path}));
            faults.push(fault(&plan, format!("/property_fields/{index}"), name));
        }
    }
}

pub(super) fn misspelt_property(case: &Case, faults: &mut Vec<Fault>) {
    for (at, it) in case.mappings() {
        let name = text(&it["property_name"]);
        for other in [camel(name), exchanged(name), format!("{name}s")] {
            let place = format!("{at}/property_name");
            if other != name && !case.mappings().iter().any(|(_, it)| it["property_name"] == other)
            {
                faults.push(fault(&with(case, &place, json!(other)), place, other));
            }
        }
    }
}

/// Two properties of one type with each other's paths. Their names say which is which where each is the end of its path,
/// as `id` and `issue_id` are of `issue.id`, and not of the other's.
pub(super) fn swapped(case: &Case, faults: &mut Vec<Fault>) {
    let mappings = case.mappings();
    for (i, (one_at, one)) in mappings.iter().enumerate() {
        for (other_at, other) in &mappings[i + 1..] {
            let [a, b] =
                [one, other].map(|it| (text(&it["property_name"]), path_of(&it["source_path"])));
            let fits = case.is_valid(a.0, &b.1) && case.is_valid(b.0, &a.1);
            if a.1 == b.1 || !fits {
                continue;
            }
            let places = [one_at, other_at].map(|at| format!("{at}/source_path"));
            let mut plan = with(case, &places[0], json!(b.1));
            *plan.pointer_mut(&places[1]).unwrap() = json!(a.1);
            let mut fault = fault(&plan, "", format!("{} and {}", a.0, b.0));
            fault.places = places.into();
            let tells = |(name, path): &(&str, Vec<String>), other: &[String]| {
                let ends = |path: &[String]| {
                    (0..path.len()).any(|from| path[from..].join("_").eq_ignore_ascii_case(name))
                };
                ends(path) && !other.iter().any(|segment| segment == name) && !ends(other)
            };
            let clear = tells(&a, &b.1) && tells(&b, &a.1);
            fault.unknowable = (!clear).then_some(NAMES_SAY_NOTHING);
            faults.push(fault);
        }
    }
}

pub(super) fn identifier(case: &Case, faults: &mut Vec<Fault>) {
    let function = text(&case.plan["function_name"]);
    for other in [function.replace('_', "-"), format!("{function}()"), "fn".to_owned()] {
        faults.push(fault(&with(case, "/function_name", json!(other)), "/function_name", other));
    }
    for (at, it) in case.mappings() {
        let (name, at) = (text(&it["property_name"]), format!("{at}/property_name"));
        for other in
            [name.replace('_', "-"), name.replace('_', " "), format!("{}.{name}", case.entity())]
        {
            if other != name {
                faults.push(fault(&with(case, &at, json!(other)), &at, other));
            }
        }
    }
}

pub(super) fn event_type(case: &Case, faults: &mut Vec<Fault>) {
    let name = case.event_type();
    let capital = name[..1].to_uppercase() + &name[1..];
    let family = name.split(['.', '_']).next().unwrap_or_default();
    let others = [
        name.to_uppercase(),
        name.to_lowercase(),
        capital,
        name.replace('.', "_"),
        name.replace('.', "/"),
        exchanged(name),
        format!("{name}s"),
        format!("github.{name}"),
        family.to_owned(),
        "unknown_event".to_owned(),
    ];
    let existing = case.task.evidence().event_types().map(|(it, _)| it.to_owned()).take(3);
    for other in others.into_iter().chain(existing).filter(|it| it != name) {
        let mut fault = fault(&with(case, "/event_type", json!(other)), "/event_type", &other);
        fault.unknowable = case.task.evidence().of(&other).is_some().then_some(SEVERAL_TYPES);
        faults.push(fault);
    }
}

pub(super) fn entity(case: &Case, faults: &mut Vec<Fault>) {
    let name = case.entity();
    let others = [
        name.to_lowercase(),
        name.to_uppercase(),
        exchanged(name),
        format!("{name}Node"),
        format!("{name}s"),
        "Thing".to_owned(),
    ];
    for other in others.into_iter().filter(|it| it != name) {
        faults.push(fault(
            &with(case, "/target_entity_name", json!(other)),
            "/target_entity_name",
            other,
        ));
    }
}

/// Another property as the key: by name alone, in exchange with the key, or in its place; or a name that isn't one.
pub(super) fn wrong_key(case: &Case, faults: &mut Vec<Fault>) {
    let mappings = case.mappings();
    let key = mappings[0].1.clone();
    for (at, other) in &mappings[1..] {
        let name = &other["property_name"];
        let mut renamed = fault(
            &with(case, "/key_field/property_name", name.clone()),
            "/key_field",
            format!("{name} for the key"),
        );
        renamed.places.push(at.clone());
        faults.push(renamed);
        let mut plan = with(case, "/key_field", (*other).clone());
        *plan.pointer_mut(at).unwrap() = key.clone();
        faults.push(fault(&plan, "/key_field", format!("{name} exchanged with the key")));
    }
    for name in ["id", "uuid", "primary_key"] {
        if case.task.graph().entity(case.entity()).is_some_and(|it| it.property(name).is_none()) {
            faults.push(fault(
                &with(case, "/key_field/property_name", json!(name)),
                "/key_field",
                name,
            ));
        }
    }
}
