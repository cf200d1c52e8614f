//! From an answer to a verdict: the reading of answers, the gates, and the caller's own say.

use super::feedback::words;
use super::{
    AttemptFailure, Category, Channel, GateError, Gates, LoopConfig, Reason, Rejection, Verdict,
};
use crate::author::answer::{self, AnswerError};
use crate::author::llm::FinishReason;
use crate::author::repair::{AnswerHash, Failure};
use crate::bundle::apart::compute;
use crate::diagnostics::codes;
use crate::diagnostics::finding::Finding;
use crate::diagnostics::problem::{Coded, Stage};
use crate::diagnostics::untrusted::sanitize;

/// How much of a caller's reason is repeated, in characters.
const REASON_CHARS: usize = 1_000;

/// How long the gist of a failure may be, in characters.
const GIST_CHARS: usize = 200;

/// What became of an answer.
pub(super) enum Judged<A> {
    Accepted(A),
    Failed(Box<Failed>),
}

/// An answer that failed.
#[derive(Clone, Debug)]
pub(super) struct Failed {
    pub(super) channel: Channel,
    pub(super) code: String,
    pub(super) category: Category,
    pub(super) diagnostic: String,
    pub(super) findings: Vec<Finding>,
    /// Where the failure is, if no finding says so.
    path: String,
    /// The JSON that was judged, if the answer is JSON.
    pub(super) json: Option<String>,
    /// Why the model won't be asked again, if that is so.
    pub(super) ends_with: Option<Reason>,
}

impl Failed {
    /// The failure as the policy and the memory see it, of this answer.
    pub(super) fn failure(&self, answer: AnswerHash) -> Failure {
        let named = self.findings.iter().find(|finding| finding.code.name == self.code);
        let finding = named.or_else(|| self.findings.first());
        // Several stages may report one code: a finding or the category knows which of them it was.
        let smoke = (self.category == Category::SmokeFailure).then_some(Stage::Smoke);
        let known = || smoke.or_else(|| Some(codes::lookup(&self.code)?.stage));
        let stage = named.map(|it| it.gate).or_else(known).unwrap_or(match self.channel {
            Channel::PlanParseError => Stage::Plan,
            Channel::RenderError => Stage::Render,
            Channel::CompileResult => Stage::Smoke,
        });
        let path = finding.map_or(&self.path, |finding| &finding.pointer);
        Failure { stage, code: self.code.clone(), path: path.clone(), answer }
    }

    /// The failure as records show it.
    pub(super) fn record(&self) -> AttemptFailure {
        let failure_code = match self.channel {
            Channel::PlanParseError => format!("plan_parse_error:{}", self.code),
            Channel::RenderError => "render_error".to_owned(),
            Channel::CompileResult => format!("compile:{}", self.category.as_str()),
        };
        let message = match self.findings.first() {
            Some(finding) => words(finding),
            None => self.diagnostic.split_whitespace().collect::<Vec<_>>().join(" "),
        };
        AttemptFailure {
            channel: self.channel,
            code: self.code.clone(),
            failure_code,
            message: sanitize(&message, GIST_CHARS),
        }
    }

    /// A gate that could not do its work.
    pub(super) fn of_gate(error: &GateError) -> Self {
        Self::unjudged(error.code(), error.to_string())
    }

    /// An answer that there was no time to judge.
    pub(super) fn out_of_time() -> Self {
        let diagnostic = "The time that all of it may take was spent before this answer was judged";
        Self::unjudged(codes::GATES_INTERRUPTED.name, diagnostic.to_owned())
    }

    /// An answer of which nothing is known.
    fn unjudged(code: &str, diagnostic: String) -> Self {
        Self::of_rejection(
            Rejection {
                channel: Channel::CompileResult,
                code: code.to_owned(),
                category: Category::Unknown,
                diagnostic,
                findings: Vec::new(),
            },
            None,
        )
    }

    fn of_rejection(rejection: Rejection, json: Option<String>) -> Self {
        let Rejection { channel, code, category, diagnostic, findings } = rejection;
        let (path, ends_with) = (String::new(), None);
        Self { channel, code, category, diagnostic, findings, path, json, ends_with }
    }

    fn of_answer(error: AnswerError, findings: Vec<Finding>, finish: &FinishReason) -> Self {
        let refused = *finish == FinishReason::Refused;
        Self {
            channel: Channel::PlanParseError,
            code: error.code.to_string(),
            category: Category::Unknown,
            path: error.problems.first().map_or_else(String::new, |problem| problem.path.clone()),
            findings: if findings.is_empty() { error.findings } else { findings },
            diagnostic: error.diagnostic,
            json: error.text,
            ends_with: refused.then_some(Reason::Refused),
        }
    }
}

/// Judges an answer. It is read where reading it takes nobody's time.
pub(super) async fn judge<G: Gates>(
    text: &str,
    finish: &FinishReason,
    gates: &G,
    config: &LoopConfig<'_, G::Accepted>,
) -> Result<Judged<G::Accepted>, GateError> {
    let (text, ending, format) = (text.to_owned(), finish.clone(), config.answer_format);
    let answer = match compute(move |_| answer::read(&text, &ending, format)).await? {
        Ok(answer) => answer,
        Err(error) => {
            let findings = gates.findings_of_answer(&error).await?;
            return Ok(Judged::Failed(Box::new(Failed::of_answer(error, findings, finish))));
        }
    };
    let rejection = match gates.judge(&answer.plan).await? {
        Verdict::Rejected(rejection) => rejection,
        Verdict::Accepted(accepted) => {
            let hook = config.on_accept.as_ref();
            match hook.map_or(Ok(()), |hook| hook(&answer.plan, &accepted)) {
                Ok(()) => return Ok(Judged::Accepted(accepted)),
                Err(reason) => rejected_by_caller(&reason),
            }
        }
    };
    Ok(Judged::Failed(Box::new(Failed::of_rejection(rejection, Some(answer.text)))))
}

fn rejected_by_caller(reason: &str) -> Rejection {
    let reason = sanitize(reason, REASON_CHARS);
    Rejection {
        channel: Channel::CompileResult,
        code: codes::REJECTED_BY_CALLER.to_string(),
        category: Category::Unknown,
        diagnostic: format!(
            "The plan passed every gate and was turned down by the program that asked for it: {reason}"
        ),
        findings: Vec::new(),
    }
}
