//! What a model is asked, and what comes back.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::LlmError;

/// Who speaks in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Retort.
    User,
    /// The model.
    Assistant,
}

/// One turn of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub text: String,
}

/// What a model is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct LlmRequest {
    /// The conversation, oldest turn first; the last is a user's. A single prompt is a conversation of one turn.
    pub messages: Vec<Message>,
    /// The JSON Schema that the answer has to fit: a copy of its own for every request, since clients may alter it.
    pub schema: Value,
}

impl LlmRequest {
    /// A request of one turn.
    #[must_use]
    pub fn prompt(text: impl Into<String>, schema: Value) -> Self {
        Self { messages: vec![Message { role: Role::User, text: text.into() }], schema }
    }
}

/// What an answer cost, in tokens, as the provider reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt.
    pub input_tokens: u64,
    /// Tokens of the answer.
    pub output_tokens: u64,
}

/// Why an answer ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model was done.
    #[default]
    Stop,
    /// The answer was cut off: it reached a limit on its length.
    Length,
    /// The model, or a filter before or after it, declined to answer.
    Refused,
    /// The provider's own word for anything else.
    Other(String),
}

/// A model's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Completion {
    /// The text, which may or may not be JSON.
    pub text: String,
    /// What it cost; `None` where the provider doesn't say.
    #[serde(default)]
    pub usage: Option<Usage>,
    /// Why it ended.
    #[serde(default)]
    pub finish_reason: FinishReason,
}

/// A model.
#[async_trait]
pub trait LlmClient: Send + Sync {
    /// What the model is called in records, like `openai:gpt-5`. Never holds a key.
    fn name(&self) -> &str;

    /// Asks for JSON that fits `request.schema`. What comes back may be anything.
    ///
    /// # Errors
    /// [`LlmError`], when there is no answer. No error, and nothing of what it displays, holds a key.
    async fn generate_json(&self, request: LlmRequest) -> Result<Completion, LlmError>;

    /// What there is to say of the answers beside them, to a person.
    fn remark(&self) -> Option<String> {
        None
    }

    /// Whether answers cost tokens. A client that answers from this machine alone, without a model, costs none.
    fn costs_tokens(&self) -> bool {
        true
    }
}

#[async_trait]
impl<C: LlmClient + ?Sized> LlmClient for Box<C> {
    fn name(&self) -> &str {
        (**self).name()
    }

    async fn generate_json(&self, request: LlmRequest) -> Result<Completion, LlmError> {
        (**self).generate_json(request).await
    }

    fn remark(&self) -> Option<String> {
        (**self).remark()
    }

    fn costs_tokens(&self) -> bool {
        (**self).costs_tokens()
    }
}
