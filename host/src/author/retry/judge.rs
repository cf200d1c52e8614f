//! From an answer to a verdict: the reading of answers, the gates, and the caller's own say.

use super::{Category, Channel, GateError, Gates, LoopConfig, Reason, Rejection, Verdict};
use crate::author::answer::{self, AnswerError};
use crate::author::llm::FinishReason;
use crate::bundle::background::run_blocking;
use crate::diagnostics::codes;
use crate::diagnostics::finding::Finding;
use crate::diagnostics::untrusted::sanitize;

/// How much of a caller's reason is repeated, in characters.
const REASON_CHARS: usize = 1_000;

/// What became of an answer.
pub(super) enum Judged<A> {
    Accepted(A),
    Failed(Box<Failed>),
}

/// An answer that was rejected.
#[derive(Clone, Debug)]
pub(super) struct Failed {
    pub(super) rejection: Rejection,
    /// The JSON that was judged, if the answer is JSON.
    pub(super) json: Option<String>,
    /// Why the model won't be asked again, if that is so.
    pub(super) ends_with: Option<Reason>,
}

impl Failed {
    fn of_answer(error: AnswerError, findings: Vec<Finding>, finish: &FinishReason) -> Self {
        let rejection = Rejection {
            channel: Channel::PlanParseError,
            code: error.code.to_string(),
            category: Category::Unknown,
            diagnostic: error.diagnostic,
            findings: if findings.is_empty() { error.findings } else { findings },
        };
        let refused = *finish == FinishReason::Refused;
        Self { rejection, json: error.text, ends_with: refused.then_some(Reason::Refused) }
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
    let answer = match run_blocking(move |_| answer::read(&text, &ending, format)).await? {
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
    Ok(Judged::Failed(Box::new(Failed { rejection, json: Some(answer.text), ends_with: None })))
}

fn rejected_by_caller(reason: &str) -> Rejection {
    let reason = sanitize(reason, REASON_CHARS);
    Rejection::of_no_gate(
        codes::REJECTED_BY_CALLER,
        format!(
            "The plan passed every gate and was turned down by the program that asked for it: {reason}"
        ),
    )
}
