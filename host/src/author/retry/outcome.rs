//! How a loop ended.

use std::time::Duration;

use serde::Serialize;
use thiserror::Error;

use super::usage::Tokens;
use super::{Attempt, GateError};
use crate::author::backend::Backend;
use crate::author::llm::LlmError;
use crate::author::prompt::PromptError;
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;

/// Why a loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// A plan, or an extractor in Rust, passed every gate.
    Succeeded,
    /// Every attempt failed.
    MaxAttemptsReached,
    /// The same failure came too often.
    RepeatedFailure,
    /// No tokens are left, or fewer than the next prompt alone would cost.
    TokenBudgetSpent,
    /// No time is left. What was being done is given up, the judging of an answer included.
    WallBudgetSpent,
    /// The model, or a filter before or after it, declined to answer.
    Refused,
    /// The policy gives failures of this kind, or of this code, to a person.
    Escalated,
    /// The model says that no plan can say what the rule asks for, or no extractor do it, and gave none.
    CannotExpress,
    /// There is no model to be asked, and nothing more that could be repaired without one.
    NothingCertain,
}

impl Reason {
    /// The reason's name, the same as the serialised form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::MaxAttemptsReached => codes::MAX_ATTEMPTS_REACHED.name,
            Self::RepeatedFailure => codes::REPEATED_FAILURE.name,
            Self::TokenBudgetSpent => codes::TOKEN_BUDGET_SPENT.name,
            Self::WallBudgetSpent => codes::WALL_BUDGET_SPENT.name,
            Self::Refused => codes::REFUSED.name,
            Self::Escalated => codes::ESCALATED.name,
            Self::CannotExpress => codes::CANNOT_EXPRESS.name,
            Self::NothingCertain => codes::NOTHING_CERTAIN.name,
        }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What was done, whether it succeeded or not.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct History {
    /// What the model is called.
    pub model: String,
    /// What it was asked for; not serialised where it was plans alone.
    #[serde(skip_serializing_if = "Backend::is_plan")]
    pub backend: Backend,
    /// Every attempt, oldest first.
    pub attempts: Vec<Attempt>,
    /// What all calls together cost, those included that gave no answer.
    pub usage: Tokens,
    /// How long all of it took, in milliseconds.
    pub wall_ms: u64,
}

impl History {
    /// How long all of it took.
    #[must_use]
    pub fn wall_time(&self) -> Duration {
        Duration::from_millis(self.wall_ms)
    }
}

/// How a loop ended that came to its end: with something that passed, or without.
///
/// Serialises to `{"ok", "reason", "last_diagnostic", "model", "attempts", "usage", "wall_ms"}`; what was accepted is left out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoopOutcome<A> {
    ok: bool,
    reason: Reason,
    last_diagnostic: Option<String>,
    #[serde(flatten)]
    history: History,
    #[serde(skip)]
    accepted: Option<A>,
}

impl<A> LoopOutcome<A> {
    pub(super) fn accepted_as(accepted: A, history: History) -> Self {
        let accepted = Some(accepted);
        Self { ok: true, reason: Reason::Succeeded, last_diagnostic: None, history, accepted }
    }

    pub(super) fn stopped(
        reason: Reason,
        last_diagnostic: Option<String>,
        history: History,
    ) -> Self {
        Self { ok: false, reason, last_diagnostic, history, accepted: None }
    }

    /// Whether anything passed.
    #[must_use]
    pub fn ok(&self) -> bool {
        self.ok
    }

    /// Why the loop ended.
    #[must_use]
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// What passed.
    #[must_use]
    pub fn accepted(&self) -> Option<&A> {
        self.accepted.as_ref()
    }

    /// What passed, for keeps, with what was done.
    #[must_use]
    pub fn into_parts(self) -> (Option<A>, History) {
        (self.accepted, self.history)
    }

    /// Every attempt, oldest first.
    #[must_use]
    pub fn attempts(&self) -> &[Attempt] {
        &self.history.attempts
    }

    /// The attempt that was accepted. It needn't be the last one: a plan that leaves something out is kept while Rust is tried.
    #[must_use]
    pub fn accepted_attempt(&self) -> Option<&Attempt> {
        self.accepted.as_ref()?;
        self.attempts().iter().rev().find(|attempt| attempt.record.failure.is_none())
    }

    /// The diagnostic of the failure that ended the loop. No record has it, since it was fed to no further attempt.
    #[must_use]
    pub fn last_diagnostic(&self) -> Option<&str> {
        self.last_diagnostic.as_deref()
    }

    /// Attempts, cost and time.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.history
    }
}

/// Why a loop broke off. What was learned so far comes with it.
#[derive(Debug, Error)]
#[error("{cause}")]
pub struct LoopError {
    cause: LoopCause,
    history: Box<History>,
}

impl LoopError {
    pub(super) fn new(cause: impl Into<LoopCause>, history: History) -> Self {
        Self { cause: cause.into(), history: Box::new(history) }
    }

    /// What failed.
    #[must_use]
    pub fn cause(&self) -> &LoopCause {
        &self.cause
    }

    /// Attempts, cost and time up to then.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.history
    }
}

impl Coded for LoopError {
    fn entry(&self) -> Code {
        match &self.cause {
            LoopCause::Prompt(error) => error.entry(),
            LoopCause::Model(error) => error.entry(),
            LoopCause::Gate(error) => error.entry(),
        }
    }
}

/// What made a loop break off.
#[derive(Debug, Error)]
pub enum LoopCause {
    /// There is nothing to ask: no call was made.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// The model gave no answer.
    #[error(transparent)]
    Model(#[from] LlmError),
    /// A gate could not do its work.
    #[error(transparent)]
    Gate(#[from] GateError),
}
