//! `retort explain`: what the stable codes mean.

use std::fmt::Write as _;

use retort::diagnostics::diagnose::sanitize;
use retort::diagnostics::explain::{Explanation, all, lookup};
use retort::diagnostics::nearest::nearest;

use super::error::CliError;
use super::{Outcome, Verdict, talk};

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

pub(super) fn main(args: &Args) -> Outcome {
    let Some(code) = &args.code else {
        return list(args.json);
    };
    let explanation = lookup(code).ok_or_else(|| unknown(code))?;
    if args.json {
        talk::print_json(explanation)?;
    } else {
        let Explanation { code, stage, meaning, action } = explanation;
        talk::print(&format!("{code} (stage: {stage})\n\n{meaning}\n\n{action}\n"))?;
    }
    Ok(Verdict::Pass)
}

fn list(as_json: bool) -> Outcome {
    if as_json {
        talk::print_json(&all().collect::<Vec<_>>())?;
        return Ok(Verdict::Pass);
    }
    let mut text = String::new();
    for Explanation { code, stage, .. } in all() {
        let _ = writeln!(text, "{stage:<8} {code}", stage = stage.as_str());
    }
    talk::print(&text)?;
    Ok(Verdict::Pass)
}

fn unknown(code: &str) -> CliError {
    let nearest = nearest(code, all().map(|explanation| explanation.code));
    CliError::UnknownCode { found: sanitize(code, 80), nearest }
}
