//! From an answer to a verdict: the reading of answers, the gates, and the caller's own say.

use super::{Category, Channel, GateError, Gates, LoopConfig, Rejection, Verdict};
use crate::author::answer::{self, AnswerError, RustAnswer};
use crate::author::backend::{Candidate, Language};
use crate::author::background::run_blocking;
use crate::author::llm::FinishReason;
use crate::diagnostics::codes;
use crate::diagnostics::untrusted::sanitize;

/// How much of a caller's reason is repeated, in characters.
const REASON_CHARS: usize = 1_000;

/// An answer that was rejected.
#[derive(Clone, Debug)]
pub(super) struct Failed {
    pub(super) rejection: Rejection,
    /// What the rejection is about: the JSON or the source in the answer, or the answer itself where it holds neither.
    pub(super) judged: String,
    /// Whether it is the JSON of a plan.
    pub(super) is_json: bool,
    /// Whether the model, or a filter, declined to answer.
    pub(super) is_refusal: bool,
    /// What the model says that no plan can say, or no extractor do.
    pub(super) cannot_express: Vec<String>,
}

/// What was accepted, and what the model says that it leaves out.
pub(super) struct Passed<A> {
    pub(super) accepted: A,
    pub(super) cannot_express: Vec<String>,
}

/// Judges an answer. It is read where reading it takes nobody's time.
pub(super) async fn judge<G: Gates>(
    text: &str,
    finish: &FinishReason,
    language: Language,
    gates: &G,
    config: &LoopConfig<'_, G::Accepted>,
) -> Result<Result<Passed<G::Accepted>, Failed>, GateError> {
    match language {
        Language::Plan => judge_plan(text, finish, gates, config).await,
        Language::Rust => judge_rust(text, finish, gates, config).await,
    }
}

async fn judge_plan<G: Gates>(
    text: &str,
    finish: &FinishReason,
    gates: &G,
    config: &LoopConfig<'_, G::Accepted>,
) -> Result<Result<Passed<G::Accepted>, Failed>, GateError> {
    let (answer, ending, format) = (text.to_owned(), finish.clone(), config.answer_format);
    let answer = match run_blocking(move |_| answer::read(&answer, &ending, format)).await? {
        Ok(answer) => answer,
        Err(error) => {
            let findings = gates.findings_of_answer(&error).await?;
            let found = unread(error, text, finish);
            return Ok(Err(match findings.is_empty() {
                true => found,
                false => Failed { rejection: Rejection { findings, ..found.rejection }, ..found },
            }));
        }
    };
    let verdict = gates.judge(&answer.plan).await?;
    let rejection = match confirmed(verdict, Candidate::Plan(&answer.plan), config) {
        Ok(accepted) => return Ok(Ok(Passed { accepted, cannot_express: answer.cannot_express })),
        Err(rejection) => rejection,
    };
    Ok(Err(Failed {
        rejection,
        judged: answer.text,
        is_json: true,
        is_refusal: false,
        cannot_express: answer.cannot_express,
    }))
}

async fn judge_rust<G: Gates>(
    text: &str,
    finish: &FinishReason,
    gates: &G,
    config: &LoopConfig<'_, G::Accepted>,
) -> Result<Result<Passed<G::Accepted>, Failed>, GateError> {
    let (answer, ending, format) = (text.to_owned(), finish.clone(), config.answer_format);
    let answer = match run_blocking(move |_| answer::read_rust(&answer, &ending, format)).await? {
        Ok(answer) => answer,
        Err(error) => return Ok(Err(unread(error, text, finish))),
    };
    let RustAnswer { source, cannot_express } = answer;
    let verdict = gates.judge_rust(&source).await?;
    Ok(match confirmed(verdict, Candidate::Rust(&source), config) {
        Ok(accepted) => Ok(Passed { accepted, cannot_express }),
        Err(rejection) => {
            let (is_json, is_refusal) = (false, false);
            Err(Failed { rejection, judged: source, is_json, is_refusal, cannot_express })
        }
    })
}

/// An answer in which there was nothing to be judged.
fn unread(error: AnswerError, text: &str, finish: &FinishReason) -> Failed {
    Failed {
        rejection: Rejection {
            channel: Channel::PlanParseError,
            code: error.code.to_string(),
            category: Category::Unknown,
            diagnostic: error.diagnostic,
            findings: error.findings,
        },
        is_json: error.text.is_some(),
        judged: error.text.unwrap_or_else(|| text.to_owned()),
        is_refusal: *finish == FinishReason::Refused,
        cannot_express: error.cannot_express.into_vec(),
    }
}

/// What passed the gates, unless the caller rejects it.
fn confirmed<A>(
    verdict: Verdict<A>,
    candidate: Candidate<'_>,
    config: &LoopConfig<'_, A>,
) -> Result<A, Rejection> {
    let accepted = match verdict {
        Verdict::Accepted(accepted) => accepted,
        Verdict::Rejected(rejection) => return Err(rejection),
    };
    let hook = config.on_accept.as_ref();
    match hook.map_or(Ok(()), |hook| hook(candidate, &accepted)) {
        Ok(()) => Ok(accepted),
        Err(reason) => Err(rejected_by_caller(candidate, &reason)),
    }
}

fn rejected_by_caller(candidate: Candidate<'_>, reason: &str) -> Rejection {
    let what = match candidate {
        Candidate::Plan(_) => "plan",
        Candidate::Rust(_) => "extractor",
    };
    let reason = sanitize(reason, REASON_CHARS);
    Rejection::of_no_gate(
        codes::REJECTED_BY_CALLER,
        format!(
            "The {what} passed every gate and was rejected by the program that asked for it: {reason}"
        ),
    )
}
