//! The lenient step: what is taken out of an answer is a part of it and the plan that the strict parser reads there, and what
//! is told about any other answer is bounded, and can't pass for the words around it.

use retort::author::{Answer, AnswerFormat, llm::FinishReason};
use retort::diagnostics::Stage;
use retort::internal::answer::read;
use retort::plan;
use serde_json::Value;

use super::text::{assert_lines, assert_one_line};

/// More than any diagnostic has: three lists of ten entries of some hundred characters, and an answer of three hundred.
const MOST_BYTES: usize = 64 << 10;

pub(crate) fn target(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let finishes = [
        FinishReason::Stop,
        FinishReason::Length,
        FinishReason::Refused,
        FinishReason::Other("paused".to_owned()),
    ];
    // What is a plan is one whatever the reason to stop; what isn't is judged by it.
    let verdicts = finishes.map(|finish| read_both(text, &finish));
    let passed = verdicts[0];
    assert!(verdicts.iter().all(|verdict| *verdict == passed), "{text}");
    passed
}

fn read_both(text: &str, finish: &FinishReason) -> bool {
    let strict = judged(text, finish, AnswerFormat::Strict);
    let lenient = judged(text, finish, AnswerFormat::Lenient);
    if let Some(strict) = strict {
        assert_eq!(lenient.as_ref().map(|answer| &answer.plan), Some(&strict.plan));
    }
    let Some(answer) = lenient else { return false };
    let fenced =
        format!("Here is the plan:\n```json\n{}\n```\nIt reads what it has to.", answer.text);
    let again = read(&fenced, finish, AnswerFormat::Lenient).unwrap();
    assert_eq!(again, answer);
    true
}

fn judged(text: &str, finish: &FinishReason, format: AnswerFormat) -> Option<Answer> {
    let error = match read(text, finish, format) {
        Ok(answer) => {
            assert!(text.contains(&answer.text));
            assert_eq!(plan::parse(&answer.text).as_ref(), Ok(&answer.plan));
            assert_eq!(serde_json::from_str::<Value>(&answer.text).unwrap(), answer.value);
            return Some(answer);
        }
        Err(error) => error,
    };
    assert!(matches!(error.code.stage, Stage::Model | Stage::Plan), "{}", error.code);
    assert_one_line(&error.to_string());
    assert_lines(&error.diagnostic, MOST_BYTES);
    let fences = error.diagnostic.lines().filter(|line| line.starts_with("```")).count();
    assert!(fences % 2 == 0, "{}", error.diagnostic);
    assert!(error.problems.len() <= 100 && error.findings.len() <= 100);
    let problems = error.to_problems();
    assert!(!problems.is_empty());
    for problem in problems {
        assert_one_line(&problem.message);
        assert_one_line(problem.path.as_deref().unwrap_or_default());
    }
    if let Some(json) = &error.text {
        assert!(text.contains(json) && serde_json::from_str::<Value>(json).is_ok());
    }
    None
}
