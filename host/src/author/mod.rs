//! From a task to a plan that passes: what a model is asked, what it answers, how a plan is repaired, and the loop around it.
//!
//! It knows all gates through the pipeline, and nothing of streams or of the command line.
//!
//! # Example: from a rule and a model to a stored bundle
//! ```no_run
//! use std::path::Path;
//!
//! use retort::bundle::Store;
//! use retort::bundle::smoke::{Samples, SmokeOptions};
//! use retort::graph::GraphSpec;
//! use retort::author::llm::{ClientConfig, ModelSpec, connect};
//! use retort::bundle::pipeline::Pipeline;
//! use retort::author::retry::{LoopConfig, PipelineGates, compile_with_llm};
//! use retort::sandbox::Limits;
//! use retort::evidence::{Rule, Task};
//!
//! async fn write_plan(rule: &str, graph: &str, samples: &str) -> Result<(), Box<dyn std::error::Error>> {
//!     let rule = Rule::parse(rule, "rule.md")?;
//!     let graph = GraphSpec::parse(graph, "graph.yaml")?;
//!     let task = Task::new(graph, Samples::parse(samples, "samples")?, Some(rule), None);
//!     let client = connect(&ModelSpec::OpenAi("gpt-5-mini".to_owned()), &ClientConfig::default())?;
//!     let client = client.expect("only `draft` is made of the task instead");
//!
//!     let pipeline = Pipeline::new(Limits::default())?;
//!     let gates = PipelineGates::new(pipeline.clone(), &task, SmokeOptions::default());
//!     let config = LoopConfig::builder().max_attempts(4).token_budget(60_000).build()?;
//!     // Attempts, cost and time come with success, with failure and with errors.
//!     let outcome = compile_with_llm(client.as_ref(), &task, &gates, &config).await?;
//!     println!("{}, after {} attempts", outcome.reason(), outcome.attempts().len());
//!     if let Some(accepted) = outcome.accepted() {
//!         let store = Store::open(Path::new("bundles"))?;
//!         let stored = pipeline.store(accepted, &store, jiff::Timestamp::now(), &mut |_| {})?;
//!         println!("{} serves {:?}", stored.path.display(), stored.manifest.event_types());
//!     }
//!     Ok(())
//! }
//! ```

pub mod answer;
pub mod draft;
pub mod llm;
pub mod prompt;
pub mod repair;
pub mod retry;

use crate::evidence::matching::words;
use crate::plan::is_identifier;

/// What the function is called that extracts nodes of an entity, or events of a type: `extract_` and its name in lower case.
fn function_name(of: &str) -> String {
    let parts: Vec<String> = words(of).iter().map(|word| word.text().to_owned()).collect();
    let name = format!("extract_{}", parts.join("_"));
    if is_identifier(&name) { name } else { "extract_node".to_owned() }
}
