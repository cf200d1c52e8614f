//! The loop: a model writes a plan, the gates judge it, and what they say goes back to the model.
//!
//! [`compile_with_llm`] asks until a plan passes or something ends it: the attempts, the tokens or the time are spent,
//! failures repeat, or the model declines. Before the model is asked again, whatever has one plain remedy is repaired without
//! it ([`mechanical`](crate::author::repair::mechanical)); such attempts are recorded like others, cost no tokens, and go through
//! the reading of answers and all gates like others.
//!
//! What was done is never lost: attempts, cost and time come with success, with failure ([`LoopOutcome`]) and with errors
//! ([`LoopError`]), and [`Account`] says in plain words what is in the way. Nothing outside is touched but by the
//! client and the gates.
//!
//! The loop runs on a tokio runtime, and keeps no thread of it busy: answers are read, repaired and judged on threads that
//! may block, and waited for as long as there is time. A future that is dropped leaves nothing but such a thread,
//! which goes on to the end of the step it is at, or to the gates' own limits.
//!
//! # Example
//! ```
//! use async_trait::async_trait;
//! use retort::bundle::smoke::Samples;
//! use retort::graph::GraphSpec;
//! use retort::author::llm::{Completion, FinishReason, LlmClient, LlmError, LlmRequest};
//! use retort::plan::Plan;
//! use retort::author::retry::{Category, Channel, GateError, Gates, LoopConfig, Rejection, Verdict, compile_with_llm};
//! use retort::evidence::{Rule, Task};
//!
//! /// Answers with a plan, whatever is asked.
//! struct Parrot;
//!
//! #[async_trait]
//! impl LlmClient for Parrot {
//!     fn name(&self) -> &str {
//!         "parrot"
//!     }
//!
//!     async fn generate_json(&self, _request: LlmRequest) -> Result<Completion, LlmError> {
//!         let text = r#"{"event_type": "order", "target_entity_name": "Order", "function_name": "read_order",
//!             "key_field": {"property_name": "order_id", "source_path": ["id"]}}"#;
//!         Ok(Completion { text: text.to_owned(), usage: None, finish_reason: FinishReason::Stop })
//!     }
//! }
//!
//! /// Rejects every plan that reads the session.
//! struct NoSessions;
//!
//! #[async_trait]
//! impl Gates for NoSessions {
//!     type Accepted = ();
//!
//!     async fn judge(&self, plan: &Plan) -> Result<Verdict<()>, GateError> {
//!         if plan.session_id_path() != ["session_id"] {
//!             return Ok(Verdict::Accepted(()));
//!         }
//!         Ok(Verdict::Rejected(Rejection {
//!             channel: Channel::CompileResult,
//!             code: "path_denied".to_owned(),
//!             category: Category::Unknown,
//!             diagnostic: "path session_id is denied by policy: personal data".to_owned(),
//!             findings: Vec::new(),
//!         }))
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let graph = "entities: [{name: Order, keys: {primary: [order_id]}, properties: [{name: order_id, type: string}]}]";
//! let task = Task::new(
//!     GraphSpec::parse(graph, "graph.yaml")?,
//!     Samples::parse(r#"{"event_type": "order", "id": "A-7"}"#, "samples.ndjson")?,
//!     Some(Rule::parse("Every order becomes one Order.", "rule.md")?),
//!     None,
//! );
//! let outcome = compile_with_llm(&Parrot, &task, &NoSessions, &LoopConfig::default()).await?;
//! assert_eq!(outcome.reason().as_str(), "repeated_failure");
//! assert_eq!(outcome.attempts().len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod account;
mod advice;
mod attempt;
mod config;
mod conversation;
mod feedback;
mod gates;
mod judge;
mod outcome;
mod pipeline;
mod run;
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
pub use usage::Tokens;
