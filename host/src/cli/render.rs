//! `retort render`: a plan as source.

use std::path::PathBuf;

use super::{CommandResult, CommandVerdict, files, output};

/// Print the WebAssembly text that a plan becomes
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RenderArgs {
    /// Plan (JSON); - is stdin
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  retort render plan.json > extractor.wat
  retort render - < plan.json";

pub(super) fn main(args: &RenderArgs) -> CommandResult {
    let Some(source) = files::read_renderable(&args.plan)? else { return Ok(CommandVerdict::Fail) };
    output::print(source.text())?;
    Ok(CommandVerdict::Pass)
}
