//! Faults in plans of the whole language.

mod conditions;
mod edges;
mod elements;
mod events;
mod form;
mod keys;
pub(in crate::faults) mod levels;
mod meant;
mod paths;
mod values;

use serde_json::Value;

use super::{Fault, Kind, fault, with};
use crate::faults::case::Case;

pub(in crate::faults) const KINDS: &[Kind] = &[
    Kind { name: "conversion dropped", make: values::dropped },
    Kind { name: "another conversion", make: values::another },
    Kind { name: "unknown conversion", make: values::unknown },
    Kind { name: "conversion's form", make: values::form },
    Kind { name: "template's braces", make: values::braces },
    Kind { name: "slip in a template", make: values::template_slip },
    Kind { name: "slip in a coalesce", make: values::coalesce_slip },
    Kind { name: "default for coalesce", make: values::default_value },
    Kind { name: "for_each dropped", make: elements::dropped },
    Kind { name: "for_each elsewhere", make: elements::elsewhere },
    Kind { name: "for_each misspelt", make: elements::misspelt },
    Kind { name: "for_each's form", make: elements::form },
    Kind { name: "element from the event", make: elements::from_the_event },
    Kind { name: "from dropped", make: elements::from_dropped },
    Kind { name: "from added", make: elements::from_added },
    Kind { name: "another from", make: elements::another_from },
    Kind { name: "slip in an element", make: paths::in_element },
    Kind { name: "slip of a node's path", make: paths::in_node },
    Kind { name: "slip of an edge's path", make: paths::in_edge },
    Kind { name: "dotted path", make: paths::dotted },
    Kind { name: "slip of a condition", make: conditions::slip },
    Kind { name: "condition's form", make: conditions::form },
    Kind { name: "ends swapped", make: edges::swapped },
    Kind { name: "unknown node", make: edges::unknown_node },
    Kind { name: "another node", make: edges::another_node },
    Kind { name: "relationship misspelt", make: edges::misspelt },
    Kind { name: "another relationship", make: edges::another },
    Kind { name: "external entity", make: edges::external_entity },
    Kind { name: "external key", make: edges::external_key },
    Kind { name: "edge's form", make: edges::form },
    Kind { name: "child entity", make: keys::entity },
    Kind { name: "child property", make: keys::property },
    Kind { name: "key property", make: keys::key },
    Kind { name: "key's order", make: keys::order },
    Kind { name: "part of a key missing", make: keys::missing_part },
    Kind { name: "event types", make: events::types },
    Kind { name: "span rule", make: events::spans },
    Kind { name: "the other form", make: form::other_form },
    Kind { name: "field misspelt", make: form::misspelt },
    Kind { name: "field missing", make: form::missing },
    Kind { name: "field unknown", make: form::unknown },
];

/// What only somebody knows who knows what is meant: nothing speaks against either, where the types are right.
pub(in crate::faults) const MEANT: &[Kind] = &[
    Kind { name: "another path of the event", make: meant::another_path },
    Kind { name: "values swapped", make: meant::swapped },
];

/// What goes wrong in expressions.
pub(in crate::faults) const OF_EXPRESSIONS: &[Kind] = &[
    Kind { name: "slip in an expression", make: values::expression_slip },
    Kind { name: "key too many", make: values::expression_key_added },
    Kind { name: "key left out", make: values::expression_key_dropped },
];

/// A mapping of a plan.
struct Spot<'c> {
    at: String,
    value: &'c Value,
    /// What has it: a node, an edge, or the end of one.
    owner: String,
    is_key: bool,
}

impl Spot<'_> {
    fn name(&self) -> &str {
        self.value["property_name"].as_str().unwrap()
    }

    fn path(&self) -> Option<Vec<String>> {
        self.value.get("source_path").map(super::super::case::path_of)
    }
}

/// Every mapping, those of nodes first.
fn spots(case: &Case) -> Vec<Spot<'_>> {
    let mut spots = Vec::new();
    let mut owners = vec![String::new()];
    owners.extend(nodes(case));
    for edge in edges(case) {
        owners.extend([edge.clone(), format!("{edge}/from"), format!("{edge}/to")]);
    }
    for owner in owners {
        let fields = case.plan.pointer(&owner).unwrap();
        if let Some(key) = fields.get("key_field") {
            let at = format!("{owner}/key_field");
            spots.push(Spot { at, value: key, owner: owner.clone(), is_key: true });
        }
        for (list, is_key) in [("key_fields", true), ("property_fields", false)] {
            for (i, value) in
                fields.get(list).and_then(Value::as_array).into_iter().flatten().enumerate()
            {
                let at = format!("{owner}/{list}/{i}");
                spots.push(Spot { at, value, owner: owner.clone(), is_key });
            }
        }
    }
    spots
}

fn nodes(case: &Case) -> Vec<String> {
    places(case, "nodes")
}

fn edges(case: &Case) -> Vec<String> {
    places(case, "edges")
}

fn places(case: &Case, list: &str) -> Vec<String> {
    let count = case.plan.get(list).and_then(Value::as_array).map_or(0, Vec::len);
    (0..count).map(|i| format!("/{list}/{i}")).collect()
}

/// The pointers of all objects that have a field, anywhere in the plan.
fn having(case: &Case, field: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = vec![(String::new(), &case.plan)];
    while let Some((at, value)) = rest.pop() {
        match value {
            Value::Object(fields) => {
                if fields.contains_key(field) {
                    found.push(at.clone());
                }
                rest.extend(fields.iter().map(|(name, it)| (format!("{at}/{name}"), it)));
            }
            Value::Array(items) => {
                rest.extend(items.iter().enumerate().map(|(i, it)| (format!("{at}/{i}"), it)));
            }
            _ => {}
        }
    }
    found.sort();
    found
}

/// The plan with a field of an object taken away.
fn without(case: &Case, at: &str, field: &str) -> Value {
    let mut plan = case.plan.clone();
    plan.pointer_mut(at).unwrap().as_object_mut().unwrap().remove(field);
    plan
}

/// The plan with a field of an object added or replaced.
fn having_also(case: &Case, at: &str, field: &str, value: Value) -> Value {
    let mut plan = case.plan.clone();
    plan.pointer_mut(at).unwrap()[field] = value;
    plan
}

/// The plan with a field under another name.
fn renamed(case: &Case, at: &str, field: &str, other: &str) -> Value {
    let mut plan = case.plan.clone();
    let fields = plan.pointer_mut(at).unwrap().as_object_mut().unwrap();
    let value = fields.remove(field).unwrap();
    fields.insert(other.to_owned(), value);
    plan
}

/// Names with a slip: letters exchanged, one left out, in other letters, without a part.
fn slips(name: &str) -> Vec<String> {
    let middle = name.len() / 2;
    let cut = name.is_char_boundary(middle) && name.is_char_boundary(middle + 1) && name.len() > 2;
    let left_out = cut.then(|| format!("{}{}", &name[..middle], &name[middle + 1..]));
    let all = [
        Some(super::exchanged(name)),
        left_out,
        Some(super::camel(name)),
        Some(format!("{name}s")),
    ];
    let mut slips: Vec<String> =
        all.into_iter().flatten().filter(|it| it != name && !it.is_empty()).collect();
    slips.dedup();
    slips
}

/// Paths with a slip: one segment misspelt, left out, or too many.
fn path_slips(path: &[String]) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for (i, segment) in path.iter().enumerate() {
        for slip in slips(segment) {
            let mut other = path.to_vec();
            other[i] = slip;
            all.push(other);
        }
        if path.len() > 1 {
            all.push([&path[..i], &path[i + 1..]].concat());
        }
    }
    let last = path.len();
    all.push([path, &["value".to_owned()]].concat());
    all.push(
        [&path[..last.saturating_sub(1)], &["data".to_owned()], &path[last.saturating_sub(1)..]]
            .concat(),
    );
    all
}

/// A fault at the source of a mapping or condition.
fn at_path(case: &Case, at: &str, path: &[String]) -> Fault {
    let place = format!("{at}/source_path");
    fault(&with(case, &place, serde_json::json!(path)), at, path.join("."))
}
