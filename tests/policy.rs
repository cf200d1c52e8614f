//! Field policies: `policy/*.json` are policies with a plan, or with the inputs of a module, and what is found.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use retort::abi::block::{BlockWriter, HEADER_BYTES, SLOT_BYTES, SlotKind};
use retort::abi::event::{Projection, Projector};
use retort::abi::section::Section;
use retort::bundle::smoke::Samples;
use retort::diagnostics::problem::{Coded, Stage};
use retort::evidence::EventSchema;
use retort::evidence::Evidence;
use retort::gate::policy::{Denied, FieldPolicy};
use retort::graph::extraction::Extraction;
use retort::plan::{self, Plan};
use retort::sandbox::Limits;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{rendered, sandbox, workspace_root};

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
    assert_eq!(denied.entry().stage, Stage::Policy);
    let found = |finding: &retort::diagnostics::finding::Finding| {
        assert_eq!(finding.gate, Stage::Policy);
        Found {
            code: finding.code.to_string(),
            pointer: finding.pointer.clone(),
            expected: finding.expected.clone(),
            observed: finding.observed.clone(),
            patch: finding.patch().map(|patch| serde_json::to_value(patch).unwrap()),
            certain: finding.is_certain(),
        }
    };
    denied.findings().iter().map(found).collect()
}

/// The JSON files of a folder, by name.
fn case_files(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(workspace_root().join(folder)).unwrap();
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    paths.sort();
    paths
}

fn cases() -> Vec<(String, Case)> {
    let read = |path: std::path::PathBuf| {
        let case = serde_json::from_str(&fs::read_to_string(&path).unwrap());
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let case = case.unwrap_or_else(|error| panic!("{name}: {error}"));
        (name, case)
    };
    case_files("tests/policy").into_iter().map(read).collect()
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WithheldCase {
    policy: Value,
    plan: Option<Value>,
    inputs: Option<Value>,
    events: Vec<WithheldEvent>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WithheldEvent {
    event: Value,
    /// The properties of each node that the plan makes of it.
    nodes: Option<Vec<Value>>,
    /// The kinds of the slots that a module gets.
    kinds: Option<Vec<u32>>,
}

/// `policy/withheld/*.json` are policies with a plan that they permit, or with the inputs of a module, and events of which
/// something is withheld.
#[test]
fn what_samples_did_not_show_is_withheld() {
    let paths = case_files("tests/policy/withheld");
    assert!(paths.len() >= 8);
    for path in paths {
        let name = path.display();
        let case: WithheldCase = serde_json::from_str(&fs::read_to_string(&path).unwrap())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let policy = policy(&case.policy);
        match (case.plan, case.inputs) {
            (Some(plan), _) => {
                let plan = plan::from_value(&plan).unwrap();
                policy.check_plan(&plan).unwrap_or_else(|denied| panic!("{name}: {denied}"));
                for (event, nodes) in case.events.iter().map(|it| (&it.event, &it.nodes)) {
                    let found = properties(&policy, &plan, event);
                    assert_eq!(Some(&found), nodes.as_ref(), "{name}: {event}");
                }
            }
            (None, inputs) => {
                let section = section(&inputs.unwrap(), None);
                for (event, kinds) in case.events.iter().map(|it| (&it.event, &it.kinds)) {
                    let found = kinds_of(&policy, &section, event);
                    assert_eq!(Some(&found), kinds.as_ref(), "{name}: {event}");
                }
            }
        }
    }
}

/// The properties of each node that a plan makes of an event under a policy.
fn properties(policy: &FieldPolicy, plan: &Plan, event: &Value) -> Vec<Value> {
    let module = rendered(plan);
    let withheld = policy.withheld(module.section());
    let extractor = sandbox(Limits::default()).load(&module).unwrap();
    let mut runner = extractor.withholding(withheld).runner();
    let outcome = runner.run(event.to_string().as_bytes()).unwrap();
    let found: Extraction = serde_json::from_slice(outcome.json).unwrap();
    let properties = |node: &retort::graph::extraction::Node| -> Value {
        node.properties.iter().map(|it| (it.name.clone(), it.value.clone())).collect()
    };
    found.nodes.iter().map(properties).collect()
}

/// The kinds of the slots that a module with this section gets of an event under a policy.
fn kinds_of(policy: &FieldPolicy, section: &Section, event: &Value) -> Vec<u32> {
    let (withheld, text) = (policy.withheld(section).unwrap(), event.to_string());
    let projector = Projector::withholding(section, &["event_type".to_owned()], withheld);
    let (mut projection, mut writer) = (Projection::default(), BlockWriter::default());
    projector.project(text.as_bytes(), &mut projection).unwrap();
    let block = writer.write(&projector, text.as_bytes(), &projection, usize::MAX).unwrap();
    let slots = block[HEADER_BYTES..].chunks_exact(SLOT_BYTES).take(section.inputs().len());
    let kinds = slots.map(|slot| {
        let [kind, offset, length] =
            [0, 4, 8].map(|at| u32::from_le_bytes(slot[at..at + 4].try_into().unwrap()));
        let has_text = ![SlotKind::Absent as u32, SlotKind::Denied as u32].contains(&kind);
        assert_eq!((offset > 0, length > 0), (has_text, has_text), "{event}");
        kind
    });
    kinds.collect()
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
