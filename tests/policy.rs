//! Field policies: `policy/*.json` are policies with a plan, or with the inputs of a module, and what is found.

use std::fs;

use proptest::prelude::*;
use retort::abi::section::Section;
use retort::gate::smoke::Samples;
use retort::plan;
use retort::policy::{Denied, FieldPolicy};
use retort::problem::{Coded, Stage};
use retort::task::EventSchema;
use retort::task::evidence::Evidence;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{rendered, workspace_root};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    policy: Value,
    plan: Option<Value>,
    /// What is known of events.
    samples: Option<Vec<Value>>,
    schema: Option<Value>,
    inputs: Option<Value>,
    rows: Option<Value>,
    findings: Vec<Found>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Found {
    code: String,
    pointer: String,
    expected: String,
    observed: String,
    patch: Option<Value>,
    certain: bool,
}

fn found(denied: Result<(), Denied>) -> Vec<Found> {
    let Err(denied) = denied else { return Vec::new() };
    assert_eq!(denied.code(), denied.findings()[0].code);
    assert!(Denied::CODES.contains(&denied.code()));
    let found = |finding: &retort::finding::Finding| {
        assert_eq!(finding.gate, Stage::Policy);
        Found {
            code: finding.code.to_owned(),
            pointer: finding.pointer.clone(),
            expected: finding.expected.clone(),
            observed: finding.observed.clone(),
            patch: finding.patch.as_ref().map(|patch| serde_json::to_value(patch).unwrap()),
            certain: finding.certain,
        }
    };
    denied.findings().iter().map(found).collect()
}

fn cases() -> Vec<(String, Case)> {
    let mut paths: Vec<_> = fs::read_dir(workspace_root().join("tests/policy"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    paths.sort();
    let read = |path: std::path::PathBuf| {
        let case = serde_json::from_str(&fs::read_to_string(&path).unwrap());
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let case = case.unwrap_or_else(|error| panic!("{name}: {error}"));
        (name, case)
    };
    paths.into_iter().map(read).collect()
}

fn evidence(samples: &[Value], schema: Option<Value>) -> Evidence {
    let lines: Vec<String> = samples.iter().map(Value::to_string).collect();
    let samples = Samples::parse(&lines.join("\n"), "samples").unwrap();
    let schema = schema.map(|schema| EventSchema::from_value(schema).unwrap());
    Evidence::new(&samples, schema.as_ref())
}

fn section(inputs: &Value, rows: Option<&Value>) -> Section {
    let mut section = json!({"abi": 1, "function": "f", "event_types": ["e"], "inputs": inputs});
    if let Some(rows) = rows {
        section["rows"] = rows.clone();
    }
    Section::parse(section.to_string().as_bytes()).unwrap()
}

fn policy(value: &Value) -> FieldPolicy {
    FieldPolicy::parse(&value.to_string(), "policy.json").unwrap()
}

#[test]
fn plans_and_modules_are_held_to_their_policy() {
    let cases = cases();
    assert!(cases.len() >= 10);
    for (name, case) in cases {
        let policy = policy(&case.policy);
        if let Some(plan) = case.plan {
            let plan = plan::from_value(&plan).unwrap();
            let checked = match &case.samples {
                Some(samples) => policy.check_plan_knowing(&plan, &evidence(samples, case.schema)),
                None => policy.check_plan(&plan),
            };
            if let Err(denied) = &checked {
                let shown = denied.diagnostic();
                assert!(
                    case.findings.iter().all(|found| shown.contains(&found.observed)),
                    "{shown}"
                );
                assert!(shown.lines().count() <= 1 + 2 * case.findings.len(), "{shown}");
            }
            assert_eq!(found(checked), case.findings, "{name}");
        } else {
            let inputs = case.inputs.unwrap_or_else(|| panic!("{name}: neither plan nor inputs"));
            let section = section(&inputs, case.rows.as_ref());
            assert_eq!(found(policy.check_section(&section)), case.findings, "{name}");
        }
    }
}

#[test]
fn a_policy_survives_being_written_and_read() {
    for (name, case) in cases() {
        let policy = policy(&case.policy);
        let written = serde_json::to_string(&policy).unwrap();
        assert_eq!(FieldPolicy::parse(&written, "").unwrap(), policy, "{name}");
        assert_eq!(FieldPolicy::parse(&written, "as.yaml").unwrap(), policy, "{name}");
    }
}

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
