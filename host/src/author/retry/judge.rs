//! From an answer to a verdict: the reading of answers, the gates, and the caller's own say.

use super::{Category, Channel, GateError, Gates, LoopConfig, Rejection, Verdict};
use crate::author::answer;
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
    /// What the rejection is about: the JSON in the answer, or the answer itself where it isn't JSON.
    pub(super) judged: String,
    pub(super) is_json: bool,
    /// Whether the model, or a filter, declined to answer.
    pub(super) is_refusal: bool,
    /// What the model says that no plan can say.
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
    gates: &G,
    config: &LoopConfig<'_, G::Accepted>,
) -> Result<Result<Passed<G::Accepted>, Failed>, GateError> {
    let (answer, ending, format) = (text.to_owned(), finish.clone(), config.answer_format);
    let answer = match run_blocking(move |_| answer::read(&answer, &ending, format)).await? {
        Ok(answer) => answer,
        Err(error) => {
            let findings = gates.findings_of_answer(&error).await?;
            let rejection = Rejection {
                channel: Channel::PlanParseError,
                code: error.code.to_string(),
                category: Category::Unknown,
                diagnostic: error.diagnostic,
                findings: if findings.is_empty() { error.findings } else { findings },
            };
            return Ok(Err(Failed {
                rejection,
                is_json: error.text.is_some(),
                judged: error.text.unwrap_or_else(|| text.to_owned()),
                is_refusal: *finish == FinishReason::Refused,
                cannot_express: error.cannot_express.into_vec(),
            }));
        }
    };
    let rejection = match gates.judge(&answer.plan).await? {
        Verdict::Rejected(rejection) => rejection,
        Verdict::Accepted(accepted) => {
            let hook = config.on_accept.as_ref();
            match hook.map_or(Ok(()), |hook| hook(&answer.plan, &accepted)) {
                Ok(()) => {
                    let cannot_express = answer.cannot_express;
                    return Ok(Ok(Passed { accepted, cannot_express }));
                }
                Err(reason) => rejected_by_caller(&reason),
            }
        }
    };
    Ok(Err(Failed {
        rejection,
        judged: answer.text,
        is_json: true,
        is_refusal: false,
        cannot_express: answer.cannot_express,
    }))
}

fn rejected_by_caller(reason: &str) -> Rejection {
    let reason = sanitize(reason, REASON_CHARS);
    Rejection::of_no_gate(
        codes::REJECTED_BY_CALLER,
        format!(
            "The plan passed every gate and was rejected by the program that asked for it: {reason}"
        ),
    )
}
