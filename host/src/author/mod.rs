//! From a task to a plan that passes: what a model is asked, what it answers, how a plan is repaired, and the loop around it.
//!
//! It knows all gates through the pipeline, and nothing of streams or of the command line.

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
