//! What plans extract: every case, by each way to run a plan.

use retort::graph::extraction::Extraction;
use retort::plan::eval::{EvalError, eval};
use retort::plan::{self, Plan};
use retort::problem::Coded;
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

/// All cases: those of the shared contract and our own.
pub(crate) fn cases() -> Vec<Case> {
    let own = Some(workspace_root().join("tests/plans/extraction.json"));
    let files = [shared("conformance/extraction.json"), own];
    files.into_iter().flatten().flat_map(|file| read_cases(&file)).collect()
}

fn read_cases(file: &std::path::Path) -> Vec<Case> {
    let cases: Vec<CaseInFile> =
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let read = |case: CaseInFile| {
        let mut expected: Extraction = serde_json::from_value(case.expect).unwrap();
        if let Some((.., amend)) = DIFFERENCES.iter().find(|(name, ..)| *name == case.name) {
            let original = expected.clone();
            amend(&mut expected);
            assert_ne!(original, expected, "{}: no longer a difference", case.name);
        }
        let event = match case.event {
            Value::String(text) => text,
            event => event.to_string(),
        };
        let plan =
            plan::from_value(&case.plan).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        Case { name: case.name, plan, event, expected }
    };
    cases.into_iter().map(read).collect()
}

#[test]
fn the_oracle_extracts_what_the_cases_say() {
    for case in cases() {
        let found = eval(&case.plan, &case.event);
        assert_eq!(found.as_ref(), Ok(&case.expected), "{}: {}", case.name, case.event);
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
    assert!(EvalError::CODES.iter().all(|code| cases.iter().any(|case| case.1 == *code)));
}
