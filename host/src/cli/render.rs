//! `retort render`: a plan as source.

use std::path::PathBuf;

use retort::diagnostics::problem::Coded;

use super::{CommandResult, Verdict, files, output};

/// Print the WebAssembly text that a plan becomes
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Plan (JSON); - is stdin
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  retort render plan.json > extractor.wat
  retort render - < plan.json";

pub(super) fn main(args: &Args) -> CommandResult {
    let Some(plan) = files::read_plan(&args.plan)? else { return Ok(Verdict::Fail) };
    match retort::render::render(&plan) {
        Ok(source) => {
            output::print(source.text())?;
            Ok(Verdict::Pass)
        }
        Err(error) => {
            output::problem(&files::name(&args.plan), &error.problem());
            Ok(Verdict::Fail)
        }
    }
}
