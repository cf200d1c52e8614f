//! `retort prompt`: what a model would be sent.

use serde::Serialize;
use serde_json::Value;

use super::project::ProjectArgs;
use super::{CommandResult, Verdict, output};

/// Print the prompt that a model would be sent, and send nothing
///
/// The same files make the same prompt, byte for byte.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    project: ProjectArgs,
    /// Print one JSON object instead: the prompt and the JSON Schema that goes with it
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  retort prompt my-project
  retort prompt --rule rule.md --schema schema.json --graph graph.yaml --samples events.ndjson
  retort prompt my-project | my-own-model > plan.json";

#[derive(Serialize)]
struct Report<'a> {
    prompt: &'a str,
    schema: Value,
}

pub(super) fn main(args: &Args) -> CommandResult {
    let project = args.project.resolve()?;
    let prompt =
        retort::author::prompt::resolution_under(&project.task()?, &project.field_policy()?)?;
    if args.json {
        output::print_json(&Report { prompt: &prompt, schema: retort::plan::schema() })?;
    } else {
        output::print(&prompt)?;
    }
    Ok(Verdict::Pass)
}
