//! The plan stage: every case of the parser.

mod limits;
mod places;
mod schema;

use std::collections::BTreeSet;
use std::path::PathBuf;

use retort::diagnostics::codes::{self, Code};
use retort::diagnostics::problem::{Coded, Stage};
use retort::plan;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{shared, workspace_root};

/// A case of the shared contract that Retort differs from: its name, the reason, and the code and
/// path that hold instead; none where it is a plan.
type Difference = (&'static str, &'static str, Option<(Code, &'static str)>);

const DIFFERENCES: &[Difference] = &[
    (
        "order_function_before_key_field",
        "the function is named `class`, which is a keyword, but none of Rust's: it is a name like \
         any other, and so the key's type is the first problem",
        Some((codes::WRONG_TYPE, "key_field")),
    ),
    ("wrong_type_event_type_list", "a plan may be for several types of events", None),
];

#[derive(Deserialize)]
struct Case {
    name: String,
    /// A string is the text of a plan, anything else a parsed one.
    input: Value,
    expect: Expect,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    ok: bool,
    plan: Option<Value>,
    code: Option<String>,
    path: Option<String>,
    /// All problems, as (code, path).
    problems: Option<Vec<(String, String)>>,
    /// The message of the first problem.
    message: Option<String>,
}

fn cases() -> Vec<Case> {
    let own = workspace_root().join("tests/plans/parser.json");
    let mut files: Vec<PathBuf> =
        shared("conformance/plan_parser.json").into_iter().chain([own]).collect();
    let by_construct = std::fs::read_dir(workspace_root().join("tests/plan/cases")).unwrap();
    files.extend(by_construct.map(|entry| entry.unwrap().path()));
    let read = |file| -> Vec<Case> {
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
    };
    let mut cases: Vec<Case> = files.into_iter().flat_map(read).collect();
    for case in &mut cases {
        if let Some((.., instead)) = DIFFERENCES.iter().find(|(name, ..)| *name == case.name) {
            let code = instead.map(|(code, _)| code.to_string());
            assert_ne!(case.expect.code, code, "no longer a difference");
            case.expect.ok = code.is_none();
            case.expect.code = code;
            case.expect.path = instead.map(|(_, path)| path.to_owned());
        }
    }
    cases
}

#[test]
fn differences_name_cases_that_exist() {
    if shared("conformance/plan_parser.json").is_some() {
        let cases = cases();
        for (name, reason, ..) in DIFFERENCES {
            assert!(cases.iter().any(|case| case.name == *name), "{name} ({reason})");
        }
    }
}

#[test]
fn cases_parse_as_expected() {
    for Case { name, input, expect } in cases() {
        let (parsed, problems) = match &input {
            Value::String(text) => (plan::parse(text), plan::problems(text)),
            value => (plan::from_value(value), plan::problems_of_value(value)),
        };
        assert_eq!(parsed.as_ref().err(), problems.first(), "{name}: first problem");
        assert_eq!(parsed.is_ok(), expect.ok, "{name}: {problems:?}");
        match parsed {
            Ok(plan) => {
                // A difference has no normalised form in the shared contract.
                if let Some(expected) = expect.plan {
                    assert_eq!(json!(plan), expected, "{name}");
                }
            }
            Err(error) => {
                assert_eq!(Some(error.code()), expect.code.as_deref(), "{name}: {error}");
                assert_eq!(Some(error.path.as_str()), expect.path.as_deref(), "{name}: {error}");
                if let Some(message) = expect.message {
                    assert_eq!(error.message, message, "{name}");
                }
            }
        }
        if let Some(expected) = expect.problems {
            let found: Vec<(String, String)> =
                problems.into_iter().map(|it| (it.code.to_string(), it.path)).collect();
            assert_eq!(found, expected, "{name}: all problems");
        }
    }
}

#[test]
fn messages_are_made_of_what_was_expected_and_what_was_found() {
    for Case { name, input, .. } in cases() {
        for problem in plan::problems_of_value(&input) {
            let made = match (&problem.expected, &problem.observed) {
                (Some(expected), Some(observed)) if observed.starts_with("an unknown field") => {
                    format!("found {observed}; expected {expected}")
                }
                (Some(expected), Some(observed)) => {
                    format!("expected {expected}, found {observed}")
                }
                (Some(expected), None) => format!("expected {expected}"),
                (None, Some(observed)) => format!("found {observed}"),
                (None, None) => panic!("{name}: {problem}"),
            };
            assert_eq!(problem.message, made, "{name}");
        }
    }
}

#[test]
fn every_code_is_met_by_a_case() {
    let met: BTreeSet<String> = cases().into_iter().filter_map(|case| case.expect.code).collect();
    if shared("conformance/plan_parser.json").is_some() {
        // What can be read and not rendered has a code of this stage too.
        let is_of_parser = |code: &&Code| code.stage == Stage::Plan && code.name != "invalid_plan";
        for code in codes::all().filter(is_of_parser) {
            assert!(met.contains(code.name), "no case gives {code}");
        }
    }
}

#[test]
fn normalised_plans_parse_to_themselves_in_the_stated_order() {
    for case in cases().into_iter().filter(|case| case.expect.ok) {
        let plan = match &case.input {
            Value::String(text) => plan::parse(text),
            value => plan::from_value(value),
        }
        .unwrap();
        let text = serde_json::to_string(&plan).unwrap();
        assert_eq!(plan::parse(&text).unwrap(), plan, "{}", case.name);
        let place = |field: &str| text.find(&format!("\"{field}\":")).unwrap();
        let fields: &[&str] = match plan.form() {
            plan::Form::Short => &[
                "event_type",
                "target_entity_name",
                "function_name",
                "key_field",
                "property_fields",
                "session_id_path",
                "span_handling",
            ],
            plan::Form::Long => {
                &["event_type", "function_name", "nodes", "session_id_path", "span_handling"]
            }
        };
        assert!(fields.iter().map(|it| place(it)).is_sorted(), "{}: {text}", case.name);
    }
}

/// A plan in the short form.
fn short_plan() -> Value {
    in_file("short.json")
}

/// A plan in the long form that uses every construct.
fn long_plan() -> Value {
    in_file("long.json")
}

fn in_file(name: &str) -> Value {
    let file = workspace_root().join("tests/plan").join(name);
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

fn schema() -> jsonschema::Validator {
    jsonschema::draft202012::new(&plan::schema()).unwrap()
}

#[test]
fn the_plans_of_the_manual_are_plans() {
    let manual = std::fs::read_to_string(workspace_root().join("docs/plan.md")).unwrap();
    let mut blocks = 0;
    for block in manual.split("```json\n").skip(1) {
        let (text, _) = block.split_once("```").unwrap();
        assert_eq!(plan::problems(text), [], "{text}");
        assert!(schema().is_valid(&serde_json::from_str(text).unwrap()), "{text}");
        blocks += 1;
    }
    assert!(blocks >= 2, "{blocks}");
}
