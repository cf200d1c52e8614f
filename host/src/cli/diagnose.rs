//! `retort diagnose`: a saved report as a diagnostic.

use std::path::PathBuf;

use retort::diagnostics::diagnose::{self, render};
use retort::json::document::DocumentKind;

use super::error::CliError;
use super::{CommandResult, Verdict, files, output};

/// Print a saved report as the text that a model is given
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// What the report is of: parse, ast, smoke or compile
    #[arg(value_name = "KIND")]
    kind: String,
    /// Report (JSON); - is stdin
    #[arg(value_name = "REPORT")]
    report: PathBuf,
    /// Print {"kind", "text"} instead
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  retort diagnose smoke smoke_report.json
  retort plan check plan.json --json | retort diagnose parse -";

pub(super) fn main(args: &Args) -> CommandResult {
    let kind: diagnose::ReportKind = args
        .kind
        .parse()
        .map_err(|error| CliError::Diagnose { origin: "KIND".to_owned(), error })?;
    let report = files::read_json(&args.report, DocumentKind::Report)?;
    let text = render(kind, &report)
        .map_err(|error| CliError::Diagnose { origin: files::name(&args.report), error })?;
    if args.json {
        output::print_json(&serde_json::json!({"kind": kind.as_str(), "text": text}))?;
    } else {
        output::print(&format!("{text}\n"))?;
    }
    Ok(Verdict::Pass)
}
