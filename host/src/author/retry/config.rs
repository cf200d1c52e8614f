//! How the loop goes about its work.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Attempt;
use crate::author::answer::AnswerFormat;
use crate::author::backend::{Backend, Candidate};
use crate::author::repair::RetryPolicy;
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;

/// How many answers a model may give where nobody says otherwise.
pub const DEFAULT_MAX_ATTEMPTS: usize = 5;

/// How often one answer is repaired before the model is asked again.
const DEFAULT_MECHANICAL_ROUNDS: usize = 4;

/// What a model is shown when it is asked again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetryStrategy {
    /// The original prompt with the latest answer and diagnostic. Prompts don't grow from attempt to attempt.
    #[default]
    Fresh,
    /// The whole conversation so far, of each answer at most 32,000 characters. The model sees all that it tried; prompts
    /// grow.
    Continue,
}

/// A configuration that makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// A model has to be asked at least once.
    #[error("max_attempts: expected 1 or more, found {found}")]
    MaxAttempts {
        /// What was asked for.
        found: i64,
    },
}

impl Coded for ArgumentError {
    fn entry(&self) -> Code {
        match self {
            Self::MaxAttempts { .. } => codes::MAX_ATTEMPTS_TOO_SMALL,
        }
    }
}

/// A caller's own say about what passed every gate; the reason, where it rejects it.
type OnAccept<'a, A> = Box<dyn Fn(Candidate<'_>, &A) -> Result<(), String> + Send + Sync + 'a>;

/// Who is shown the attempts.
type Watch<'a> = Box<dyn Fn(&Attempt) + Send + Sync + 'a>;

/// How the loop goes about its work. `A` is what the gates accept.
///
/// # Example
/// ```
/// use std::time::Duration;
/// use retort::Coded;
/// use retort::author::LoopConfig;
///
/// let config = LoopConfig::<()>::builder()
///     .max_attempts(3)
///     .token_budget(50_000)
///     .wall_budget(Duration::from_secs(120))
///     .watch(|attempt| tracing_of_your_own(attempt.record.number))
///     .build()?;
/// # fn tracing_of_your_own(_: usize) {}
///
/// let refused = LoopConfig::<()>::builder().max_attempts(0).build().unwrap_err();
/// assert_eq!(refused.code(), "max_attempts_too_small");
/// # Ok::<(), retort::author::ArgumentError>(())
/// ```
pub struct LoopConfig<'a, A> {
    pub(super) max_attempts: usize,
    pub(super) backend: Backend,
    pub(super) strategy: RetryStrategy,
    pub(super) repetition: Option<RetryPolicy>,
    pub(super) token_budget: Option<u64>,
    pub(super) wall_budget: Option<Duration>,
    pub(super) answer_format: AnswerFormat,
    pub(super) mechanical_rounds: usize,
    pub(super) on_accept: Option<OnAccept<'a, A>>,
    pub(super) watch: Option<Watch<'a>>,
}

impl<'a, A> LoopConfig<'a, A> {
    /// A configuration with all defaults, to be altered.
    pub fn builder() -> LoopConfigBuilder<'a, A> {
        LoopConfigBuilder { max_attempts: None, config: Self::default() }
    }
}

impl<A> Default for LoopConfig<'_, A> {
    fn default() -> Self {
        Self {
            max_attempts: DEFAULT_MAX_ATTEMPTS,
            backend: Backend::default(),
            strategy: RetryStrategy::default(),
            repetition: Some(RetryPolicy::default()),
            token_budget: None,
            wall_budget: None,
            answer_format: AnswerFormat::Lenient,
            mechanical_rounds: DEFAULT_MECHANICAL_ROUNDS,
            on_accept: None,
            watch: None,
        }
    }
}

impl<A> fmt::Debug for LoopConfig<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoopConfig")
            .field("max_attempts", &self.max_attempts)
            .field("backend", &self.backend)
            .field("strategy", &self.strategy)
            .field("repetition", &self.repetition)
            .field("token_budget", &self.token_budget)
            .field("wall_budget", &self.wall_budget)
            .field("answer_format", &self.answer_format)
            .field("mechanical_rounds", &self.mechanical_rounds)
            .finish_non_exhaustive()
    }
}

/// Makes a [`LoopConfig`].
#[derive(Debug)]
#[must_use = "nothing is configured before it is built"]
pub struct LoopConfigBuilder<'a, A> {
    max_attempts: Option<i64>,
    config: LoopConfig<'a, A>,
}

impl<'a, A> LoopConfigBuilder<'a, A> {
    /// How many answers the model may give; 5 by default. Less than 1 is refused when the configuration is built.
    pub fn max_attempts(mut self, max_attempts: i64) -> Self {
        self.max_attempts = Some(max_attempts);
        self
    }

    /// What the model is asked for; [`Backend::Plan`] by default. With [`Backend::Auto`] a plan that passes and leaves something
    /// out, as the model says itself, is kept: it is accepted after all where no Rust passes in the attempts that are left.
    pub fn backend(mut self, backend: Backend) -> Self {
        self.config.backend = backend;
        self
    }

    /// What the model is shown when it is asked again; [`RetryStrategy::Fresh`] by default.
    pub fn strategy(mut self, strategy: RetryStrategy) -> Self {
        self.config.strategy = strategy;
        self
    }

    /// When to stop early, because failures repeat or are a person's business; on by default. `None` switches it off.
    pub fn repetition(mut self, policy: impl Into<Option<RetryPolicy>>) -> Self {
        self.config.repetition = policy.into();
        self
    }

    /// How many tokens all calls together may cost; no bound by default. No call is made once it is spent, nor one whose
    /// prompt alone would cost more than what is left, by estimate. What an answer costs is known when it is there, so the
    /// last call may exceed what was left; an answer whose cost isn't reported, or reported with no tokens of input, is
    /// counted by estimate, never as nothing.
    pub fn token_budget(mut self, tokens: impl Into<Option<u64>>) -> Self {
        self.config.token_budget = tokens.into();
        self
    }

    /// How long all of it may take; no bound by default. When it is spent nothing is begun any more, and nothing waited for:
    /// neither the model nor the reading, repairing and judging of its answer. The thread on which a gate judges then ends with the
    /// sample or the step of a search that it is at, and doesn't count. Needs a tokio runtime with its clock
    /// enabled.
    pub fn wall_budget(mut self, time: impl Into<Option<Duration>>) -> Self {
        self.config.wall_budget = time.into();
        self
    }

    /// How answers are read; [`AnswerFormat::Lenient`] by default.
    pub fn answer_format(mut self, format: AnswerFormat) -> Self {
        self.config.answer_format = format;
        self
    }

    /// Whether plans are repaired without the model where there is one thing to do; on by default, up to 4 rounds an answer.
    pub fn repair(mut self, on: bool) -> Self {
        self.config.mechanical_rounds = if on { DEFAULT_MECHANICAL_ROUNDS } else { 0 };
        self
    }

    /// How often one answer is repaired before the model is asked again; 4 by default, 0 switches repair off.
    pub fn mechanical_rounds(mut self, rounds: usize) -> Self {
        self.config.mechanical_rounds = rounds;
        self
    }

    /// A say about everything that passed all gates. A reason rejects it: that is a failed attempt like any other, and
    /// the model is given the reason, escaped and bounded. Called on the task that runs the loop, so it shouldn't block.
    pub fn on_accept(
        mut self,
        hook: impl Fn(Candidate<'_>, &A) -> Result<(), String> + Send + Sync + 'a,
    ) -> Self {
        self.config.on_accept = Some(Box::new(hook));
        self
    }

    /// Who is shown each attempt when it ends.
    pub fn watch(mut self, watch: impl Fn(&Attempt) + Send + Sync + 'a) -> Self {
        self.config.watch = Some(Box::new(watch));
        self
    }

    /// The configuration.
    ///
    /// # Errors
    /// [`ArgumentError`], when fewer than one attempt is allowed.
    pub fn build(self) -> Result<LoopConfig<'a, A>, ArgumentError> {
        let Self { max_attempts, mut config } = self;
        if let Some(found) = max_attempts {
            if found < 1 {
                return Err(ArgumentError::MaxAttempts { found });
            }
            // More attempts than memory could hold are no bound.
            config.max_attempts = usize::try_from(found).unwrap_or(usize::MAX);
        }
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_than_one_attempt_is_refused() {
        for found in [0, -1, i64::MIN] {
            let error = LoopConfig::<()>::builder().max_attempts(found).build().expect_err("few");
            assert_eq!(error, ArgumentError::MaxAttempts { found });
        }
        let config = LoopConfig::<()>::builder().max_attempts(1).build().expect("one");
        assert_eq!(config.max_attempts, 1);
    }

    #[test]
    fn what_is_not_said_is_the_default() {
        let built = LoopConfig::<()>::builder().build().expect("defaults");
        assert_eq!(format!("{built:?}"), format!("{:?}", LoopConfig::<()>::default()));
        assert_eq!((built.max_attempts, built.mechanical_rounds), (5, 4));
    }
}
