//! Event types and spans.

use serde_json::{Value, json};

use super::super::{Fault, fault, with};
use super::{path_slips, slips};
use crate::faults::case::{Case, path_of};

pub(super) fn types(case: &Case, faults: &mut Vec<Fault>) {
    let written = &case.plan["event_type"];
    let places: Vec<(String, &str)> = match written {
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(i, it)| (format!("/event_type/{i}"), it.as_str().unwrap()))
            .collect(),
        one => vec![("/event_type".to_owned(), one.as_str().unwrap())],
    };
    for (at, text) in places {
        let (name, suffix) = text.strip_suffix(".*").map_or((text, ""), |name| (name, ".*"));
        let mut others: Vec<String> = slips(name).into_iter().map(|it| it + suffix).collect();
        others.push(name.to_uppercase() + suffix);
        if suffix.is_empty() {
            others.push(name.replace('.', "_"));
        } else {
            others.extend([
                name.to_owned(),
                format!("{name}*"),
                format!("{name}."),
                format!("{name}_*"),
            ]);
        }
        for other in others.into_iter().filter(|it| it != text) {
            faults.push(fault(&with(case, &at, json!(other)), "/event_type", other));
        }
    }
    let list = written.as_array().map_or(&[][..], Vec::as_slice);
    if let Some(first) = list.first() {
        let twice: Vec<&Value> = list.iter().chain([first]).collect();
        faults.push(fault(&with(case, "/event_type", json!(twice)), "/event_type", "a type twice"));
    }
}

pub(super) fn spans(case: &Case, faults: &mut Vec<Fault>) {
    let rules: Vec<String> = match &case.plan["span_handling"] {
        Value::Array(items) => (0..items.len()).map(|i| format!("/span_handling/{i}")).collect(),
        Value::Object(_) => vec!["/span_handling".to_owned()],
        _ => return,
    };
    for at in rules {
        for field in ["span_id_path", "partial_when_path"] {
            let place = format!("{at}/{field}");
            let Some(path) = case.plan.pointer(&place).filter(|it| it.is_array()).map(path_of)
            else {
                continue;
            };
            for other in path_slips(&path) {
                faults.push(fault(&with(case, &place, json!(other)), &place, other.join(".")));
            }
            faults.push(fault(&with(case, &place, json!(path.join("."))), &place, "a dotted path"));
            for slip in slips(field) {
                faults.push(fault(
                    &super::renamed(case, &at, field, &slip),
                    format!("{at}/{slip}"),
                    slip,
                ));
            }
        }
    }
}
