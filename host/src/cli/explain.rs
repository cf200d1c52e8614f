//! `retort explain`: what the stable codes mean.

use retort::diagnostics::{Code, CodeEntry, Stage};
use retort::internal::codes::all;
use serde::Serialize;

use super::error::CliError;
use super::{CommandResult, CommandVerdict, output};

/// Say what a code means, and what to do about it
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ExplainArgs {
    /// Code, as in error[CODE]
    #[arg(value_name = "CODE", required_unless_present = "list")]
    code: Option<String>,
    /// List every code with its stage
    #[arg(long, conflicts_with = "code")]
    list: bool,
    /// Print JSON instead
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  retort explain out_of_fuel
  retort explain --list";

pub(super) fn main(args: &ExplainArgs) -> CommandResult {
    let Some(code) = &args.code else {
        return list(args.json);
    };
    let code: Code = code.parse().map_err(|error| CliError::UnknownCode { role: None, error })?;
    let CodeEntry { stage, meaning, action, .. } = *code;
    output::print_as(args.json, &Explanation::from(&code), || {
        format!("{code} (stage: {stage})\n\n{meaning}\n\n{action}\n")
    })?;
    Ok(CommandVerdict::Pass)
}

/// A code as JSON.
#[derive(Serialize)]
struct Explanation {
    code: &'static str,
    stage: Stage,
    meaning: &'static str,
    action: &'static str,
}

impl From<&Code> for Explanation {
    fn from(code: &Code) -> Self {
        let CodeEntry { name, stage, meaning, action, .. } = **code;
        Self { code: name, stage, meaning, action }
    }
}

fn list(json: bool) -> CommandResult {
    output::print_as(json, &all().map(Explanation::from).collect::<Vec<_>>(), || {
        all().map(|code| format!("{:<8} {code}\n", code.stage.as_str())).collect()
    })?;
    Ok(CommandVerdict::Pass)
}
