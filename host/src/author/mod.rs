//! From a task to a plan that passes, or to an extractor in Rust: what a model is asked, what it answers, how a plan is repaired,
//! and the loop around it.
//!
//! It knows all gates through the pipeline, and nothing of streams or of the command line.
//!
//! # Example: from a rule and a model to a stored bundle
//! ```no_run
//! use std::path::Path;
//!
//! use retort::{GraphSpec, Limits, Pipeline, Rule, Samples, Store, Task, compile_with_llm};
//! use retort::author::{LoopConfig, PipelineGates, llm::{ClientConfig, ModelSpec, connect}};
//! use retort::bundle::SmokeOptions;
//!
//! async fn write_plan(rule: &str, graph: &str, samples: &str) -> Result<(), Box<dyn std::error::Error>> {
//!     let rule = Rule::parse(rule, "rule.md")?;
//!     let graph = GraphSpec::parse(graph, "graph.yaml")?;
//!     let task = Task::builder(graph, Samples::parse(samples, "samples")?).rule(rule).build();
//!     let client = connect(&ModelSpec::OpenAi("gpt-5-mini".to_owned()), &ClientConfig::default())?;
//!     let client = client.expect("only `draft` is made of the task instead");
//!
//!     let pipeline = Pipeline::builder().build()?;
//!     let gates = PipelineGates::new(&pipeline, &task);
//!     let config = LoopConfig::builder().max_attempts(4).token_budget(60_000).build()?;
//!     // Attempts, cost and time come with success, with failure and with errors.
//!     let outcome = compile_with_llm(client.as_ref(), &task, &gates, &config).await?;
//!     println!("{}, after {} attempts", outcome.reason(), outcome.attempts().len());
//!     if let Some(accepted) = outcome.accepted() {
//!         let store = Store::open(Path::new("bundles"))?;
//!         let stored = accepted.store(&store, jiff::Timestamp::now())?;
//!         println!("{} serves {:?}", stored.path.display(), stored.manifest.event_types());
//!     }
//!     Ok(())
//! }
//! ```

pub(crate) mod answer;
mod backend;
mod background;
pub(crate) mod draft;
pub mod llm;
mod project;
pub(crate) mod prompt;
pub(crate) mod repair;
pub(crate) mod retry;

pub use answer::{Answer, AnswerError, AnswerFormat};
pub use backend::{Backend, Candidate, Language};
pub use draft::{Doubt, DraftError, Mapping, Sketch, draft, draft_until};
pub use project::{PROJECT_FILE, ProjectError, ProjectFile};
pub use prompt::{PromptError, resolution_prompt, resolution_prompt_under};
pub use repair::RetryPolicy;
pub use retry::{
    Account, ArgumentError, Attempt, AttemptFailure, AttemptKind, AttemptRecord, Category, Channel,
    DEFAULT_MAX_ATTEMPTS, GateError, Gates, History, LoopCause, LoopConfig, LoopConfigBuilder,
    LoopError, LoopOutcome, PipelineGates, Reason, Rejection, RetryStrategy, Tokens, Verdict,
    compile_with_llm, repair_plan,
};

use crate::evidence::matching::words;
use crate::plan::is_identifier;

/// What the function is called that extracts nodes of an entity, or events of a type: `extract_` and its name in lower case.
fn function_name(of: &str) -> String {
    let parts: Vec<String> = words(of).iter().map(|word| word.text().to_owned()).collect();
    let name = format!("extract_{}", parts.join("_"));
    if is_identifier(&name) { name } else { "extract_node".to_owned() }
}
