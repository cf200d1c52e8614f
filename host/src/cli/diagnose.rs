//! `retort diagnose`: a saved report as a diagnostic.

use std::path::PathBuf;

use retort::diagnostics::{DiagnoseError, ReportKind};
use retort::internal::{diagnose::render, document::DocumentKind};

use super::error::CliError;
use super::{CommandResult, CommandVerdict, files, output};

/// Print a saved report as the text that a model is given
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct DiagnoseArgs {
    /// What the report is of: parse, render, ast, smoke or compile
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

pub(super) fn main(args: &DiagnoseArgs) -> CommandResult {
    let kind: ReportKind =
        args.kind.parse().map_err(|error: DiagnoseError| CliError::refused_in("KIND", error))?;
    let report = files::read_json(&args.report, DocumentKind::Report)?;
    let text = render(kind, &report)
        .map_err(|error| CliError::refused_in(&files::name(&args.report), error))?;
    let report = serde_json::json!({"kind": kind.as_str(), "text": text});
    output::print_as(args.json, &report, || text + "\n")?;
    Ok(CommandVerdict::Pass)
}
