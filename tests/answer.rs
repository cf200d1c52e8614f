//! What models answer: `answer/*.json` are answers and what is read in them, `answer/*.snap` what a model is shown.

use std::fs;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use retort::author::answer::{AnswerError, AnswerFormat, MAX_BYTES, MAX_PROPERTIES, read};
use retort::author::llm::FinishReason;
use retort::diagnostics::codes;
use retort::diagnostics::problem::Stage;
use retort::plan;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{shared, workspace_root};

/// The codes of answers that hold no plan to be read.
const OWN_CODES: [&str; 4] =
    ["ambiguous_response", "answer_too_large", "model_refused", "truncated_response"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    text: String,
    #[serde(default = "stop")]
    finish: FinishReason,
    #[serde(default)]
    format: Format,
    expect: Expect,
}

fn stop() -> FinishReason {
    FinishReason::Stop
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Lenient,
    Strict,
}

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Expect {
    Plan { taken: String },
    Error { code: String, pointers: Vec<String> },
}

fn read_case(case: &Case) -> Result<retort::author::answer::Answer, AnswerError> {
    let format = match case.format {
        Format::Lenient => AnswerFormat::Lenient,
        Format::Strict => AnswerFormat::Strict,
    };
    read(&case.text, &case.finish, format)
}

#[test]
fn answers_are_read_as_recorded() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("answer");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let mut paths: Vec<_> = fs::read_dir(workspace_root().join("tests/answer"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 20);
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let case: Case = serde_json::from_str(&fs::read_to_string(&path).unwrap())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        match (read_case(&case), &case.expect) {
            (Ok(answer), Expect::Plan { taken }) => {
                assert_eq!(answer.text, *taken, "{name}");
                assert_eq!(plan::parse(&answer.text).unwrap(), answer.plan, "{name}");
                assert_eq!(serde_json::from_str::<Value>(taken).unwrap(), answer.value, "{name}");
            }
            (Err(error), Expect::Error { code, pointers }) => {
                let found: Vec<&String> = error.findings.iter().map(|it| &it.pointer).collect();
                assert_eq!(
                    (error.code.name, found),
                    (code.as_str(), pointers.iter().collect()),
                    "{name}"
                );
                assert!(codes::lookup(error.code.name).is_some(), "{name}");
                assert!(!error.to_problems().is_empty());
                settings.bind(|| insta::assert_snapshot!(name, error.diagnostic));
            }
            (found, _) => panic!("{name}: {found:?}"),
        }
    }
}

/// Without the lenient step, an answer is what the plan parser makes of it.
#[test]
fn strictly_read_the_parser_decides() {
    let Some(path) = shared("conformance/plan_parser.json") else { return };
    let cases: Vec<Value> = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    for case in &cases {
        let text = match &case["input"] {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        let strict = read(&text, &FinishReason::Stop, AnswerFormat::Strict);
        let parsed = plan::parse(&text);
        match (&strict, &parsed) {
            (Ok(answer), Ok(plan)) => assert_eq!(answer.plan, *plan, "{text}"),
            (Err(error), Err(first)) => {
                assert_eq!(error.code, first.code.name, "{text}");
                assert_eq!(error.problems, plan::problems(&text), "{text}");
                assert!(
                    error
                        .diagnostic
                        .starts_with(&format!("PlanParseError [code={}] at ", error.code))
                );
            }
            _ => panic!("{text}: {strict:?}"),
        }
        // What is a plan, or JSON, is so for the lenient step too.
        if serde_json::from_str::<Value>(&text).is_ok() {
            assert_eq!(read(&text, &FinishReason::Stop, AnswerFormat::Lenient), strict, "{text}");
        }
    }
}

/// A plan of so many properties, the path of each with a key of so many letters.
fn plan_of(properties: usize, letters: usize) -> String {
    let property =
        |index| json!({"property_name": format!("p{index}"), "source_path": ["k".repeat(letters)]});
    let properties: Vec<Value> = (0..properties).map(property).collect();
    json!({"event_type": "e", "target_entity_name": "E", "function_name": "f",
        "key_field": {"property_name": "k", "source_path": ["a"]}, "property_fields": properties})
    .to_string()
}

#[test]
fn what_is_larger_than_a_plan_may_be_is_refused() {
    let cases = [
        (plan_of(MAX_PROPERTIES, 1), true),
        (plan_of(MAX_PROPERTIES + 1, 1), false),
        (plan_of(1, MAX_BYTES - 400), true),
        (plan_of(1, MAX_BYTES), false),
    ];
    for (text, is_read) in cases {
        for format in [AnswerFormat::Lenient, AnswerFormat::Strict] {
            match read(&text, &FinishReason::Stop, format) {
                Ok(_) => assert!(is_read, "{}", text.len()),
                Err(error) => {
                    assert!(!is_read, "{error}");
                    assert_eq!(error.code, "answer_too_large");
                    assert_eq!((error.problems.len(), error.findings.len()), (0, 1));
                    assert_eq!(error.to_problems()[0].code, "answer_too_large");
                    assert!(error.diagnostic.len() < 600, "{}", error.diagnostic);
                }
            }
        }
    }
}

#[test]
fn a_hundred_problems_are_kept_and_ten_listed() {
    let path = vec![1; 50_000];
    let plan = json!({"event_type": "e", "target_entity_name": "E", "function_name": "f",
        "key_field": {"property_name": "k", "source_path": path}});
    let error = read(&plan.to_string(), &FinishReason::Stop, AnswerFormat::Strict).unwrap_err();
    assert_eq!((error.problems.len(), error.findings.len()), (100, 100));
    assert!(error.diagnostic.contains("\nOther problems (49999):\n"), "{}", error.diagnostic);
    assert!(error.diagnostic.ends_with(" isn't repeated here: it stands above."));
    assert!(error.diagnostic.len() < 5_000, "{}", error.diagnostic);
}

#[test]
fn no_text_takes_long() {
    let pieces =
        ["{", "[", "[{", "{\"", "{\"a\":", "{\"a\":[", "[\"", "{}", "{ ", "`", "\\", "{\"a\":1,"];
    for piece in pieces {
        let text = piece.repeat(1_000_000 / piece.len());
        let start = Instant::now();
        let error = read(&text, &FinishReason::Stop, AnswerFormat::Lenient).unwrap_err();
        assert!(start.elapsed() < Duration::from_secs(5), "{piece}: {:?}", start.elapsed());
        assert!(error.diagnostic.chars().count() < 10_000, "{piece}");
    }
}

fn piece() -> impl Strategy<Value = String> {
    let fixed = [
        "{",
        "}",
        "[",
        "]",
        "\"",
        ":",
        ",",
        "\\",
        "```json\n",
        "\n```",
        "\u{feff}",
        "null",
        "{}",
        "{\"a\":",
        "1e9",
    ];
    prop_oneof![
        4 => prop::sample::select(fixed.to_vec()).prop_map(str::to_owned),
        1 => "\\PC{0,4}",
        1 => Just(r#"{"event_type":"e","target_entity_name":"E","function_name":"f","key_field":{"property_name":"k","source_path":["a"]}}"#.to_owned()),
    ]
}

proptest! {
    #[test]
    fn no_text_panics_and_nothing_is_made_up(pieces in prop::collection::vec(piece(), 0..24), cut in any::<bool>()) {
        let text = pieces.concat();
        let finish = if cut { FinishReason::Length } else { FinishReason::Stop };
        for format in [AnswerFormat::Lenient, AnswerFormat::Strict] {
            match read(&text, &finish, format) {
                Ok(answer) => {
                    prop_assert!(text.contains(&answer.text));
                    prop_assert_eq!(plan::parse(&answer.text), Ok(answer.plan));
                }
                Err(error) => {
                    let known = error.code.stage == Stage::Plan;
                    prop_assert!(known || OWN_CODES.contains(&error.code.name));
                    prop_assert!(!error.diagnostic.contains(|c: char| c != '\n' && c.is_control()));
                    prop_assert!(!error.findings.is_empty());
                }
            }
        }
    }

    /// A plan cut anywhere is never taken for one, and never for a part of it.
    #[test]
    fn a_cut_off_plan_is_reported_as_such(at in 1_usize..110, fence in any::<bool>()) {
        let text = r#"{"event_type":"e","target_entity_name":"E","function_name":"f","key_field":{"property_name":"k","source_path":["a"]}}"#;
        let cut = format!("{}{}", if fence { "```json\n" } else { "" }, &text[..at]);
        let error = read(&cut, &FinishReason::Stop, AnswerFormat::Lenient).unwrap_err();
        prop_assert_eq!(error.code, "truncated_response");
    }
}
