//! What holds for every field policy. What some find is in `cases/policy.rs`.

mod given;

use std::fs;

use proptest::prelude::*;
use retort::diagnostics::Stage;
use retort::gate::FieldPolicy;
use retort::{Coded, plan};
use serde::Deserialize;
use serde_json::{Value, json};

use self::given::{evidence, policy, section};
use crate::support::{rendered, workspace_root};

#[test]
fn what_is_no_policy_is_refused() {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Refused {
        text: String,
        #[serde(default)]
        origin: String,
        code: String,
        path: Option<String>,
    }
    let text = fs::read_to_string(workspace_root().join("tests/policy/refused.yaml")).unwrap();
    let cases: Vec<Refused> = serde_saphyr::from_str(&text).unwrap();
    for case in cases {
        let error = FieldPolicy::parse(&case.text, &case.origin).expect_err(&case.text);
        assert_eq!(error.code(), case.code, "{}: {error}", case.text);
        let problem = error.problem();
        assert_eq!(problem.stage, Stage::Policy);
        if case.path.is_some() {
            assert_eq!(problem.path, case.path, "{}: {error}", case.text);
        }
    }
    let long = format!("deny: [{}]", "a, ".repeat(400_000));
    assert_eq!(FieldPolicy::parse(&long, "").unwrap_err().code(), "policy_too_large");
}

#[test]
fn an_empty_policy_is_the_default() {
    assert_eq!(FieldPolicy::parse("{}", "").unwrap(), FieldPolicy::default());
}

#[test]
fn ten_refusals_are_told_and_the_rest_counted() {
    let fields: Vec<Value> = (0..15)
        .map(|index| json!({"property_name": format!("p{index}"), "source_path": ["user", "x".repeat(500)]}))
        .collect();
    let plan = plan::from_value(
        &json!({"event_type": "e", "target_entity_name": "E", "function_name": "f",
        "key_field": {"property_name": "k", "source_path": ["id"]}, "property_fields": fields}),
    )
    .unwrap();
    let denied = policy(&json!({"deny": [{"path": "user", "reason": "y".repeat(500)}]}));
    let denied = denied.check_plan(&plan).unwrap_err();
    assert_eq!(denied.findings().len(), 15);
    let text = denied.diagnostic();
    assert!(text.starts_with(
        "Field policy failed (15 issues):\n  /property_fields/0/source_path: path_denied: "
    ));
    assert!(text.ends_with("\n  ... and 5 more (truncated)"), "{text}");
    assert!(text.chars().count() < 10 * 600, "{}", text.chars().count());
}

fn key() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c"]).prop_map(str::to_owned)
}

fn pattern() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(prop_oneof![3 => key(), 1 => Just("*".to_owned())], 1..4)
}

/// An event in which every path over three keys, down to three levels, is there.
fn full_event() -> Value {
    let level = |inner: Value| json!({"a": inner, "b": inner, "c": inner});
    level(level(level(json!("leaf"))))
}

/// Takes what a pattern denies out of a value.
fn without(value: &mut Value, pattern: &[String]) {
    let Value::Object(fields) = value else { return };
    let [key, rest @ ..] = pattern else { return };
    if rest.is_empty() {
        fields.retain(|name, _| key != "*" && name != key);
    } else {
        let inner = fields.iter_mut().filter(|(name, _)| key == "*" || *name == key);
        inner.for_each(|(_, value)| without(value, rest));
    }
}

proptest! {
    /// What denying means, said another way: a path may be read if its value is the same without what is denied.
    #[test]
    fn a_path_may_be_read_if_nothing_of_it_is_denied(
        patterns in prop::collection::vec(pattern(), 1..3),
        path in prop::collection::vec(key(), 1..4),
    ) {
        let policy = policy(&json!({"deny": patterns}));
        let full = full_event();
        let mut left = full.clone();
        patterns.iter().for_each(|pattern| without(&mut left, pattern));
        let pointer = format!("/{}", path.join("/"));
        let untouched = full.pointer(&pointer) == left.pointer(&pointer);
        let section = section(&json!([{"path": path}]), None);
        prop_assert_eq!(policy.check_section(&section).is_ok(), untouched);
        prop_assert_eq!(policy.denies(&path), left.pointer(&pointer).is_none());
    }

    /// Where objects are known to be, a plan and the module that is rendered from it are judged alike.
    #[test]
    fn a_rendered_module_may_read_what_its_plan_may(
        deny in prop::collection::vec(pattern(), 0..3),
        explicit in prop::collection::vec(pattern(), 0..3),
        paths in prop::collection::vec(prop::collection::vec(key(), 1..4), 4),
    ) {
        let policy = policy(&json!({"deny": deny, "explicit": explicit}));
        let plan = plan::from_value(&json!({"event_type": "e", "target_entity_name": "E", "function_name": "f",
            "key_field": {"property_name": "k", "source_path": paths[0]}, "session_id_path": paths[1],
            "property_fields": [{"property_name": "p", "source_path": paths[2]}],
            "span_handling": {"span_id_path": paths[0], "partial_when_path": paths[3]}})).unwrap();
        let module = rendered(&plan);
        let of_module = policy.check_section(module.section());
        let mut event = full_event();
        event["event_type"] = json!("e");
        let of_plan = policy.check_plan_knowing(&plan, &evidence(&[event], None));
        prop_assert_eq!(of_plan.is_ok(), of_module.is_ok());
        prop_assert!(policy.check_plan(&plan).is_ok() || of_plan.is_err());
    }
}
