//! Why a model gave no answer.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;

/// Why a call to a model gave no answer. What a provider said is escaped and bounded, and holds no key.
///
/// Serialised, it is an object with the stable code as `code` and the fields beside it; a time is in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(tag = "code")]
#[non_exhaustive]
pub enum LlmError {
    /// The client can't be used as it is configured: no key, an unknown provider, a URL that isn't one.
    #[error("the model can't be used: {message}")]
    #[serde(rename = "model_config")]
    Config {
        /// What is missing or wrong.
        message: String,
    },
    /// There is nothing to sketch: the graph spec has no entity with a key.
    #[error("no first sketch: {message}")]
    #[serde(rename = "draft_no_entity")]
    DraftNoEntity {
        /// What was expected and what was found.
        message: String,
    },
    /// The events hold too little that clearly is what the graph spec asks for.
    #[error("no first sketch: {message}")]
    #[serde(rename = "draft_no_key")]
    DraftNoKey {
        /// What was expected and what was found.
        message: String,
    },
    /// The search for a first sketch took too long.
    #[error("no first sketch: {message}")]
    #[serde(rename = "draft_limit")]
    DraftLimit {
        /// What was expected and what was found.
        message: String,
    },
    /// The provider refused the key.
    #[error("{model} refused the credentials (HTTP {status}): {message}")]
    #[serde(rename = "model_unauthorized")]
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
    #[serde(rename = "model_quota")]
    Quota {
        /// The model's name in records.
        model: String,
        /// What the provider said.
        message: String,
    },
    /// Any other status that isn't success.
    #[error("{model} answered with HTTP {status}: {message}")]
    #[serde(rename = "model_status")]
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
    #[serde(rename = "model_unreachable")]
    Transport {
        /// The model's name in records.
        model: String,
        /// What happened.
        message: String,
    },
    /// No answer in time.
    #[error("{model} gave no answer within {} s", .after.as_secs_f64())]
    #[serde(rename = "model_timeout")]
    Timeout {
        /// The model's name in records.
        model: String,
        /// How long it was waited for.
        #[serde(rename = "after_ms", with = "milliseconds")]
        after: Duration,
    },
    /// The provider answered, and not in its own protocol.
    #[error("{model} answered with something else than its protocol says: {message}")]
    #[serde(rename = "model_protocol")]
    Protocol {
        /// The model's name in records.
        model: String,
        /// What was expected and what was found.
        message: String,
    },
    /// A program that stands for a model failed.
    #[error("{model} failed: {message}")]
    #[serde(rename = "model_command_failed")]
    Command {
        /// The model's name in records.
        model: String,
        /// How it ended, and the last of what it wrote to stderr.
        message: String,
    },
    /// The transcript of the calls can't be written.
    #[error("the transcript of {model} can't be written: {message}")]
    #[serde(rename = "model_record_failed")]
    Record {
        /// The model's name in records.
        model: String,
        /// What happened.
        message: String,
    },
    /// A recorded transcript holds no further answer, or isn't one.
    #[error("{model}: {message}")]
    #[serde(rename = "model_replay_failed")]
    Replay {
        /// The model's name in records.
        model: String,
        /// What was expected and what was found.
        message: String,
    },
}

impl LlmError {
    /// The words in it that may be somebody else's.
    pub(super) fn message_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Config { message }
            | Self::DraftNoEntity { message }
            | Self::DraftNoKey { message }
            | Self::DraftLimit { message }
            | Self::Unauthorized { message, .. }
            | Self::Quota { message, .. }
            | Self::Status { message, .. }
            | Self::Transport { message, .. }
            | Self::Protocol { message, .. }
            | Self::Command { message, .. }
            | Self::Record { message, .. }
            | Self::Replay { message, .. } => Some(message),
            Self::Timeout { .. } => None,
        }
    }
}

impl Coded for LlmError {
    fn entry(&self) -> Code {
        match self {
            Self::Config { .. } => codes::MODEL_CONFIG,
            Self::DraftNoEntity { .. } => codes::DRAFT_NO_ENTITY,
            Self::DraftNoKey { .. } => codes::DRAFT_NO_KEY,
            Self::DraftLimit { .. } => codes::DRAFT_LIMIT,
            Self::Unauthorized { .. } => codes::MODEL_UNAUTHORIZED,
            Self::Quota { .. } => codes::MODEL_QUOTA,
            Self::Status { .. } => codes::MODEL_STATUS,
            Self::Transport { .. } => codes::MODEL_UNREACHABLE,
            Self::Timeout { .. } => codes::MODEL_TIMEOUT,
            Self::Protocol { .. } => codes::MODEL_PROTOCOL,
            Self::Command { .. } => codes::MODEL_COMMAND_FAILED,
            Self::Record { .. } => codes::MODEL_RECORD_FAILED,
            Self::Replay { .. } => codes::MODEL_REPLAY_FAILED,
        }
    }
}

/// A time as a whole number of milliseconds.
mod milliseconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_millis)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_error_is_stored_under_its_code_and_read_back() {
        // All of the model's stage that begin with its name but `model_refused`, which an answer gives.
        let codes = || {
            codes::all()
                .map(|code| code.name)
                .filter(|code| code.starts_with("model_") && *code != "model_refused")
        };
        assert_eq!(codes().count(), 10);
        let of_every_kind = codes().map(|code| {
            let fields = json!({"code": code, "model": "m", "message": "x", "status": 418, "after_ms": 1500});
            serde_json::from_value::<LlmError>(fields).unwrap_or_else(|error| panic!("{code}: {error}"))
        });
        for (error, code) in of_every_kind.zip(codes()) {
            assert_eq!(error.code(), code);
            let stored = serde_json::to_value(&error).map(serde_json::from_value::<LlmError>);
            assert_eq!(stored.ok().and_then(Result::ok), Some(error));
        }
    }
}
