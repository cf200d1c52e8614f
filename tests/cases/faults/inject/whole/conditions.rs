//! Conditions.

use serde_json::{Value, json};

use super::super::{Fault, fault, with};
use super::{at_path, having, path_slips, renamed};
use crate::faults::case::{Case, path_of};

const TESTS: &[&str] = &["exists", "truthy", "equals", "one_of", "starts_with", "is_type"];

/// The tests of a plan: their pointers.
fn tests(case: &Case) -> Vec<String> {
    let is_test = |at: &String| {
        let fields = case.plan.pointer(at).unwrap();
        TESTS.iter().any(|test| fields.get(*test).is_some())
    };
    having(case, "source_path").into_iter().filter(is_test).collect()
}

pub(super) fn slip(case: &Case, faults: &mut Vec<Fault>) {
    for at in tests(case) {
        let path = path_of(&case.plan.pointer(&at).unwrap()["source_path"]);
        for other in path_slips(&path) {
            faults.push(at_path(case, &at, &other));
        }
    }
}

pub(super) fn form(case: &Case, faults: &mut Vec<Fault>) {
    for at in tests(case) {
        let condition = case.plan.pointer(&at).unwrap();
        let path = path_of(&condition["source_path"]);
        faults.push(fault(&renamed(case, &at, "source_path", "path"), &at, "path"));
        faults.push(fault(
            &with(case, &format!("{at}/source_path"), json!(path.join("."))),
            &at,
            "a dotted path",
        ));
        for (test, others) in [
            ("exists", ["is_present", "exist"]),
            ("truthy", ["is_truthy", "truthly"]),
            ("equals", ["eq", "equal"]),
            ("one_of", ["in", "oneOf"]),
            ("starts_with", ["startsWith", "prefix"]),
            ("is_type", ["type", "isType"]),
        ] {
            if condition.get(test).is_some() {
                for other in others {
                    faults.push(fault(&renamed(case, &at, test, other), &at, other));
                }
            }
        }
        if let Some(around) = at.strip_suffix("/not") {
            for test in ["exists", "truthy"] {
                if condition.get(test).is_some() {
                    let mut opposite = condition.clone();
                    opposite[test] = json!(false);
                    faults.push(fault(&with(case, around, opposite), around, "false for not"));
                }
            }
        }
        for test in ["exists", "truthy"] {
            if condition.get(test).is_some() {
                let wrong = with(case, &format!("{at}/{test}"), json!("true"));
                faults.push(fault(&wrong, &at, "a text for true"));
            }
        }
        if let Some([_, _, ..]) =
            condition.get("one_of").and_then(Value::as_array).map(Vec::as_slice)
        {
            let mut wrong = condition.clone();
            let list = wrong.as_object_mut().unwrap().remove("one_of").unwrap();
            wrong["equals"] = list;
            faults.push(fault(&with(case, &at, wrong), &at, "a list for equals"));
        }
    }
    for at in having(case, "when") {
        let place = format!("{at}/when");
        let condition = case.plan.pointer(&place).unwrap();
        faults.push(fault(&with(case, &place, json!([condition])), &place, "a list of conditions"));
        for name in ["condition", "if", "filter"] {
            faults.push(fault(&renamed(case, &at, "when", name), format!("{at}/{name}"), name));
        }
        if let Some(all) = condition.get("all") {
            faults.push(fault(&with(case, &place, all.clone()), &place, "a list for all"));
        }
    }
}
