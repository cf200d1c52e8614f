//! Values: conversions, templates and choices.

use serde_json::{Value, json};

use super::super::{Fault, fault, with};
use super::{having, having_also, renamed, slips, without};
use crate::faults::case::{Case, path_of};

/// Each chain of conversions: the pointer of what has it, and its steps.
fn chains(case: &Case) -> Vec<(String, &Vec<Value>)> {
    let chain = |at: String| {
        let steps = case.plan.pointer(&at).unwrap()["convert"].as_array().unwrap();
        (at, steps)
    };
    having(case, "convert").into_iter().map(chain).collect()
}

pub(super) fn dropped(case: &Case, faults: &mut Vec<Fault>) {
    for (at, steps) in chains(case) {
        if let [only] = steps.as_slice() {
            let mut plan = without(case, &at, "convert");
            plan.pointer_mut(&at).unwrap().as_object_mut().unwrap().remove("on_error");
            faults.push(fault(&plan, &at, only.to_string()));
            continue;
        }
        for (i, step) in steps.iter().enumerate() {
            let mut rest = steps.clone();
            rest.remove(i);
            let plan = with(case, &format!("{at}/convert"), json!(rest));
            faults.push(fault(&plan, &at, step.to_string()));
        }
    }
}

pub(super) fn another(case: &Case, faults: &mut Vec<Fault>) {
    for (at, steps) in chains(case) {
        for (i, step) in steps.iter().enumerate() {
            for other in ["to_int64", "to_boolean", "timestamp", "date", "lower"] {
                if step != other {
                    let place = format!("{at}/convert/{i}");
                    faults.push(fault(
                        &with(case, &place, json!(other)),
                        &at,
                        format!("{other} for {step}"),
                    ));
                }
            }
        }
    }
}

/// What others call a conversion.
fn other_names(step: &str) -> &'static [&'static str] {
    match step {
        "to_string" => &["string", "str", "tostring", "as_text"],
        "to_int64" => &["int", "to_int", "int64", "integer"],
        "to_double" => &["float", "to_float", "double", "decimal"],
        "to_boolean" => &["bool", "to_bool", "boolean"],
        "to_json_text" => &["json", "stringify", "to_json", "json_string"],
        "timestamp" => &["to_timestamp", "datetime", "iso8601", "timestmap", "parse_timestamp"],
        "date" => &["to_date", "iso_date"],
        "lower" => &["lowercase", "to_lower", "toLowerCase", "lowr"],
        "upper" => &["uppercase", "to_upper", "UPPER"],
        "trim" => &["strip", "trimmed"],
        "length" => &["len", "size", "count"],
        _ => &[],
    }
}

pub(super) fn unknown(case: &Case, faults: &mut Vec<Fault>) {
    for (at, steps) in chains(case) {
        for (i, step) in steps.iter().enumerate() {
            let place = format!("{at}/convert/{i}");
            for other in other_names(step.as_str().unwrap_or_default()) {
                faults.push(fault(&with(case, &place, json!(other)), &place, *other));
            }
            let Some((name, arguments)) = step.as_object().and_then(|it| it.iter().next()) else {
                continue;
            };
            for slip in slips(name) {
                faults.push(fault(
                    &with(case, &place, json!({slip: arguments})),
                    &place,
                    "a slip of a name",
                ));
            }
        }
    }
}

pub(super) fn form(case: &Case, faults: &mut Vec<Fault>) {
    for (at, steps) in chains(case) {
        let place = format!("{at}/convert");
        if let [only] = steps.as_slice() {
            faults.push(fault(&with(case, &place, only.clone()), &place, "a step for a list"));
        }
        for (i, step) in steps.iter().enumerate() {
            let place = format!("{place}/{i}");
            let forms = match step {
                Value::String(name) => {
                    vec![json!({name: {}}), json!({"name": name}), json!(format!("{name}()"))]
                }
                step => other_forms(step),
            };
            for form in forms {
                faults.push(fault(&with(case, &place, form.clone()), &place, form.to_string()));
            }
        }
    }
}

/// A conversion with arguments in the forms that others would take.
fn other_forms(step: &Value) -> Vec<Value> {
    if let Some(split) = step.get("split") {
        let (separator, index) = (&split["separator"], &split["index"]);
        return vec![
            json!({"split": [separator, index]}),
            json!({"name": "split", "separator": separator, "index": index}),
            json!({"split": {"sep": separator, "index": index}}),
        ];
    }
    if let Some(regex) = step.get("regex").filter(|it| it.get("group").is_none()) {
        return vec![
            json!({"regex": regex["pattern"]}),
            json!({"type": "regex", "pattern": regex["pattern"]}),
        ];
    }
    let Some(path) = step.get("parse_json").map(path_of) else { return Vec::new() };
    let mut forms = vec![json!({"parse_json": {"path": path}})];
    forms.push(if path.is_empty() {
        json!("parse_json")
    } else {
        json!({"parse_json": path.join(".")})
    });
    forms
}

/// Each template with its pointer.
fn templates(case: &Case) -> Vec<(String, &str)> {
    let fields = ["template", "edge_id"].into_iter();
    let places = fields
        .flat_map(|field| having(case, field).into_iter().map(move |at| format!("{at}/{field}")));
    places
        .map(|at| {
            let text = case.plan.pointer(&at).unwrap().as_str().unwrap();
            (at, text)
        })
        .collect()
}

pub(super) fn braces(case: &Case, faults: &mut Vec<Fault>) {
    for (at, text) in templates(case) {
        for (i, _) in text.match_indices(['{', '}']) {
            let (before, behind) = text.split_at(i);
            let left_out = format!("{before}{}", &behind[1..]);
            faults.push(fault(&with(case, &at, json!(left_out)), &at, &left_out));
            let doubled = format!("{before}{}{behind}", &behind[..1]);
            faults.push(fault(&with(case, &at, json!(doubled)), &at, &doubled));
        }
    }
}

pub(super) fn template_slip(case: &Case, faults: &mut Vec<Fault>) {
    for (at, text) in templates(case) {
        for (open, _) in text.match_indices('{') {
            let Some(length) = text[open..].find('}') else { continue };
            let path = &text[open + 1..open + length];
            for (from, segment) in segments(path) {
                for slip in slips(segment) {
                    let start = open + 1 + from;
                    let other =
                        format!("{}{slip}{}", &text[..start], &text[start + segment.len()..]);
                    faults.push(fault(&with(case, &at, json!(other)), &at, &other));
                }
            }
            let other = format!("{}{{event.{path}{}", &text[..open], &text[open + length..]);
            faults.push(fault(&with(case, &at, json!(other)), &at, &other));
        }
    }
}

/// The plain keys of a path of a template, with where they begin.
fn segments(path: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut from = 0;
    for segment in path.split('.') {
        if segment.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !segment.is_empty() {
            found.push((from, segment));
        }
        from += segment.len() + 1;
    }
    found
}

/// Each expression with its pointer.
fn expressions(case: &Case) -> Vec<(String, &str)> {
    let places = having(case, "expression").into_iter().map(|at| format!("{at}/expression"));
    places.map(|at| (at.clone(), case.plan.pointer(&at).unwrap().as_str().unwrap())).collect()
}

/// An expression with something else in the place of each key.
fn expression_with(
    case: &Case,
    faults: &mut Vec<Fault>,
    others: impl Fn(&str, &str) -> Vec<String>,
) {
    for (at, text) in expressions(case) {
        for (start, key) in segments(text) {
            for other in others(text, key) {
                let other = format!("{}{other}{}", &text[..start], &text[start + key.len()..]);
                let other = other.trim_matches('.').replace("..", ".");
                faults.push(fault(&with(case, &at, json!(other)), &at, &other));
            }
        }
    }
}

pub(super) fn expression_slip(case: &Case, faults: &mut Vec<Fault>) {
    expression_with(case, faults, |_, key| slips(key));
}

pub(super) fn expression_key_added(case: &Case, faults: &mut Vec<Fault>) {
    expression_with(case, faults, |_, key| vec![format!("event.{key}")]);
}

pub(super) fn expression_key_dropped(case: &Case, faults: &mut Vec<Fault>) {
    let is_chain = |text: &str| text.contains('.');
    expression_with(
        case,
        faults,
        |text, _| {
            if is_chain(text) { vec![String::new()] } else { Vec::new() }
        },
    );
}

pub(super) fn coalesce_slip(case: &Case, faults: &mut Vec<Fault>) {
    for at in having(case, "coalesce") {
        let values = case.plan.pointer(&at).unwrap()["coalesce"].as_array().unwrap();
        for (i, value) in values.iter().enumerate() {
            let Some(path) = value.get("source_path").map(path_of) else { continue };
            let at = format!("{at}/coalesce/{i}");
            for other in super::path_slips(&path) {
                faults.push(super::at_path(case, &at, &other));
            }
        }
    }
}

/// A `default` beside a path for a `coalesce` of the two.
pub(super) fn default_value(case: &Case, faults: &mut Vec<Fault>) {
    for at in having(case, "coalesce") {
        let mapping = case.plan.pointer(&at).unwrap();
        let [value, last] = mapping["coalesce"].as_array().unwrap().as_slice() else { continue };
        if mapping.get("convert").is_some() || value.get("source_path").is_none() {
            continue;
        }
        let Some(constant) =
            last.get("constant").filter(|_| mapping.get("property_name").is_some())
        else {
            continue;
        };
        for name in ["default", "fallback"] {
            let mut other = value.clone();
            other["property_name"] = mapping["property_name"].clone();
            other[name] = constant.clone();
            faults.push(fault(&with(case, &at, other), &at, name));
        }
        faults.push(fault(&renamed(case, &at, "coalesce", "first_of"), &at, "another word"));
        let values = json!({"coalesce": null});
        faults.push(fault(
            &having_also(case, &at, "constant", Value::Null),
            &at,
            values.to_string(),
        ));
    }
}
