//! Models: whoever answers a prompt with JSON.
//!
//! [`LlmClient`] is all that the loop knows of a model. One call makes one request: nothing is retried, corrected or
//! swallowed here.

mod client;
mod draft;
mod error;

pub use client::{Completion, FinishReason, LlmClient, LlmRequest, Message, Role, Usage};
pub use draft::Draft;
pub use error::LlmError;
