//! Elements in elements, the first of several lists, and conditions on elements.

use serde_json::{Value, json};

use super::super::{Fault, Kind, fault, with};
use super::{conditions, elements, having, having_also, path_slips, paths, renamed, without};
use crate::faults::case::{Case, path_of};

/// What goes wrong where arrays are four deep.
pub(in crate::faults) const KINDS: &[Kind] = &[
    Kind {
        name: "for_each misspelt",
        make: |case, faults| at_edges_too(case, faults, elements::misspelt),
    },
    Kind { name: "element from the event", make: elements::from_the_event },
    Kind { name: "from dropped", make: elements::from_dropped },
    Kind { name: "another level", make: another_level },
    Kind { name: "slip in an element", make: paths::in_element },
    Kind {
        name: "slip of a condition",
        make: |case, faults| at_edges_too(case, faults, conditions::slip),
    },
    Kind { name: "condition's form", make: conditions::form },
    Kind { name: "slip in a first_of", make: first_of_slip },
    Kind { name: "first_of's form", make: first_of_form },
    Kind { name: "where's form", make: where_form },
    Kind { name: "zone and empty", make: defaults },
];

/// What is wrong with what a node goes over is wrong with each edge that leads from it or to it, too: they no longer agree.
fn at_edges_too(case: &Case, faults: &mut Vec<Fault>, make: fn(&Case, &mut Vec<Fault>)) {
    let before = faults.len();
    make(case, faults);
    let ends = super::edges(case).into_iter().map(|edge| format!("{edge}/to"));
    let ends: Vec<String> = ends.collect();
    for fault in faults.iter_mut().skip(before) {
        fault.places.extend(ends.iter().cloned());
    }
}

/// A path from another element than the one that it is in.
fn another_level(case: &Case, faults: &mut Vec<Fault>) {
    for at in having(case, "source_path") {
        let written = case.plan.pointer(&at).unwrap().get("from").and_then(Value::as_str);
        for from in ["event", "parent", "parent2", "parent3", "grandparent"] {
            if written.is_some_and(|it| it != from) {
                faults.push(fault(&having_also(case, &at, "from", json!(from)), &at, from));
            }
        }
    }
}

fn first_of_slip(case: &Case, faults: &mut Vec<Fault>) {
    for at in having(case, "first_of") {
        let paths = case.plan.pointer(&at).unwrap()["first_of"].as_array().unwrap();
        for (index, path) in paths.iter().enumerate() {
            for other in path_slips(&path_of(path)) {
                let place = format!("{at}/first_of/{index}");
                faults.push(fault(&with(case, &place, json!(other)), &place, other.join(".")));
            }
        }
    }
}

fn first_of_form(case: &Case, faults: &mut Vec<Fault>) {
    for at in having(case, "first_of") {
        for name in ["firstOf", "arrays", "any_of", "coalesce"] {
            let renamed = renamed(case, &at, "first_of", name);
            faults.push(fault(&renamed, format!("{at}/{name}"), name));
        }
        let paths = case.plan.pointer(&at).unwrap()["first_of"].as_array().unwrap();
        for (index, path) in paths.iter().enumerate() {
            let place = format!("{at}/first_of/{index}");
            let dotted = json!(path_of(path).join("."));
            faults.push(fault(&with(case, &place, dotted), &place, "a dotted path"));
        }
    }
}

fn where_form(case: &Case, faults: &mut Vec<Fault>) {
    for at in having(case, "where") {
        for name in ["when", "filter", "condition", "if", "were"] {
            faults.push(fault(&renamed(case, &at, "where", name), format!("{at}/{name}"), name));
        }
        let listed = json!([case.plan.pointer(&at).unwrap()["where"]]);
        let place = format!("{at}/where");
        faults.push(fault(&with(case, &place, listed), &place, "a list"));
    }
}

fn defaults(case: &Case, faults: &mut Vec<Fault>) {
    for (name, others) in [("time_zone", ["timezone", "tz"]), ("empty", ["empty_strings", "emty"])]
    {
        for other in others {
            faults.push(fault(&renamed(case, "", name, other), format!("/{other}"), other));
        }
    }
    for zone in ["europe/berlin", "EUROPE/BERLIN"] {
        faults.push(fault(&with(case, "/time_zone", json!(zone)), "/time_zone", zone));
    }
    for word in ["null", "omit", "none"] {
        faults.push(fault(&with(case, "/empty", json!(word)), "/empty", word));
    }
    // Without a zone no time is one.
    let place = having(case, "convert").into_iter().next().unwrap();
    faults.push(fault(&without(case, "", "time_zone"), place, "no zone"));
}
