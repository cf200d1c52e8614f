//! What plans extract: every case, by each way to run a plan.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use libtest_mimic::Trial;
use retort::graph::Extraction;
use retort::plan::{self, Plan, eval};
use retort::sandbox::Sandbox;
use retort::{Coded, Limits};
use serde::Deserialize;
use serde_json::Value;

use crate::proof;
use crate::support::{rendered, workspace_root};
use crate::trial::{files, json_of, of_contract, on_shared, stem, trial};

/// A case of the shared contract that Retort differs from: its name, the reason, and what holds
/// instead.
type Difference = (&'static str, &'static str, fn(&mut Extraction));

const DIFFERENCES: &[Difference] = &[(
    "default_span_path_when_omitted",
    "an empty span_handling object is one with the default path, as the cases of the parser and \
     the name of this one say; the expectation treats it as if it were absent",
    |expected| expected.fully_handled_span_ids.push("span1".to_owned()),
)];

static SANDBOX: LazyLock<Sandbox> = LazyLock::new(|| Sandbox::new(Limits::default()).unwrap());

/// A plan, an event, and what the one makes of the other.
#[derive(Deserialize)]
struct Case {
    name: String,
    plan: Value,
    /// A string is the text of an event, anything else a parsed one.
    event: Value,
    expect: Value,
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = of_contract("extraction", named, check);
    trials.push(on_shared(
        "extraction::differences_name_cases_that_exist",
        "conformance/extraction.json",
        |path| {
            let cases: Vec<Case> = json_of(&path);
            for (name, reason, _) in DIFFERENCES {
                assert!(cases.iter().any(|case| case.name == *name), "{name} ({reason})");
            }
        },
    ));
    let mut codes = BTreeSet::new();
    for path in files("tests/extraction", "json")
        .into_iter()
        .chain([workspace_root().join("tests/plans/extraction.json")])
    {
        for case in json_of::<Vec<Case>>(&path) {
            codes.extend(case.expect["error"].as_str().map(str::to_owned));
            let name = format!("extraction::{}/{}", stem(&path), case.name);
            trials.push(trial(name, move || check(case)));
        }
    }
    trials.push(trial("extraction::a_plan_over_arrays_that_are_four_deep", || {
        let folder = workspace_root().join("tests/plans/elements");
        let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        let (events, expected) = (text("samples.ndjson"), text("expected.ndjson"));
        for (event, expect) in events.lines().zip(expected.lines()) {
            let plan = json_of(&folder.join("plan.json"));
            let (event, expect) = (Value::from(event), serde_json::from_str(expect).unwrap());
            check(Case { name: "elements".to_owned(), plan, event, expect });
        }
    }));
    trials.push(trial("extraction::every_code_is_given_by_a_case", move || {
        assert_eq!(codes, ["conversion_failed", "duplicate_id"].map(str::to_owned).into());
    }));
    trials
}

fn named(text: &str) -> Vec<(String, Case)> {
    let cases: Vec<Case> = serde_json::from_str(text).unwrap();
    cases.into_iter().map(|case| (case.name.clone(), case)).collect()
}

fn check(case: Case) {
    let plan = plan::from_value(&case.plan).unwrap_or_else(|error| panic!("{error}"));
    let event = match &case.event {
        Value::String(text) => text.clone(),
        event => event.to_string(),
    };
    if let Some(code) = case.expect["error"].as_str() {
        return turns_down(&plan, &event, code);
    }
    let mut expected: Extraction = serde_json::from_value(case.expect).unwrap();
    if let Some((.., amend)) = DIFFERENCES.iter().find(|(name, ..)| *name == case.name) {
        let original = expected.clone();
        amend(&mut expected);
        assert_ne!(original, expected, "no longer a difference");
    }
    extracts(&plan, &event, &expected);
    proof::is_verified_with_the_same_bound(&plan);
    proof::depends_on_the_block_alone(&plan, vec![event]);
}

fn extracts(plan: &Plan, event: &str, expected: &Extraction) {
    assert_eq!(eval(plan, event).as_ref(), Ok(expected), "the oracle of {event}");
    let extractor = SANDBOX.load(&rendered(plan)).unwrap();
    assert!(extractor.is_reset_safe());
    let mut runner = extractor.runner().checking_all();
    for _ in 0..2 {
        let outcome = runner.run(event.as_bytes()).unwrap();
        let found: Extraction = serde_json::from_slice(outcome.json).unwrap();
        assert_eq!(found, *expected, "{event}");
        assert_eq!(outcome.shape.is_empty(), found.is_empty());
    }
}

fn turns_down(plan: &Plan, event: &str, code: &str) {
    let error = eval(plan, event).unwrap_err();
    assert_eq!(error.code(), code, "{error}");
    let extractor = SANDBOX.load(&rendered(plan)).unwrap();
    let error = extractor.runner().run(event.as_bytes()).unwrap_err();
    assert_eq!(error.code(), code, "{error}");
}
