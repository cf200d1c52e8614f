//! What models answer: `tests/answer/*.json` are answers and what is read in them, `*.snap` what a model is shown.

use std::path::Path;

use libtest_mimic::Trial;
use retort::author::{AnswerError, AnswerFormat, llm::FinishReason};
use retort::internal::{answer::read, codes};
use retort::plan;
use serde::Deserialize;
use serde_json::Value;

use crate::trial::{json_of, of_files, snapshots, stem};

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

pub(crate) fn trials() -> Vec<Trial> {
    of_files("answer::", "tests/answer", "json", an_answer_is_read_as_recorded)
}

fn read_case(case: &Case) -> Result<retort::author::Answer, AnswerError> {
    let format = match case.format {
        Format::Lenient => AnswerFormat::Lenient,
        Format::Strict => AnswerFormat::Strict,
    };
    read(&case.text, &case.finish, format)
}

fn an_answer_is_read_as_recorded(path: &Path) {
    let case: Case = json_of(path);
    match (read_case(&case), &case.expect) {
        (Ok(answer), Expect::Plan { taken }) => {
            assert_eq!(answer.text, *taken);
            assert_eq!(plan::parse(&answer.text).unwrap(), answer.plan);
            assert_eq!(serde_json::from_str::<Value>(taken).unwrap(), answer.value);
        }
        (Err(error), Expect::Error { code, pointers }) => {
            let found: Vec<&String> = error.findings.iter().map(|it| &it.pointer).collect();
            assert_eq!((error.code.name, found), (code.as_str(), pointers.iter().collect()));
            assert!(codes::lookup(error.code.name).is_some());
            assert!(!error.to_problems().is_empty());
            snapshots("answer").bind(|| insta::assert_snapshot!(stem(path), error.diagnostic));
        }
        (found, _) => panic!("{found:?}"),
    }
}

/// Without the lenient step, an answer is what the plan parser makes of it.
pub(crate) fn strictly_read_the_parser_decides(text: &str) {
    let strict = read(text, &FinishReason::Stop, AnswerFormat::Strict);
    let parsed = plan::parse(text);
    match (&strict, &parsed) {
        (Ok(answer), Ok(plan)) => assert_eq!(answer.plan, *plan, "{text}"),
        (Err(error), Err(first)) => {
            assert_eq!(error.code, first.code.name, "{text}");
            assert_eq!(error.problems, plan::problems(text), "{text}");
            assert!(
                error.diagnostic.starts_with(&format!("PlanParseError [code={}] at ", error.code))
            );
        }
        _ => panic!("{text}: {strict:?}"),
    }
    // What is a plan, or JSON, is so for the lenient step too.
    if serde_json::from_str::<Value>(text).is_ok() {
        assert_eq!(read(text, &FinishReason::Stop, AnswerFormat::Lenient), strict, "{text}");
    }
}
