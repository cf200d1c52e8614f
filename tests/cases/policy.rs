//! Field policies: `tests/policy/*.json` are policies with a plan, or with the inputs of a module, and what is found.
//! `withheld/*.json` are policies with a plan that they permit, or with the inputs of a module, and events of which something
//! is withheld.

#[path = "../policy/given.rs"]
mod given;

use std::path::Path;

use libtest_mimic::Trial;
use retort::diagnostics::Stage;
use retort::gate::{Denied, FieldPolicy};
use retort::graph::Extraction;
use retort::internal::{
    block::{BlockWriter, HEADER_BYTES, SLOT_BYTES, SlotKind},
    event::{Projection, Projector},
    section::Section,
};
use retort::plan::{self, Plan};
use retort::{Coded, Limits, TenantPolicy};
use serde::Deserialize;
use serde_json::Value;

use self::given::{evidence, policy, section};
use crate::support::{rendered, sandbox};
use crate::trial::{json_of, of_files};

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

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = of_files("policy::", "tests/policy", "json", |path| {
        is_written_as_it_is_read(path);
        a_plan_or_a_module_is_held_to_it(path);
    });
    let withheld = "tests/policy/withheld";
    trials.extend(of_files(
        "policy::withheld/",
        withheld,
        "json",
        what_samples_did_not_show_is_withheld,
    ));
    trials
}

fn found(denied: Result<(), Denied>) -> Vec<Found> {
    let Err(denied) = denied else { return Vec::new() };
    assert_eq!(denied.code(), denied.findings()[0].code);
    assert_eq!(denied.entry().stage, Stage::Policy);
    let found = |finding: &retort::diagnostics::Finding| {
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

fn is_written_as_it_is_read(path: &Path) {
    let case: Case = json_of(path);
    let policy = policy(&case.policy);
    let written = serde_json::to_string(&policy).unwrap();
    assert_eq!(FieldPolicy::parse(&written, "").unwrap(), policy);
    assert_eq!(FieldPolicy::parse(&written, "as.yaml").unwrap(), policy);
    // It is a tenant's policy as well.
    let of_tenant = TenantPolicy::parse(&case.policy.to_string(), "policy.json").unwrap();
    assert_eq!(of_tenant, TenantPolicy::from(policy));
}

fn a_plan_or_a_module_is_held_to_it(path: &Path) {
    let case: Case = json_of(path);
    let policy = policy(&case.policy);
    if let Some(plan) = case.plan {
        let plan = plan::from_value(&plan).unwrap();
        let checked = match &case.samples {
            Some(samples) => policy.check_plan_knowing(&plan, &evidence(samples, case.schema)),
            None => policy.check_plan(&plan),
        };
        if let Err(denied) = &checked {
            let shown = denied.diagnostic();
            assert!(case.findings.iter().all(|found| shown.contains(&found.observed)), "{shown}");
            assert!(shown.lines().count() <= 1 + 2 * case.findings.len(), "{shown}");
        }
        assert_eq!(found(checked), case.findings);
    } else {
        let inputs = case.inputs.unwrap_or_else(|| panic!("neither plan nor inputs"));
        let section = section(&inputs, case.rows.as_ref());
        assert_eq!(found(policy.check_section(&section)), case.findings);
    }
}

fn what_samples_did_not_show_is_withheld(path: &Path) {
    let case: WithheldCase = json_of(path);
    let policy = policy(&case.policy);
    match (case.plan, case.inputs) {
        (Some(plan), _) => {
            let plan = plan::from_value(&plan).unwrap();
            policy.check_plan(&plan).unwrap_or_else(|denied| panic!("{denied}"));
            for (event, nodes) in case.events.iter().map(|it| (&it.event, &it.nodes)) {
                let found = properties(&policy, &plan, event);
                assert_eq!(Some(&found), nodes.as_ref(), "{event}");
            }
        }
        (None, inputs) => {
            let section = section(&inputs.unwrap(), None);
            for (event, kinds) in case.events.iter().map(|it| (&it.event, &it.kinds)) {
                let found = kinds_of(&policy, &section, event);
                assert_eq!(Some(&found), kinds.as_ref(), "{event}");
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
    let properties = |node: &retort::graph::Node| -> Value {
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
