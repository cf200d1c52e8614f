//! What plans extract: every case, by each way to run a plan.

use std::path::PathBuf;

use retort::diagnostics::problem::Coded;
use retort::graph::extraction::Extraction;
use retort::plan::oracle::eval;
use retort::plan::{self, Plan};
use retort::sandbox::{Limits, Sandbox};
use serde::Deserialize;
use serde_json::Value;

use crate::support::{rendered, shared, workspace_root};

/// A case of the shared contract that Retort differs from: its name, the reason, and what holds
/// instead.
type Difference = (&'static str, &'static str, fn(&mut Extraction));

const DIFFERENCES: &[Difference] = &[(
    "default_span_path_when_omitted",
    "an empty span_handling object is one with the default path, as the cases of the parser and \
     the name of this one say; the expectation treats it as if it were absent",
    |expected| expected.fully_handled_span_ids.push("span1".to_owned()),
)];

/// A plan, the text of an event, and what the one makes of the other.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) plan: Plan,
    pub(crate) event: String,
    pub(crate) expected: Extraction,
}

#[derive(Deserialize)]
struct CaseInFile {
    name: String,
    plan: Value,
    /// A string is the text of an event, anything else a parsed one.
    event: Value,
    expect: Value,
}

/// A plan and an event that it turns down.
struct Rejected {
    name: String,
    plan: Plan,
    event: String,
    code: String,
}

/// All cases: those of the shared contract and our own.
pub(crate) fn cases() -> Vec<Case> {
    in_files().into_iter().filter_map(extracted).collect()
}

fn rejected_cases() -> Vec<Rejected> {
    let rejected = |case: CaseInFile| {
        let code = case.expect["error"].as_str()?.to_owned();
        Some(Rejected { plan: case.plan(), event: case.event(), name: case.name, code })
    };
    in_files().into_iter().filter_map(rejected).collect()
}

fn in_files() -> Vec<CaseInFile> {
    let own = workspace_root().join("tests/plans/extraction.json");
    let mut files: Vec<PathBuf> =
        shared("conformance/extraction.json").into_iter().chain([own]).collect();
    let by_construct = std::fs::read_dir(workspace_root().join("tests/extraction")).unwrap();
    files.extend(by_construct.map(|entry| entry.unwrap().path()));
    files.sort();
    let read = |file: PathBuf| -> Vec<CaseInFile> {
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
    };
    files.into_iter().flat_map(read).collect()
}

impl CaseInFile {
    fn plan(&self) -> Plan {
        plan::from_value(&self.plan).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    fn event(&self) -> String {
        match &self.event {
            Value::String(text) => text.clone(),
            event => event.to_string(),
        }
    }
}

fn extracted(case: CaseInFile) -> Option<Case> {
    if case.expect.get("error").is_some() {
        return None;
    }
    let (plan, event) = (case.plan(), case.event());
    let mut expected: Extraction = serde_json::from_value(case.expect).unwrap();
    if let Some((.., amend)) = DIFFERENCES.iter().find(|(name, ..)| *name == case.name) {
        let original = expected.clone();
        amend(&mut expected);
        assert_ne!(original, expected, "{}: no longer a difference", case.name);
    }
    Some(Case { name: case.name, plan, event, expected })
}

#[test]
fn the_oracle_extracts_what_the_cases_say() {
    for case in cases() {
        let found = eval(&case.plan, &case.event);
        assert_eq!(found.as_ref(), Ok(&case.expected), "{}: {}", case.name, case.event);
    }
}

#[test]
fn plans_turn_down_what_the_cases_say() {
    let sandbox = Sandbox::new(Limits::default()).unwrap();
    let cases = rejected_cases();
    for case in &cases {
        let error = eval(&case.plan, &case.event).unwrap_err();
        assert_eq!(error.code(), case.code, "{}: {error}", case.name);
        let extractor = sandbox.load(&rendered(&case.plan)).unwrap();
        let error = extractor.runner().run(case.event.as_bytes()).unwrap_err();
        assert_eq!(error.code(), case.code, "{}: {error}", case.name);
    }
    for code in ["conversion_failed", "duplicate_id"] {
        assert!(cases.iter().any(|case| case.code == code), "no case gives {code}");
    }
}

#[test]
fn rendered_modules_extract_what_the_cases_say() {
    let sandbox = Sandbox::new(Limits::default()).unwrap();
    for case in cases() {
        let extractor = sandbox.load(&rendered(&case.plan)).unwrap();
        assert!(extractor.is_reset_safe(), "{}", case.name);
        let mut runner = extractor.runner();
        for _ in 0..2 {
            let outcome = runner.run(case.event.as_bytes()).unwrap();
            let found: Extraction = serde_json::from_slice(outcome.json).unwrap();
            assert_eq!(found, case.expected, "{}: {}", case.name, case.event);
            assert_eq!(outcome.shape.is_empty(), found.is_empty(), "{}", case.name);
        }
    }
}

#[test]
fn differences_name_cases_that_exist() {
    if shared("conformance/extraction.json").is_some() {
        let cases = cases();
        for (name, reason, _) in DIFFERENCES {
            assert!(cases.iter().any(|case| case.name == *name), "{name} ({reason})");
        }
    }
}

#[test]
fn events_that_are_no_json_objects_are_errors() {
    let plan = plan::parse(
        r#"{
            "event_type": "e", "target_entity_name": "E", "function_name": "f",
            "key_field": {"property_name": "k", "source_path": ["k"]}
        }"#,
    )
    .unwrap();
    let deep = format!(r#"{{"a":{}1{}}}"#, "[".repeat(128), "]".repeat(128));
    let cases = [
        ("", "event_not_json"),
        ("{", "event_not_json"),
        ("{} {}", "event_not_json"),
        ("\u{feff}{}", "event_not_json"),
        (r#"{"event_type":"e","k":"\ud800"}"#, "event_not_json"),
        (r#"{"event_type":"other","unread":1e999}"#, "event_not_json"),
        (r#"{"event_type":"other","unread":[1,]}"#, "event_not_json"),
        (&deep, "event_not_json"),
        ("null", "event_not_object"),
        ("true", "event_not_object"),
        ("1", "event_not_object"),
        (r#""e""#, "event_not_object"),
        (r#"[{"event_type":"e"}]"#, "event_not_object"),
    ];
    for (event, code) in cases {
        let error = eval(&plan, event).unwrap_err();
        assert_eq!(error.code(), code, "{event}: {error}");
    }
    let rejected = rejected_cases();
    for code in ["event_not_json", "event_not_object", "conversion_failed", "duplicate_id"] {
        let is_met = cases.iter().any(|case| case.1 == code);
        assert!(is_met || rejected.iter().any(|case| case.code == code), "no case gives {code}");
    }
}
