//! What holds for every answer of a model. What is read in some is in `cases/answer.rs`.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use retort::author::{AnswerFormat, llm::FinishReason};
use retort::diagnostics::Stage;
use retort::internal::answer::{MAX_BYTES, MAX_PROPERTIES, read, read_rust};
use retort::plan;
use serde_json::{Value, json};

/// The codes of answers that hold no plan to be read.
const OWN_CODES: [&str; 4] =
    ["ambiguous_response", "answer_too_large", "model_refused", "truncated_response"];

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
    for piece in ["```\n", "```rust\n", "````\n```\n", "{\"source\":", "{\"", "`", "fn f() {}\n"] {
        let text = piece.repeat(1_000_000 / piece.len());
        let start = Instant::now();
        let error = read_rust(&text, &FinishReason::Stop, AnswerFormat::Lenient).unwrap_err();
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
        "```rust\n",
        "{\"source\": \"fn\"}",
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
            match read_rust(&text, &finish, format) {
                Ok(answer) => prop_assert!(answer.source.ends_with('\n') && answer.source.trim() != ""),
                Err(error) => {
                    let known = OWN_CODES.contains(&error.code.name);
                    prop_assert!(known || ["source_missing", "invalid_json"].contains(&error.code.name));
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
