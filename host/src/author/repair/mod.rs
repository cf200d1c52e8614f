//! What to do about a failure: what kind it is, whether another attempt is worth it, and what to change.
//!
//! Everything here is decided from data, without a model. [`classify_failure`] says what [`FailureKind`] a stable code is of,
//! [`should_retry`] asks a [`RetryPolicy`] and the [`RetryMemory`] of what failed before, and
//! [`reduce_failure_to_repair`] says in words what a model should change. All of it can be saved and read again. What has
//! one plain remedy is repaired by [`mechanical`] repair.
//!
//! # Example
//! ```
//! use retort::author::RetryPolicy;
//! use retort::diagnostics::{FailureKind, Stage};
//! use retort::internal::repair::{Failure, RetryDecision, RetryMemory, classify_failure, reduce_failure_to_repair, should_retry};
//!
//! let failure = Failure::new(Stage::Plan, "missing_required_field", "/key_field")
//!     .of_answer(r#"{"event_type": "order"}"#);
//! assert_eq!(classify_failure(failure.stage, &failure.code), FailureKind::SchemaInvalid);
//!
//! let (policy, mut memory) = (RetryPolicy::default(), RetryMemory::default());
//! assert_eq!(should_retry(&policy, &memory, &failure), RetryDecision::Retry);
//! let repair = reduce_failure_to_repair(&failure);
//! assert!(repair.prompt_suffix.contains("/key_field"));
//!
//! // The same failure of the same answer again: nothing will come of asking once more.
//! memory.remember(&failure);
//! assert_eq!(should_retry(&policy, &memory, &failure), RetryDecision::RepeatedFailure);
//! ```

mod instruction;
pub(crate) mod mechanical;
mod memory;
mod policy;
mod source;

pub use crate::diagnostics::codes::{FailureKind, classify_failure};
pub use instruction::{RepairAction, RepairInstruction, reduce_failure_to_repair};
pub use memory::{AnswerHash, Failure, RetryMemory};
pub use policy::{RetryDecision, RetryPolicy, should_retry};
pub use source::reduce_failure_of_source;
