//! Why an answer is no plan, or no source.

use serde_json::Value;
use thiserror::Error;

use super::feedback;
use crate::author::backend::Language;
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::diagnose::{self, ParseReport};
use crate::diagnostics::fence;
use crate::diagnostics::finding::Finding;
use crate::diagnostics::problem::{Coded, Problem, Stage};
use crate::diagnostics::untrusted::bounded;
use crate::json::tally;
use crate::plan::{self, PlanParseError};

/// How long an answer may be to be repeated to whoever gave it, as JSON on one line, in characters.
const ECHO_CHARS: usize = 300;

/// How long a text may be that could be as short as that on one line, in bytes.
const ECHO_BYTES: usize = 10 * ECHO_CHARS;

/// How many problems of an answer are kept.
const MAX_PROBLEMS: usize = 100;

/// How much of a field's name or value a finding repeats, in characters.
const QUOTED_CHARS: usize = 200;

/// What is expected where a problem doesn't say both what was expected and what was found.
const A_PLAN: &str = "a valid plan";

/// An answer that isn't a plan, or where Rust was asked for, holds no source. What is quoted from it is escaped and bounded.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{}", diagnostic.lines().next().unwrap_or_default())]
pub struct AnswerError {
    /// The answer's own code, or that of the plan's first problem.
    pub code: Code,
    /// What is wrong with it as a plan, as far as there was one to be read: the first hundred problems.
    pub problems: Vec<PlanParseError>,
    /// The same as findings, each with a JSON Pointer into the answer. None has a patch.
    pub findings: Vec<Finding>,
    /// All of it as a model is shown.
    pub diagnostic: String,
    /// The JSON that the problems are about: the answer, without what was around it. `None` where there was none.
    pub text: Option<String>,
    /// What the model says that no plan can say: a few statements, escaped and bounded.
    pub cannot_express: Box<[String]>,
}

impl Coded for AnswerError {
    fn entry(&self) -> Code {
        self.code
    }
}

impl AnswerError {
    /// This error as problems for a report: all problems of the plan, or the answer's own.
    #[must_use]
    pub fn to_problems(&self) -> Vec<Problem> {
        if self.problems.is_empty() {
            return self.findings.iter().map(Problem::from).collect();
        }
        self.problems.iter().map(Coded::problem).collect()
    }

    /// JSON that isn't a plan.
    pub(super) fn not_a_plan(json: &str, value: &Value) -> Self {
        let mut problems = plan::problems_of_value(value);
        let mut diagnostic = first(&problems);
        feedback::others(&problems, &mut diagnostic);
        problems.truncate(MAX_PROBLEMS);
        echo(json, &mut diagnostic);
        Self::of_problems(problems, diagnostic, Some(json.to_owned()))
    }

    /// Text in which there is no JSON object.
    pub(super) fn not_json(text: &str) -> Self {
        let problems = plan::problems(text);
        let mut diagnostic = first(&problems);
        if let Err(fault) = tally::check(text) {
            feedback::surroundings(text, &fault, &mut diagnostic);
        }
        echo(text, &mut diagnostic);
        Self::of_problems(problems, diagnostic, None)
    }

    fn of_problems(
        problems: Vec<PlanParseError>,
        diagnostic: String,
        text: Option<String>,
    ) -> Self {
        let findings = problems.iter().map(finding).collect();
        let code = problems.first().map_or(codes::INVALID_JSON, Coded::entry);
        let cannot_express = Box::default();
        Self { code, problems, findings, diagnostic, text, cannot_express }
    }

    /// Text with several objects.
    pub(super) fn ambiguous(text: &str) -> Self {
        Self::of_answer(
            codes::AMBIGUOUS_RESPONSE,
            "expected one JSON object, found more than one".to_owned(),
            "one JSON object",
            "more than one",
            "Answer with the plan alone, as one JSON object: no drafts, no examples and no words beside it.",
            text,
        )
    }

    /// Text whose object has no end.
    pub(super) fn truncated(text: &str) -> Self {
        let length = text.chars().count();
        Self::of_answer(
            codes::TRUNCATED_RESPONSE,
            format!(
                "the answer was cut off after {length} characters, before its JSON object ended"
            ),
            "a JSON object with its end",
            "an answer that was cut off",
            "Answer shorter: the JSON object alone, without words around it or white space in it. If the plan itself is \
             too long,\nleave out the properties that matter least.",
            text,
        )
    }

    /// JSON of more of something than a plan may have.
    pub(super) fn too_large(text: &str, what: &str, used: usize, allowed: usize) -> Self {
        Self::of_answer(
            codes::ANSWER_TOO_LARGE,
            format!("expected at most {allowed} {what}, found {used}"),
            &format!("at most {allowed} {what}"),
            &used.to_string(),
            "Answer with the plan alone, and with no more properties than the entities have.",
            text,
        )
    }

    /// An object that says why it holds no plan, or no source.
    pub(super) fn cannot_express(wanted: Language, statements: Vec<String>) -> Self {
        let code = codes::CANNOT_EXPRESS;
        let observed = statements.join("; ");
        let (what, expected) = match wanted {
            Language::Plan => ("no plan can say", "a plan"),
            Language::Rust => ("no extractor can do", "source in Rust"),
        };
        let message = format!("the model says that {what} what is asked for: {observed}");
        let report = ParseReport { code: code.to_string(), path: String::new(), message };
        Self {
            code,
            problems: Vec::new(),
            findings: vec![Finding::new(Stage::Model, code, "", expected, observed)],
            diagnostic: diagnose::parse(&report),
            text: None,
            cannot_express: statements.into(),
        }
    }

    /// No object, since the model, or a filter, declined.
    pub(super) fn refused(text: &str) -> Self {
        Self::of_answer(
            codes::MODEL_REFUSED,
            "the model declined to answer".to_owned(),
            "a JSON object",
            "a refusal",
            "Nothing is asked for but a plan: JSON that says which fields of an event are copied where.",
            text,
        )
    }

    pub(super) fn of_answer(
        code: Code,
        message: String,
        expected: &str,
        observed: &str,
        advice: &str,
        text: &str,
    ) -> Self {
        let report = ParseReport { code: code.to_string(), path: String::new(), message };
        let mut diagnostic = format!("{}\n\n{advice}", diagnose::parse(&report));
        echo(text, &mut diagnostic);
        let findings = vec![Finding::new(Stage::Model, code, "", expected, observed)];
        let (problems, cannot_express) = (Vec::new(), Box::default());
        Self { code, problems, findings, diagnostic, text: None, cannot_express }
    }
}

/// The first problem, in the parser's format.
fn first(problems: &[PlanParseError]) -> String {
    problems.first().map(|problem| diagnose::parse(&ParseReport::from(problem))).unwrap_or_default()
}

/// Repeats a short answer, fenced: JSON on one line, anything else as a JSON string. A longer one isn't repeated: whoever
/// is asked again is shown it anyway.
fn echo(text: &str, diagnostic: &mut String) {
    let json = Some(text).filter(|text| text.len() <= ECHO_BYTES);
    let json = json.and_then(|text| serde_json::from_str(text).ok());
    let (shown, left_out) = match json.map(|value| fence::compact(&value)) {
        Some(json) if json.chars().count() <= ECHO_CHARS => (json, 0),
        _ => fence::quoted(text, ECHO_CHARS),
    };
    if left_out > 0 {
        let length = text.chars().count();
        diagnostic.push_str(&format!(
            "\n\nThe answer that this is about, of {length} characters, isn't repeated here: it stands above."
        ));
        return;
    }
    diagnostic.push_str("\n\nThe answer that this is about:\n\n");
    diagnostic.push_str(fence::block("json", &shown).trim_end());
}

fn finding(problem: &PlanParseError) -> Finding {
    let (expected, observed) = match (&problem.expected, &problem.observed) {
        (Some(expected), Some(observed)) => (&**expected, &**observed),
        (None, Some(observed)) => (A_PLAN, &**observed),
        (_, None) => (A_PLAN, problem.message.as_str()),
    };
    Finding::new(
        Stage::Plan,
        problem.code,
        bounded(&problem.pointer, QUOTED_CHARS),
        expected,
        observed,
    )
}
