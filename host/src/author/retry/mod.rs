//! The loop: a model writes a plan, or an extractor in Rust, the gates judge it, and what they say goes back to the model.

mod account;
mod advice;
mod attempt;
mod config;
mod conversation;
mod feedback;
mod gates;
mod judge;
mod outcome;
mod panics;
mod phase;
mod pipeline;
mod records;
mod run;
mod rust;
mod usage;

pub use account::Account;
pub use attempt::{Attempt, AttemptFailure, AttemptKind, AttemptRecord};
pub use config::{
    ArgumentError, DEFAULT_MAX_ATTEMPTS, LoopConfig, LoopConfigBuilder, RetryStrategy,
};
pub use gates::{Category, Channel, GateError, Gates, Rejection, Verdict};
pub use outcome::{History, LoopCause, LoopError, LoopOutcome, Reason};
pub use pipeline::PipelineGates;
pub use run::{compile_with_llm, repair_plan};
pub use rust::rust_rejection;
pub use usage::Tokens;
