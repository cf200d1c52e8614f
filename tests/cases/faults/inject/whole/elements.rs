//! Elements: what is gone over, and where paths start.

use retort::plan::{ForEach, Iteration, Over};
use serde_json::{Value, json};

use super::super::{Fault, fault, with};
use super::{Spot, having, having_also, path_slips, renamed, spots, without};
use crate::faults::case::{Case, path_of};

/// The iterations of a plan: the pointer of each `for_each`, inner ones too, its field, and its path.
fn iterations(case: &Case) -> Vec<(String, &'static str, Vec<String>)> {
    let mut found = Vec::new();
    for at in having(case, "for_each") {
        let at = format!("{at}/for_each");
        let value = case.plan.pointer(&at).unwrap();
        let field = if value.get("array").is_some() { "array" } else { "entries" };
        // One of several paths has kinds of faults of its own.
        if let Some(path) = value.get(field) {
            found.push((at, field, path_of(path)));
        }
    }
    found
}

pub(super) fn dropped(case: &Case, faults: &mut Vec<Fault>) {
    for at in having(case, "for_each") {
        let owner = at.trim_end_matches("/for_each");
        faults.push(fault(&without(case, &at, "for_each"), owner, "for_each"));
    }
}

/// What else there is to go over, where the iteration starts.
fn others(case: &Case, at: &str) -> Vec<Iteration> {
    let evidence = case.task.evidence();
    let types: Vec<&str> = evidence.event_types().map(|(name, _)| name).collect();
    let outer = at.strip_suffix("/for_each").filter(|outer| outer.ends_with("/for_each"));
    let all = match outer {
        None => evidence.arrays(&types),
        Some(outer) => {
            let first = outer.find("/for_each").unwrap();
            let places = outer.match_indices("/for_each").map(|(at, name)| at + name.len());
            let levels = places.filter(|end| *end > first).map(|end| {
                let value = case.plan.pointer(&outer[..end]).unwrap();
                match value.get("array") {
                    Some(path) => Iteration::new(Over::Array, path_of(path)),
                    None => Iteration::new(Over::Entries, path_of(&value["entries"])),
                }
            });
            let outer = ForEach::of(levels).unwrap();
            evidence.elements(&types, &outer).arrays(&types)
        }
    };
    all.into_iter().map(|it| it.iteration).filter(|it| it.over() == Over::Array).collect()
}

pub(super) fn elsewhere(case: &Case, faults: &mut Vec<Fault>) {
    for (at, field, path) in iterations(case) {
        let place = at.strip_suffix("/for_each").unwrap();
        for other in
            others(case, &at).into_iter().filter(|it| it.path() != path && field == "array").take(4)
        {
            let what = other.path().join(".");
            faults.push(fault(
                &with(case, &format!("{at}/array"), json!(other.path())),
                place,
                what,
            ));
        }
    }
}

pub(super) fn misspelt(case: &Case, faults: &mut Vec<Fault>) {
    for (at, field, path) in iterations(case) {
        for other in path_slips(&path) {
            let place = format!("{at}/{field}");
            faults.push(fault(&with(case, &place, json!(other)), &at, other.join(".")));
        }
    }
}

pub(super) fn form(case: &Case, faults: &mut Vec<Fault>) {
    for (at, field, path) in iterations(case) {
        let has_inner = case.plan.pointer(&at).unwrap().get("for_each").is_some();
        if field == "array" && !has_inner {
            for form in [
                json!(path),
                json!(path.join(".")),
                json!({"path": path}),
                json!([{"array": path}]),
            ] {
                faults.push(fault(&with(case, &at, form.clone()), &at, form.to_string()));
            }
        }
        let dotted = json!(path.join("."));
        faults.push(fault(&with(case, &format!("{at}/{field}"), dotted), &at, "a dotted path"));
        let around = at.strip_suffix("/for_each").unwrap();
        for name in ["foreach", "forEach", "iterate_over"] {
            faults.push(fault(
                &renamed(case, around, "for_each", name),
                format!("{around}/{name}"),
                name,
            ));
        }
        for name in ["list", "items"] {
            if field == "array" {
                faults.push(fault(
                    &renamed(case, &at, "array", name),
                    format!("{at}/{name}"),
                    name,
                ));
            }
        }
    }
}

/// The mappings inside of a `for_each`, with the path from the event to the elements.
fn inside(case: &Case) -> Vec<(Spot<'_>, Vec<String>)> {
    let mut found = Vec::new();
    for spot in spots(case) {
        let Some(for_each) = case.plan.pointer(&format!("{}/for_each", spot.owner)) else {
            continue;
        };
        let levels = std::iter::successors(Some(for_each), |it| it.get("for_each"));
        let path = |it: &Value| {
            let first = it.get("first_of").and_then(|paths| paths.get(0));
            it.get("array").or_else(|| it.get("entries")).or(first).map(path_of).unwrap()
        };
        let full = levels.flat_map(path).collect();
        found.push((spot, full));
    }
    found
}

/// The path of an element written as if it started at the event.
pub(super) fn from_the_event(case: &Case, faults: &mut Vec<Fault>) {
    for (spot, array) in inside(case) {
        let Some(path) = spot.path().filter(|_| spot.value.get("from").is_none()) else { continue };
        let whole = [array.as_slice(), &path].concat();
        faults.push(super::at_path(case, &spot.at, &whole));
        let last = [&array[array.len() - 1..], &path].concat();
        faults.push(super::at_path(case, &spot.at, &last));
    }
}

pub(super) fn from_dropped(case: &Case, faults: &mut Vec<Fault>) {
    for at in having(case, "from").into_iter().filter(|at| is_value(case, at)) {
        faults.push(fault(&without(case, &at, "from"), &at, "from"));
    }
}

pub(super) fn from_added(case: &Case, faults: &mut Vec<Fault>) {
    for (spot, _) in inside(case) {
        if spot.path().is_some() && spot.value.get("from").is_none() {
            for from in ["event", "parent", "root", "element"] {
                faults.push(fault(
                    &having_also(case, &spot.at, "from", json!(from)),
                    &spot.at,
                    from,
                ));
            }
        }
    }
}

pub(super) fn another_from(case: &Case, faults: &mut Vec<Fault>) {
    for at in having(case, "from").into_iter().filter(|at| is_value(case, at)) {
        let written = case.plan.pointer(&at).unwrap()["from"].as_str().unwrap();
        for from in ["event", "parent", "root", "evnt"].into_iter().filter(|it| *it != written) {
            faults.push(fault(&having_also(case, &at, "from", json!(from)), &at, from));
        }
    }
}

/// Whether `from` is that of a path, and not that of an edge.
fn is_value(case: &Case, at: &str) -> bool {
    case.plan.pointer(at).unwrap().get("source_path").is_some()
}
