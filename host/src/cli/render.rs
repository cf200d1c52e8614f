//! `retort render`: a plan as source.

use std::path::PathBuf;

use clap::ValueEnum;

use super::{CommandResult, CommandVerdict, files, output};

/// Print the source that a plan becomes
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RenderArgs {
    /// Plan (JSON); - is stdin
    #[arg(value_name = "PLAN")]
    plan: PathBuf,

    /// The language of the source
    #[arg(long, value_name = "LANGUAGE", default_value = "wat")]
    backend: RenderBackend,
}

/// A language that plans are rendered to.
#[derive(Clone, Copy, ValueEnum)]
enum RenderBackend {
    /// WebAssembly text, which is what bundles of plans are compiled from
    Wat,
    /// Rust, to go on with where the plan language ends
    Rust,
}

const EXAMPLES: &str = "\
Examples:
  retort render plan.json > extractor.wat
  retort render --backend rust plan.json > extractor.rs
  retort render - < plan.json";

pub(super) fn main(args: &RenderArgs) -> CommandResult {
    let rendered = match args.backend {
        RenderBackend::Wat => {
            files::read_renderable(&args.plan)?.map(|source| source.text().to_owned())
        }
        RenderBackend::Rust => files::read_rendered_as_rust(&args.plan)?,
    };
    let Some(text) = rendered else { return Ok(CommandVerdict::Fail) };
    output::print(&text)?;
    Ok(CommandVerdict::Pass)
}
