//! `retort explain`: what the stable codes mean.

use std::fmt::Write as _;

use retort::diagnostics::codes::{Code, CodeEntry, all, lookup};
use retort::diagnostics::diagnose::sanitize;
use retort::diagnostics::nearest::nearest;
use retort::diagnostics::problem::Stage;
use serde::Serialize;

use super::error::CliError;
use super::{CommandResult, Verdict, output};

/// Say what a code means, and what to do about it
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
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

pub(super) fn main(args: &Args) -> CommandResult {
    let Some(code) = &args.code else {
        return list(args.json);
    };
    let code = lookup(code).ok_or_else(|| unknown(code))?;
    if args.json {
        output::print_json(&Explanation::from(code))?;
    } else {
        let CodeEntry { stage, meaning, action, .. } = **code;
        output::print(&format!("{code} (stage: {stage})\n\n{meaning}\n\n{action}\n"))?;
    }
    Ok(Verdict::Pass)
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

fn list(as_json: bool) -> CommandResult {
    if as_json {
        output::print_json(&all().map(Explanation::from).collect::<Vec<_>>())?;
        return Ok(Verdict::Pass);
    }
    let mut text = String::new();
    for code in all() {
        let _ = writeln!(text, "{stage:<8} {code}", stage = code.stage.as_str());
    }
    output::print(&text)?;
    Ok(Verdict::Pass)
}

fn unknown(code: &str) -> CliError {
    let nearest = nearest(code, all().map(|code| code.name));
    CliError::UnknownCode { found: sanitize(code, 80), nearest }
}
