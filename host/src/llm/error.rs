//! Why a model gave no answer.

use std::time::Duration;

use thiserror::Error;

use crate::problem::Coded;

/// Why a call to a model gave no answer. What a provider said is escaped and bounded, and holds no key.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LlmError {
    /// The client can't be used as it is configured: no key, an unknown provider, a URL that isn't one.
    #[error("the model can't be used: {message}")]
    Config {
        /// What is missing or wrong.
        message: String,
    },
    /// The provider refused the key.
    #[error("{model} refused the credentials (HTTP {status}): {message}")]
    Unauthorized {
        /// The model's name in records.
        model: String,
        /// The HTTP status.
        status: u16,
        /// What the provider said.
        message: String,
    },
    /// Too many requests, or a quota is spent.
    #[error("{model} is out of quota or asked too often (HTTP 429): {message}")]
    Quota {
        /// The model's name in records.
        model: String,
        /// What the provider said.
        message: String,
    },
    /// Any other status that isn't success.
    #[error("{model} answered with HTTP {status}: {message}")]
    Status {
        /// The model's name in records.
        model: String,
        /// The HTTP status.
        status: u16,
        /// What the provider said.
        message: String,
    },
    /// The provider can't be reached, or the connection broke.
    #[error("{model} can't be reached: {message}")]
    Transport {
        /// The model's name in records.
        model: String,
        /// What happened.
        message: String,
    },
    /// No answer in time.
    #[error("{model} gave no answer within {} s", .after.as_secs_f64())]
    Timeout {
        /// The model's name in records.
        model: String,
        /// How long it was waited for.
        after: Duration,
    },
    /// The provider answered, and not in its own protocol.
    #[error("{model} answered with something else than its protocol says: {message}")]
    Protocol {
        /// The model's name in records.
        model: String,
        /// What was expected and what was found.
        message: String,
    },
    /// A program that stands for a model failed.
    #[error("{model} failed: {message}")]
    Command {
        /// The model's name in records.
        model: String,
        /// How it ended, and the last of what it wrote to stderr.
        message: String,
    },
    /// A recorded transcript holds no further answer, or isn't one.
    #[error("{model}: {message}")]
    Replay {
        /// The model's name in records.
        model: String,
        /// What was expected and what was found.
        message: String,
    },
}

impl LlmError {
    /// Every code of this error.
    pub const CODES: &'static [&'static str] = &[
        "model_config",
        "model_unauthorized",
        "model_quota",
        "model_status",
        "model_unreachable",
        "model_timeout",
        "model_protocol",
        "model_command_failed",
        "model_replay_failed",
    ];
}

impl Coded for LlmError {
    fn code(&self) -> &'static str {
        match self {
            Self::Config { .. } => "model_config",
            Self::Unauthorized { .. } => "model_unauthorized",
            Self::Quota { .. } => "model_quota",
            Self::Status { .. } => "model_status",
            Self::Transport { .. } => "model_unreachable",
            Self::Timeout { .. } => "model_timeout",
            Self::Protocol { .. } => "model_protocol",
            Self::Command { .. } => "model_command_failed",
            Self::Replay { .. } => "model_replay_failed",
        }
    }
}
