//! From a task to a plan that passes: what a model is asked, what it answers, how a plan is repaired, and the loop around it.
//!
//! It knows all gates through the pipeline, and nothing of streams or of the command line.

pub mod answer;
pub mod draft;
pub mod llm;
pub mod prompt;
pub mod repair;
pub mod retry;
