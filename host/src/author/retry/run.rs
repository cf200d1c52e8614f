//! The loop itself.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use json_patch::Patch;

use super::attempt::{Attempt, AttemptKind, AttemptRecord};
use super::conversation::{Conversation, FailedTurn};
use super::feedback::feedback;
use super::judge::{Failed, Judged, judge};
use super::usage::{Budget, Tokens};
use super::{GateError, Gates, History, LoopConfig, LoopError, LoopOutcome, Reason, Rejection};
use crate::author::llm::{Completion, FinishReason, LlmClient, LlmError, LlmRequest};
use crate::author::prompt;
use crate::author::repair::mechanical::{Fixed, apply_fixes};
use crate::author::repair::{
    AnswerHash, Failure, RetryDecision, RetryMemory, RetryPolicy, should_retry,
};
use crate::bundle::background::run_blocking;
use crate::diagnostics::codes;
use crate::diagnostics::problem::Coded;
use crate::evidence::Task;
use crate::evidence::effort::Cancel;

/// How many findings are kept of an attempt. An answer of some megabytes may hold as many faults as it has bytes.
const MAX_FINDINGS: usize = 100;

/// Asks a model for a plan until one passes the gates, or something ends it.
///
/// Each request carries a copy of the plan schema of its own. Requests are the same, byte for byte, where task, answers,
/// verdicts and configuration are.
///
/// # Errors
/// [`LoopError`], with all that was learned so far: the task has no rule, the model gave no answer, or a gate could not do
/// its work. A plan that doesn't pass is no error: [`LoopOutcome::ok`] says.
pub async fn compile_with_llm<G: Gates>(
    client: &dyn LlmClient,
    task: &Task,
    gates: &G,
    config: &LoopConfig<'_, G::Accepted>,
) -> Result<LoopOutcome<G::Accepted>, LoopError> {
    let mut run = Run {
        client,
        gates,
        config,
        budget: Budget::new(config.token_budget, config.wall_budget),
        memory: RetryMemory::default(),
        history: History { model: client.name().to_owned(), ..History::default() },
    };
    match prompt::resolution_under(task, &gates.field_policy()) {
        Ok(prompt) => run.run(prompt).await,
        Err(error) => Err(LoopError::new(error, run.ended())),
    }
}

/// Takes a plan through the gates, and repairs it as long as there is one plain thing to do. No model is asked: the outcome's
/// first attempt is the plan as it was given, the others are mechanical.
///
/// # Errors
/// [`LoopError`], when a gate could not do its work.
pub async fn repair_plan<G: Gates>(
    plan: &str,
    gates: &G,
    config: &LoopConfig<'_, G::Accepted>,
) -> Result<LoopOutcome<G::Accepted>, LoopError> {
    let mut run = Run {
        client: &Nobody,
        gates,
        config,
        budget: Budget::new(config.token_budget, config.wall_budget),
        memory: RetryMemory::default(),
        history: History { model: Nobody.name().to_owned(), ..History::default() },
    };
    let open = Open {
        kind: AttemptKind::Given,
        prompt: None,
        response: plan.to_owned(),
        patch: None,
        usage: Tokens::default(),
        began: Instant::now(),
    };
    Ok(match run.turn(open, &FinishReason::Stop).await? {
        Turn::Accepted(accepted) => LoopOutcome::accepted_as(accepted, run.ended()),
        Turn::Failed(standing) => {
            let Standing { open, failed, .. } = *standing;
            run.stop(Reason::NothingCertain, open, &failed.rejection)
        }
        Turn::OutOfTime(open, rejection) => run.stop(Reason::WallBudgetSpent, open, &rejection),
    })
}

/// In the place of a model where none is asked.
struct Nobody;

#[async_trait]
impl LlmClient for Nobody {
    fn name(&self) -> &'static str {
        "none"
    }

    async fn generate_json(&self, _request: LlmRequest) -> Result<Completion, LlmError> {
        Err(LlmError::Config { message: "there is no model to be asked".to_owned() })
    }
}

struct Run<'a, 'c, G: Gates> {
    client: &'a dyn LlmClient,
    gates: &'a G,
    config: &'a LoopConfig<'c, G::Accepted>,
    budget: Budget,
    memory: RetryMemory,
    history: History,
}

/// What came of a call.
enum Called {
    Answered(Completion, Tokens),
    /// It was not made for want of tokens, or not waited for any longer for want of time.
    GivenUp(Reason),
}

/// What came of one answer, after all that could be done without the model.
enum Turn<A> {
    Accepted(A),
    Failed(Box<Standing>),
    /// The time was spent before it was judged, or before it was known whether to repair it.
    OutOfTime(Open, Rejection),
}

/// A failure that the model has to be asked about.
struct Standing {
    /// The record of the attempt that failed last, still open.
    open: Open,
    failed: Arc<Failed>,
    /// What the model answered, before anything was repaired.
    answer: AnswerHash,
    /// The plan that the failure is about.
    judged: String,
    /// What repair has done to the answer.
    applied: Patch,
}

/// An attempt that isn't recorded yet.
struct Open {
    kind: AttemptKind,
    prompt: Option<String>,
    response: String,
    patch: Option<Patch>,
    usage: Tokens,
    began: Instant,
}

impl<G: Gates> Run<'_, '_, G> {
    async fn run(mut self, prompt: String) -> Result<LoopOutcome<G::Accepted>, LoopError> {
        let mut conversation = Conversation::new(self.config.strategy, prompt);
        if let Some(reason) = self.budget.spent(self.history.usage) {
            return Ok(LoopOutcome::stopped(reason, None, self.ended()));
        }
        let mut last_diagnostic = None;
        loop {
            let began = Instant::now();
            let (completion, usage) = match self.call(conversation.request()).await {
                Ok(Called::Answered(completion, usage)) => (completion, usage),
                Ok(Called::GivenUp(reason)) => {
                    return Ok(LoopOutcome::stopped(reason, last_diagnostic, self.ended()));
                }
                Err(error) => return Err(LoopError::new(error, self.ended())),
            };
            let Completion { text, finish_reason, .. } = completion;
            let open = Open {
                kind: AttemptKind::Model,
                prompt: Some(conversation.last().to_owned()),
                response: text.clone(),
                patch: None,
                usage,
                began,
            };
            let standing = match self.turn(open, &finish_reason).await? {
                Turn::Accepted(accepted) => {
                    return Ok(LoopOutcome::accepted_as(accepted, self.ended()));
                }
                Turn::Failed(standing) => standing,
                Turn::OutOfTime(open, rejection) => {
                    return Ok(self.stop(Reason::WallBudgetSpent, open, &rejection));
                }
            };
            let Standing { open, failed, answer, judged, applied } = *standing;
            let failure = failed.rejection.failure(answer);
            if let Some(reason) = self.end_after(&failed, &failure) {
                return Ok(self.stop(reason, open, &failed.rejection));
            }
            self.memory.remember(&failure);
            let reported = Arc::clone(&failed);
            let going_on = move |_: &Cancel| {
                let feedback_text = feedback(&reported.rejection, &applied, &failure);
                conversation.go_on(FailedTurn {
                    response: &text,
                    judged: &judged,
                    was_repaired: !applied.is_empty(),
                    feedback: &feedback_text,
                });
                (conversation, feedback_text)
            };
            let feedback_text = match self.in_time(run_blocking(going_on)).await {
                Some(Ok((next, feedback_text))) => {
                    conversation = next;
                    feedback_text
                }
                Some(Err(error)) => return Err(self.break_off(open, error.into())),
                None => return Ok(self.stop(Reason::WallBudgetSpent, open, &failed.rejection)),
            };
            self.record(open, Some(&failed.rejection), Some(feedback_text));
            last_diagnostic = Some(failed.rejection.diagnostic.clone());
        }
    }

    /// Waits as long as there is time; `None` when it was spent first.
    async fn in_time<F: Future>(&self, future: F) -> Option<F::Output> {
        match self.budget.time_left() {
            None => Some(future.await),
            Some(left) => tokio::time::timeout(left, future).await.ok(),
        }
    }

    /// Calls the model, if that can be afforded.
    async fn call(&mut self, request: LlmRequest) -> Result<Called, LlmError> {
        let free = !self.client.costs_tokens();
        let asked = if free { Tokens::default() } else { Tokens::of_request(&request) };
        if !self.budget.affords(self.history.usage, asked) {
            return Ok(Called::GivenUp(Reason::TokenBudgetSpent));
        }
        let answer = self.client.generate_json(request);
        match self.in_time(answer).await {
            Some(Ok(completion)) => {
                let cost = match Tokens::reported(&completion) {
                    Some(reported) => reported,
                    None if free => asked,
                    None => Tokens::of_answer(&completion, asked),
                };
                self.history.usage.add(cost);
                Ok(Called::Answered(completion, cost))
            }
            Some(Err(error)) => {
                if was_read(&error) {
                    self.history.usage.add(asked);
                }
                Err(error)
            }
            None => {
                self.history.usage.add(asked);
                Ok(Called::GivenUp(Reason::WallBudgetSpent))
            }
        }
    }

    /// Judges an answer, and repairs it as long as there is one plain thing to do.
    async fn turn(
        &mut self,
        mut open: Open,
        finish: &FinishReason,
    ) -> Result<Turn<G::Accepted>, LoopError> {
        let mut finish = finish;
        let mut applied = Patch::default();
        let mut answer = None;
        let mut seen = BTreeSet::new();
        let mut rounds = 0;
        loop {
            let judging = judge(&open.response, finish, self.gates, self.config);
            let failed = match self.in_time(judging).await {
                Some(Ok(Judged::Failed(failed))) => Arc::new(*failed),
                Some(Ok(Judged::Accepted(accepted))) => {
                    self.record(open, None, None);
                    return Ok(Turn::Accepted(accepted));
                }
                Some(Err(error)) => return Err(self.break_off(open, error)),
                None => {
                    let diagnostic =
                        "The time that all of it may take was spent before this answer was judged";
                    let code = codes::GATES_INTERRUPTED;
                    let rejection = Rejection::of_no_gate(code, diagnostic.to_owned());
                    return Ok(Turn::OutOfTime(open, rejection));
                }
            };
            let judged = failed.json.clone().unwrap_or_else(|| open.response.clone());
            let may_repair = rounds < self.config.mechanical_rounds;
            let to_repair = Arc::clone(&failed);
            let repairing = move |_: &Cancel| {
                let hash = AnswerHash::of(&judged);
                seen.insert(hash.clone());
                let repaired = if may_repair { repaired(&to_repair, &seen) } else { None };
                (judged, hash, seen, repaired)
            };
            let (judged, hash, repaired) = match self.in_time(run_blocking(repairing)).await {
                Some(Ok((judged, hash, before, repaired))) => {
                    seen = before;
                    (judged, hash, repaired)
                }
                Some(Err(error)) => return Err(self.break_off(open, error.into())),
                None => return Ok(Turn::OutOfTime(open, failed.rejection.clone())),
            };
            let answer = answer.get_or_insert(hash);
            let Some(Fixed { text, patch }) = repaired else {
                let answer = answer.clone();
                let standing = Standing { open, failed, answer, judged, applied };
                return Ok(Turn::Failed(Box::new(standing)));
            };
            self.record(open, Some(&failed.rejection), Some(failed.rejection.diagnostic.clone()));
            applied.0.extend(patch.0.iter().cloned());
            finish = &FinishReason::Stop;
            open = Open {
                kind: AttemptKind::Mechanical,
                prompt: None,
                response: text,
                patch: Some(patch),
                usage: Tokens::default(),
                began: Instant::now(),
            };
            rounds += 1;
        }
    }

    /// Why the model isn't asked again, if it isn't.
    fn end_after(&self, failed: &Failed, failure: &Failure) -> Option<Reason> {
        if failed.ends_with.is_some() {
            return failed.ends_with;
        }
        let max_attempts = self.config.max_attempts;
        let decision = match &self.config.repetition {
            Some(policy) => {
                let policy = RetryPolicy { max_attempts, ..policy.clone() };
                should_retry(&policy, &self.memory, failure)
            }
            None => match max_attempts.saturating_sub(self.memory.attempts() + 1) {
                0 => RetryDecision::MaxAttemptsReached,
                attempts_left => RetryDecision::Retry { attempts_left },
            },
        };
        match decision {
            RetryDecision::MaxAttemptsReached => Some(Reason::MaxAttemptsReached),
            RetryDecision::RepeatedFailure => Some(Reason::RepeatedFailure),
            RetryDecision::Escalate { .. } => Some(Reason::Escalated),
            RetryDecision::Retry { .. } => self.budget.spent(self.history.usage),
        }
    }

    fn record(&mut self, open: Open, rejection: Option<&Rejection>, diagnostic: Option<String>) {
        let Open { kind, prompt, response, patch, usage, began } = open;
        let found = rejection.map_or(&[][..], |rejection| &rejection.findings);
        let kept = &found[..found.len().min(MAX_FINDINGS)];
        let record = AttemptRecord {
            number: self.history.attempts.len() + 1,
            kind,
            prompt,
            response,
            failure: rejection.map(Rejection::record),
            diagnostic,
            findings: kept.to_vec(),
            findings_left_out: found.len() - kept.len(),
            patch,
            usage,
        };
        let attempt = Attempt { record, ms: millis(began.elapsed()) };
        if let Some(watch) = &self.config.watch {
            watch(&attempt);
        }
        self.history.attempts.push(attempt);
    }

    /// Ends with an attempt that failed.
    fn stop(
        &mut self,
        reason: Reason,
        open: Open,
        rejection: &Rejection,
    ) -> LoopOutcome<G::Accepted> {
        self.record(open, Some(rejection), None);
        LoopOutcome::stopped(reason, Some(rejection.diagnostic.clone()), self.ended())
    }

    /// Ends with an attempt that could not be judged.
    fn break_off(&mut self, open: Open, error: GateError) -> LoopError {
        let rejection = Rejection::of_no_gate(error.entry(), error.to_string());
        self.record(open, Some(&rejection), None);
        LoopError::new(error, self.ended())
    }

    /// What was done, at the end.
    fn ended(&mut self) -> History {
        let mut history = std::mem::take(&mut self.history);
        history.wall_ms = millis(self.budget.elapsed());
        history
    }
}

/// What repair makes of an answer, unless there is nothing certain to do, or it gives a plan that failed already.
fn repaired(failed: &Failed, seen: &BTreeSet<AnswerHash>) -> Option<Fixed> {
    let repaired = apply_fixes(failed.json.as_deref()?, &failed.rejection.findings)?;
    (!seen.contains(&AnswerHash::of(&repaired.text))).then_some(repaired)
}

/// Whether the question was read all the same, so that it was paid for though no answer came of it.
fn was_read(error: &LlmError) -> bool {
    matches!(error, LlmError::Timeout { .. } | LlmError::Protocol { .. } | LlmError::Record { .. })
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
