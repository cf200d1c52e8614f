//! The loop itself.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use json_patch::Patch;

use super::attempt::{Attempt, AttemptKind, Record};
use super::conversation::{Conversation, Rejected};
use super::feedback::feedback;
use super::judge::{Failed, Judged, judge};
use super::usage::{Budget, Tokens};
use super::{Gates, History, LoopConfig, LoopError, Outcome, Reason};
use crate::llm::{Completion, FinishReason, LlmClient, LlmError, LlmRequest};
use crate::prompt;
use crate::repair::mechanical::{Mended, mend};
use crate::repair::{AnswerHash, Failure, RetryDecision, RetryMemory, RetryPolicy, should_retry};
use crate::task::Task;

/// Asks a model for a plan until one passes the gates, or something ends it.
///
/// Each request carries a copy of the plan schema of its own. Requests are the same, byte for byte, where task, answers,
/// verdicts and configuration are.
///
/// # Errors
/// [`LoopError`], with all that was learned so far: the task has no rule, the model gave no answer, or a gate could not do
/// its work. A plan that doesn't pass is no error: [`Outcome::ok`] tells.
pub async fn compile_with_llm<G: Gates>(
    client: &dyn LlmClient,
    task: &Task,
    gates: &G,
    config: &LoopConfig<'_, G::Accepted>,
) -> Result<Outcome<G::Accepted>, LoopError> {
    let mut run = Run {
        client,
        gates,
        config,
        budget: Budget::new(config.token_budget, config.wall_budget),
        memory: RetryMemory::default(),
        history: History { model: client.name().to_owned(), ..History::default() },
    };
    match prompt::resolution_under(task, &config.field_policy) {
        Ok(prompt) => run.run(prompt).await,
        Err(error) => Err(LoopError::new(error, run.ended())),
    }
}

/// Takes a plan through the gates, and mends it as long as there is one plain thing to do. No model is asked: the outcome's
/// first attempt is the plan as it was given, the others are mechanical.
///
/// # Errors
/// [`LoopError`], when a gate could not do its work.
pub async fn mend_plan<G: Gates>(
    plan: &str,
    gates: &G,
    config: &LoopConfig<'_, G::Accepted>,
) -> Result<Outcome<G::Accepted>, LoopError> {
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
        Turn::Accepted(accepted) => Outcome::accepted_as(accepted, run.ended()),
        Turn::Failed(standing) => {
            let Standing { open, failed, .. } = *standing;
            run.record(open, Some(&failed), None);
            Outcome::stopped(Reason::NothingCertain, Some(failed.diagnostic), run.ended())
        }
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

/// What came of one answer, after all that could be done without the model.
enum Turn<A> {
    Accepted(A),
    Failed(Box<Standing>),
}

/// A failure that the model has to be asked about.
struct Standing {
    /// The record of the attempt that failed last, still open.
    open: Open,
    failed: Failed,
    /// What the model answered, before anything was mended.
    answer: AnswerHash,
    /// The plan that the failure is about.
    judged: String,
    /// What mending has done to the answer.
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
    async fn run(mut self, prompt: String) -> Result<Outcome<G::Accepted>, LoopError> {
        let mut conversation = Conversation::new(self.config.strategy, prompt);
        if let Some(reason) = self.budget.spent(self.history.usage) {
            return Ok(Outcome::stopped(reason, None, self.ended()));
        }
        let mut last_diagnostic = None;
        loop {
            let began = Instant::now();
            let (completion, usage) = match self.call(conversation.request()).await {
                Ok(Some(answer)) => answer,
                Ok(None) => {
                    let reason = Reason::WallBudgetSpent;
                    return Ok(Outcome::stopped(reason, last_diagnostic, self.ended()));
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
                    return Ok(Outcome::accepted_as(accepted, self.ended()));
                }
                Turn::Failed(standing) => standing,
            };
            let Standing { open, failed, answer, judged, applied } = *standing;
            let failure = failed.failure(answer);
            if let Some(reason) = self.end_after(&failed, &failure) {
                self.record(open, Some(&failed), None);
                return Ok(Outcome::stopped(reason, Some(failed.diagnostic), self.ended()));
            }
            self.memory.remember(&failure);
            let told = feedback(&failed.diagnostic, &failed.findings, &applied, &failure);
            self.record(open, Some(&failed), Some(told.clone()));
            conversation.go_on(Rejected {
                response: &text,
                judged: &judged,
                was_mended: !applied.is_empty(),
                feedback: &told,
            });
            last_diagnostic = Some(failed.diagnostic);
        }
    }

    /// Calls the model; `None` when the time was spent before it answered.
    async fn call(
        &mut self,
        request: LlmRequest,
    ) -> Result<Option<(Completion, Tokens)>, LlmError> {
        let free = !self.client.costs_tokens();
        let asked = if free { Tokens::default() } else { Tokens::of_request(&request) };
        let answer = self.client.generate_json(request);
        let answered = match self.budget.time_left() {
            None => Some(answer.await),
            Some(left) => tokio::time::timeout(left, answer).await.ok(),
        };
        match answered {
            Some(Ok(completion)) => {
                let cost = match completion.usage {
                    None if free => asked,
                    _ => Tokens::of_completion(&completion, asked),
                };
                self.history.usage.add(cost);
                Ok(Some((completion, cost)))
            }
            Some(Err(error)) => {
                if was_read(&error) {
                    self.history.usage.add(asked);
                }
                Err(error)
            }
            None => {
                self.history.usage.add(asked);
                Ok(None)
            }
        }
    }

    /// Judges an answer, and mends it as long as there is one plain thing to do.
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
            let failed = match judge(&open.response, finish, self.gates, self.config).await {
                Ok(Judged::Failed(failed)) => *failed,
                Ok(Judged::Accepted(accepted)) => {
                    self.record(open, None, None);
                    return Ok(Turn::Accepted(accepted));
                }
                Err(error) => {
                    self.record(open, Some(&Failed::of_gate(&error)), None);
                    return Err(LoopError::new(error, self.ended()));
                }
            };
            let judged = failed.json.clone().unwrap_or_else(|| open.response.clone());
            let hash = AnswerHash::of(&judged);
            let answer = answer.get_or_insert_with(|| hash.clone());
            seen.insert(hash);
            let may_mend = rounds < self.config.mechanical_rounds
                && self.budget.time_left() != Some(Duration::ZERO);
            let mended = if may_mend { mended(&failed, &seen) } else { None };
            let Some(Mended { text, patch }) = mended else {
                let answer = answer.clone();
                let standing = Standing { open, failed, answer, judged, applied };
                return Ok(Turn::Failed(Box::new(standing)));
            };
            self.record(open, Some(&failed), Some(failed.diagnostic.clone()));
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

    fn record(&mut self, open: Open, failed: Option<&Failed>, diagnostic: Option<String>) {
        let Open { kind, prompt, response, patch, usage, began } = open;
        let record = Record {
            number: self.history.attempts.len() + 1,
            kind,
            prompt,
            response,
            failure: failed.map(Failed::record),
            diagnostic,
            findings: failed.map_or_else(Vec::new, |failed| failed.findings.clone()),
            patch,
            usage,
        };
        let attempt = Attempt { record, ms: millis(began.elapsed()) };
        if let Some(watch) = &self.config.watch {
            watch(&attempt);
        }
        self.history.attempts.push(attempt);
    }

    /// What was done, at the end.
    fn ended(&mut self) -> History {
        let mut history = std::mem::take(&mut self.history);
        history.wall_ms = millis(self.budget.elapsed());
        history
    }
}

/// What mending makes of an answer, unless there is nothing certain to do, or it gives a plan that failed already.
fn mended(failed: &Failed, seen: &BTreeSet<AnswerHash>) -> Option<Mended> {
    let mended = mend(failed.json.as_deref()?, &failed.findings)?;
    (!seen.contains(&AnswerHash::of(&mended.text))).then_some(mended)
}

/// Whether the question was read all the same, so that it was paid for though no answer came of it.
fn was_read(error: &LlmError) -> bool {
    matches!(error, LlmError::Timeout { .. } | LlmError::Protocol { .. } | LlmError::Record { .. })
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
