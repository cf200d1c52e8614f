//! Paths that lead elsewhere.

use serde_json::json;

use super::{DEFAULT, EXISTS, Fault, camel, exchanged, fault, text, with};
use crate::faults::case::{Case, path_of};

/// All paths of a plan: pointer, property (none for session and span) and path.
fn all_paths(case: &Case) -> Vec<(String, Option<String>, Vec<String>)> {
    let mut paths: Vec<_> = case
        .mappings()
        .into_iter()
        .map(|(at, it)| {
            (
                format!("{at}/source_path"),
                Some(text(&it["property_name"]).to_owned()),
                path_of(&it["source_path"]),
            )
        })
        .collect();
    for at in
        ["/session_id_path", "/span_handling/span_id_path", "/span_handling/partial_when_path"]
    {
        if let Some(path) = case.plan.pointer(at).filter(|it| it.is_array()) {
            paths.push((at.to_owned(), None, path_of(path)));
        }
    }
    paths
}

/// Another path at a place. No gate can know that it is wrong where it exists and holds values of the right type; a
/// session or span may be any scalar, and what decides about partial handling may be anything.
fn repath(case: &Case, at: &str, property: Option<&str>, path: &[String]) -> Fault {
    let right = match property {
        Some(name) => {
            case.is_valid(name, path) && (at != "/key_field/source_path" || case.has_scalar(path))
        }
        None => at.ends_with("partial_when_path") || case.has_scalar(path),
    };
    let mut fault = fault(&with(case, at, json!(path)), at, path.join("."));
    fault.unknowable = (case.exists(path) && right).then_some(EXISTS);
    let default = match at {
        "/session_id_path" => Some("session_id"),
        "/span_handling/span_id_path" => Some("span_id"),
        _ => None,
    };
    if default.is_some_and(|default| path == [default]) {
        fault.unknowable = Some(DEFAULT);
    }
    fault
}

/// Every path altered in some ways.
fn alter(case: &Case, faults: &mut Vec<Fault>, altered: impl Fn(&[String]) -> Vec<Vec<String>>) {
    for (at, property, path) in all_paths(case) {
        for other in altered(&path).into_iter().filter(|it| *it != path && !it.is_empty()) {
            faults.push(repath(case, &at, property.as_deref(), &other));
        }
    }
}

/// One segment in other letters.
fn each_segment(path: &[String], change: impl Fn(&str) -> String) -> Vec<Vec<String>> {
    let changed = |i: usize| {
        let mut path = path.to_vec();
        path[i] = change(&path[i]);
        path
    };
    (0..path.len()).map(changed).collect()
}

pub(super) fn typo(case: &Case, faults: &mut Vec<Fault>) {
    // Two letters exchanged, one left out, one doubled.
    alter(case, faults, |path| each_segment(path, exchanged));
    alter(case, faults, |path| {
        each_segment(path, |it| {
            let middle = it.len() / 2;
            format!("{}{}", &it[..middle], &it[middle + 1..])
        })
    });
    alter(case, faults, |path| {
        each_segment(path, |it| format!("{}{}", &it[..2.min(it.len())], &it[1.min(it.len())..]))
    });
    faults.retain(|it| !it.what.split('.').any(str::is_empty));
}

pub(super) fn missing_segment(case: &Case, faults: &mut Vec<Fault>) {
    alter(case, faults, |path| {
        let without = |i: usize| [&path[..i], &path[i + 1..]].concat();
        (0..path.len()).map(without).collect()
    });
}

pub(super) fn extra_segment(case: &Case, faults: &mut Vec<Fault>) {
    alter(case, faults, |path| {
        let with = |(i, word): (usize, &str)| [&path[..i], &[word.to_owned()], &path[i..]].concat();
        let last = path.len();
        [(0, "event"), (0, "payload"), (last - 1, "attributes"), (last, "value")].map(with).into()
    });
}

pub(super) fn letter_case(case: &Case, faults: &mut Vec<Fault>) {
    alter(case, faults, |path| each_segment(path, camel));
    alter(case, faults, |path| vec![path.iter().map(|it| it.to_uppercase()).collect()]);
    alter(case, faults, |path| each_segment(path, |it| it[..1].to_uppercase() + &it[1..]));
}

pub(super) fn dotted_path(case: &Case, faults: &mut Vec<Fault>) {
    for (at, _, path) in all_paths(case) {
        let joined = path.join(".");
        let forms = [
            json!(joined),
            json!([joined]),
            json!(format!("$.{joined}")),
            json!(format!("/{}", path.join("/"))),
        ];
        for form in forms.into_iter().filter(|form| *form != json!(path)) {
            faults.push(fault(&with(case, &at, form.clone()), &at, form.to_string()));
        }
    }
}

pub(super) fn invented_path(case: &Case, faults: &mut Vec<Fault>) {
    for (at, it) in case.mappings() {
        let name = text(&it["property_name"]);
        for path in [
            vec!["payload", name],
            vec!["details", "fields", name],
            vec!["data", "attributes", "value_1"],
        ] {
            let path: Vec<String> = path.into_iter().map(str::to_owned).collect();
            faults.push(repath(case, &format!("{at}/source_path"), Some(name), &path));
        }
    }
}

pub(super) fn other_type(case: &Case, faults: &mut Vec<Fault>) {
    for (at, it) in case.mappings() {
        let name = text(&it["property_name"]);
        let others = all_paths(case).into_iter().map(|(_, _, path)| path);
        let wrong = others.filter(|path| case.has_scalar(path) && !case.is_valid(name, path));
        let objects = path_of(&it["source_path"]);
        let parent = objects.split_last().map(|(_, it)| it.to_vec()).filter(|it| !it.is_empty());
        for path in wrong.take(3).chain(parent) {
            faults.push(repath(case, &format!("{at}/source_path"), Some(name), &path));
        }
    }
}

pub(super) fn session(case: &Case, faults: &mut Vec<Fault>) {
    let others: [&[&str]; 7] = [
        &["sessionId"],
        &["session"],
        &["content", "session_id"],
        &["context", "session", "id"],
        &["conversation_id"],
        &["content"],
        &["span_id"],
    ];
    role(case, faults, "/session_id_path", &others);
}

pub(super) fn span(case: &Case, faults: &mut Vec<Fault>) {
    let others: [&[&str]; 6] = [
        &["spanId"],
        &["span"],
        &["content", "span_id"],
        &["trace", "span", "id"],
        &["content"],
        &["session_id"],
    ];
    role(case, faults, "/span_handling/span_id_path", &others);
}

fn role(case: &Case, faults: &mut Vec<Fault>, at: &str, others: &[&[&str]]) {
    let Some(right) = case.plan.pointer(at) else { return };
    for other in others {
        let path: Vec<String> = other.iter().map(|it| (*it).to_owned()).collect();
        if json!(path) != *right {
            faults.push(repath(case, at, None, &path));
        }
    }
}
