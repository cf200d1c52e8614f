//! `retort prompt`: what a model would be sent.

use retort::author::Backend;
use retort::internal::answer::{rust_schema, schema};
use retort::internal::prompt::{resolution_prompt_under, rust_prompt_under};
use serde::Serialize;
use serde_json::Value;

use super::error::CliError;
use super::model::BackendArg;
use super::project::ProjectArgs;
use super::{CommandResult, CommandVerdict, output};

/// Print the prompt that a model would be sent, and send nothing
///
/// The same files make the same prompt, byte for byte. It is the first one: with --backend auto it asks for a plan.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PromptArgs {
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    backend: BackendArg,
    /// Print one JSON object instead: the prompt and the JSON Schema that goes with it
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  retort prompt my-project
  retort prompt --rule rule.md --schema schema.json --graph graph.yaml --samples events.ndjson
  retort prompt my-project --backend rust
  retort prompt my-project | my-own-model > plan.json";

#[derive(Serialize)]
struct PromptReport<'a> {
    prompt: &'a str,
    schema: Value,
}

pub(super) fn main(args: &PromptArgs) -> CommandResult {
    let project = args.project.resolve()?;
    let (task, policy) = (project.task()?, project.field_policy()?);
    let (prompt, schema) = match project.backend(args.backend.given()) {
        Backend::Plan | Backend::Auto => (resolution_prompt_under(&task, policy), schema()),
        Backend::Rust => {
            let limits = project.pipeline()?.sandbox().limits().clone();
            (rust_prompt_under(&task, policy, &limits, &[]), rust_schema())
        }
    };
    let prompt = prompt.map_err(CliError::refused)?;
    let report = PromptReport { prompt: &prompt, schema };
    output::print_as(args.json, &report, || prompt.clone())?;
    Ok(CommandVerdict::Pass)
}
