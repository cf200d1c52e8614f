//! Models: whoever answers a prompt with JSON.
//!
//! [`LlmClient`] is all that the loop knows of a model. A call asks once: nothing is corrected or swallowed here, and
//! nothing asked again, except that a provider that refuses an optional part of a request (a response format, a
//! temperature) is asked without it, within the time of the same call.
//!
//! [`ModelSpec`] is a model as a user names it, and [`connect`] makes the client for it:
//!
//! | form | client | reached by |
//! |---|---|---|
//! | `draft` | [`Draft`]: a first sketch from names and types | nothing: there is no model |
//! | `openai:NAME` | `OpenAi` | chat completions, at OpenAI or any compatible endpoint |
//! | `anthropic:NAME` | `Anthropic` | the Messages API |
//! | `gemini:NAME` | `Gemini` | `generateContent` |
//! | `command:COMMAND` | [`Command`] | stdin and stdout of a program |
//! | `replay:FILE` | [`Replay`] | a transcript that [`Recorder`] wrote |
//!
//! # Keys
//! A key comes from [`ClientConfig`] or from the provider's environment variable, and goes nowhere but into a header of
//! requests to the configured address: redirects are not followed, and to another machine than this one it goes by https
//! alone. It is in no error, no `Debug` and no transcript, even where a provider repeats it ([`Secrets`]).
//!
//! # Features
//! `OpenAi`, `Anthropic` and `Gemini` are there with the cargo feature `http`, which is on by default.
//!
//! # Example: a client of your own
//! ```
//! use async_trait::async_trait;
//! use retort::author::llm::{Completion, FinishReason, LlmClient, LlmError, LlmRequest};
//!
//! /// A model that runs in this process.
//! struct Local;
//!
//! #[async_trait]
//! impl LlmClient for Local {
//!     fn name(&self) -> &str {
//!         "local"
//!     }
//!
//!     async fn generate_json(&self, request: LlmRequest) -> Result<Completion, LlmError> {
//!         let prompt = request.messages.last().map_or("", |message| message.text.as_str());
//!         let text = format!("{{\"asked\": {}}}", prompt.len());
//!         Ok(Completion { text, usage: None, finish_reason: FinishReason::Stop })
//!     }
//! }
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # runtime.block_on(async {
//! let answer = Local.generate_json(LlmRequest::prompt("four", retort::plan::schema())).await?;
//! assert_eq!(answer.text, r#"{"asked": 4}"#);
//! # Ok::<(), LlmError>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod client;
mod command;
mod config;
mod draft;
mod error;
mod record;
mod redact;
mod replay;
mod select;
mod transcript;

#[cfg(feature = "http")]
mod anthropic;
#[cfg(feature = "http")]
mod gemini;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "http")]
mod openai;
#[cfg(feature = "http")]
mod schema;

#[cfg(feature = "http")]
pub use anthropic::Anthropic;
pub use client::{Completion, FinishReason, LlmClient, LlmRequest, Message, Role, Usage};
pub use command::Command;
pub use config::{ClientConfig, ResponseFormat};
pub use draft::Draft;
pub use error::LlmError;
#[cfg(feature = "http")]
pub use gemini::Gemini;
#[cfg(feature = "http")]
pub use openai::OpenAi;
pub use record::Recorder;
pub use redact::Secrets;
pub use replay::Replay;
pub use select::{ModelSpec, connect};

/// How much of a model's own name is in the name that records and errors give it, in characters.
const NAME_CHARS: usize = 400;
