//! The plan stage: every case of the parser.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use libtest_mimic::Trial;
use retort::Coded;
use retort::diagnostics::{Code, Stage};
use retort::internal::codes;
use retort::plan::{self, Plan};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer;
use crate::support::{schema_agrees, workspace_root};
use crate::trial::{files, json_of, of_contract, on_shared, stem, trial};

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

static SCHEMA: LazyLock<jsonschema::Validator> =
    LazyLock::new(|| jsonschema::draft202012::new(&plan::schema()).unwrap());

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = of_contract("plan_parser", named, |case| {
        answer::strictly_read_the_parser_decides(&match &case.input {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        });
        check(case.amended());
    });
    trials.push(on_shared(
        "plan::differences_name_cases_that_exist",
        "conformance/plan_parser.json",
        |path| {
            let cases: Vec<Case> = json_of(&path);
            for (name, reason, ..) in DIFFERENCES {
                assert!(cases.iter().any(|case| case.name == *name), "{name} ({reason})");
            }
        },
    ));
    let mut met = BTreeSet::new();
    for path in files("tests/plan/cases", "json")
        .into_iter()
        .chain([workspace_root().join("tests/plans/parser.json")])
    {
        for case in json_of::<Vec<Case>>(&path) {
            met.extend(case.expect.code.clone());
            let name = format!("plan::{}/{}", stem(&path), case.name);
            trials.push(trial(name, move || check(case)));
        }
    }
    trials.push(on_shared(
        "plan::every_code_is_met_by_a_case",
        "conformance/plan_parser.json",
        move |path| {
            let cases: Vec<Case> = json_of(&path);
            let met: BTreeSet<String> = cases
                .into_iter()
                .filter_map(|case| case.amended().expect.code)
                .chain(met)
                .collect();
            // What can be read and not rendered has a code of this stage too.
            let is_of_parser =
                |code: &&Code| code.stage == Stage::Plan && code.name != "invalid_plan";
            for code in codes::all().filter(is_of_parser) {
                assert!(met.contains(code.name), "no case gives {code}");
            }
        },
    ));
    trials
}

fn named(text: &str) -> Vec<(String, Case)> {
    let cases: Vec<Case> = serde_json::from_str(text).unwrap();
    cases.into_iter().map(|case| (case.name.clone(), case)).collect()
}

impl Case {
    /// What holds instead, where Retort differs.
    fn amended(mut self) -> Self {
        if let Some((.., instead)) = DIFFERENCES.iter().find(|(name, ..)| *name == self.name) {
            let code = instead.map(|(code, _)| code.to_string());
            assert_ne!(self.expect.code, code, "{}: no longer a difference", self.name);
            // A difference has no normalised form in the shared contract.
            self.expect.plan = None;
            self.expect.ok = code.is_none();
            self.expect.code = code;
            self.expect.path = instead.map(|(_, path)| path.to_owned());
        }
        self
    }
}

fn check(Case { input, expect, .. }: Case) {
    let (parsed, problems) = match &input {
        Value::String(text) => (plan::parse(text), plan::problems(text)),
        value => (plan::from_value(value), plan::problems_of_value(value)),
    };
    assert_eq!(parsed.as_ref().err(), problems.first(), "first problem");
    assert_eq!(parsed.is_ok(), expect.ok, "{problems:?}");
    match parsed {
        Ok(plan) => {
            if let Some(expected) = expect.plan {
                assert_eq!(json!(plan), expected);
            }
            is_written_as_it_is_read(&plan);
        }
        Err(error) => {
            assert_eq!(Some(error.code()), expect.code.as_deref(), "{error}");
            assert_eq!(Some(error.path.as_str()), expect.path.as_deref(), "{error}");
            if let Some(message) = expect.message {
                assert_eq!(error.message, message);
            }
        }
    }
    if let Some(expected) = expect.problems {
        let found: Vec<(String, String)> =
            problems.into_iter().map(|it| (it.code.to_string(), it.path)).collect();
        assert_eq!(found, expected, "all problems");
    }
    messages_say_what_was_expected_and_what_was_found(&input);
    let value = match input {
        Value::String(text) => serde_json::from_str(&text).ok(),
        value => Some(value),
    };
    if let Some(value) = &value {
        schema_agrees(&SCHEMA, value).unwrap_or_else(|why| panic!("{why}"));
    }
    problems_point_into(&value.unwrap_or_default());
}

fn messages_say_what_was_expected_and_what_was_found(input: &Value) {
    for problem in plan::problems_of_value(input) {
        let made = match (&problem.expected, &problem.observed) {
            (Some(expected), Some(observed)) if observed.starts_with("an unknown field") => {
                format!("found {observed}; expected {expected}")
            }
            (Some(expected), Some(observed)) => {
                format!("expected {expected}, found {observed}")
            }
            (Some(expected), None) => format!("expected {expected}"),
            (None, Some(observed)) => format!("found {observed}"),
            (None, None) => panic!("{problem}"),
        };
        assert_eq!(problem.message, made);
    }
}

fn problems_point_into(plan: &Value) {
    for problem in plan::problems_of_value(plan) {
        let there = plan.pointer(&problem.pointer).is_some();
        let is_missing = problem.code == codes::MISSING_REQUIRED_FIELD;
        assert!(there || is_missing, "{problem}, {}", problem.pointer);
    }
}

/// A normalised plan parses to itself, and its fields are in the stated order.
fn is_written_as_it_is_read(plan: &Plan) {
    let text = serde_json::to_string(plan).unwrap();
    assert_eq!(plan::parse(&text).unwrap(), *plan);
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
    assert!(fields.iter().map(|it| place(it)).is_sorted(), "{text}");
}
