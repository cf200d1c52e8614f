//! `retort graph`: results against a graph spec.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use retort::graph::validate::Failure;
use retort::graph::{Extraction, ValidateOptions, validate};
use retort::json::document::DocumentKind;
use serde::Serialize;

use super::error::CliError;
use super::files::{self, GraphSource};
use super::{CommandResult, Verdict, output};

/// Hold results to a graph spec
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Check(CheckArgs),
}

/// Say all that is wrong with a result
///
/// RESULT is one result as JSON: nodes, edges and handled spans. Exits with 1 if it doesn't fit the graph spec.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
struct CheckArgs {
    #[command(flatten)]
    graph: GraphSource,
    /// Result (JSON); - is stdin
    #[arg(value_name = "RESULT")]
    result: PathBuf,
    /// Let edges lead to nodes of other events
    #[arg(long)]
    allow_external_endpoints: bool,
    /// Print one JSON object instead
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  retort graph check --graph graph.yaml result.json
  head -1 results.ndjson | jq .result | retort graph check --graph graph.yaml --json -";

#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    failures: &'a [Failure],
}

pub(super) fn main(args: &Args) -> CommandResult {
    let Command::Check(args) = &args.command;
    let spec = args.graph.read()?.ok_or_else(|| CliError::ProjectIncomplete {
        what: "a graph spec",
        hint: "use --graph, or --ontology with --binding".to_owned(),
    })?;
    let result = read_result(&args.result)?;
    let options = ValidateOptions { allow_external_endpoints: args.allow_external_endpoints };
    let report = validate(&spec, &result, options);
    let failures = report.failures();
    let origin = files::name(&args.result);
    if args.json {
        output::print_json(&Report { ok: report.ok(), failures })?;
    } else {
        for failure in failures {
            let text = format_args!("{origin}: {}: {}", failure.path, failure.detail);
            output::coded(failure.code.name, text);
        }
        let verdict = match failures.len() {
            0 => "ok".to_owned(),
            1 => "1 failure".to_owned(),
            count => format!("{count} failures"),
        };
        output::print_line(format_args!("{origin}: {verdict}"))?;
    }
    Ok(Verdict::from_ok(report.ok()))
}

fn read_result(path: &Path) -> Result<Extraction, CliError> {
    let value = files::read_json(path, DocumentKind::Result)?;
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path_in = error.path().to_string();
        CliError::NotResult {
            origin: files::name(path),
            path: if path_in == "." { String::new() } else { path_in },
            message: retort::diagnostics::diagnose::sanitize(&error.inner().to_string(), 400),
        }
    })
}
