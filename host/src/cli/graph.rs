//! `retort graph`: results against a graph spec.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use retort::diagnostics::sanitize;
use retort::graph::{Extraction, Failure, validate};
use retort::internal::{document::DocumentKind, wording::expected_first};
use serde::Serialize;

use super::args::{EndpointsArg, GraphSource, JsonArg};
use super::error::CliError;
use super::{CommandResult, CommandVerdict, files, output};

/// Hold results to a graph spec
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct GraphArgs {
    #[command(subcommand)]
    command: GraphCommand,
}

#[derive(Subcommand)]
enum GraphCommand {
    Check(GraphCheckArgs),
}

/// Say all that is wrong with a result
///
/// RESULT is one result as JSON: nodes, edges and handled spans. Exits with 1 if it doesn't fit the graph spec.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
struct GraphCheckArgs {
    #[command(flatten)]
    graph: GraphSource,
    /// Result (JSON); - is stdin
    #[arg(value_name = "RESULT")]
    result: PathBuf,
    #[command(flatten)]
    endpoints: EndpointsArg,
    #[command(flatten)]
    output: JsonArg,
}

const EXAMPLES: &str = "\
Examples:
  retort graph check --graph graph.yaml result.json
  head -1 results.ndjson | jq .result | retort graph check --graph graph.yaml --json -";

#[derive(Serialize)]
struct GraphReport<'a> {
    ok: bool,
    failures: &'a [Failure],
}

pub(super) fn main(args: &GraphArgs) -> CommandResult {
    let GraphCommand::Check(args) = &args.command;
    let spec = args.graph.require()?;
    let result = read_result(&args.result)?;
    let report = validate(&spec, &result, args.endpoints.validate_options());
    let failures = report.failures();
    let origin = files::name(&args.result);
    if args.output.json {
        output::print_json(&GraphReport { ok: report.ok(), failures })?;
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
    Ok(CommandVerdict::from_ok(report.ok()))
}

fn read_result(path: &Path) -> Result<Extraction, CliError> {
    let value = files::read_json(path, DocumentKind::Result)?;
    if value.is_array() {
        // A derived reader takes a list for an object's fields in order.
        return Err(CliError::NotResult {
            origin: files::name(path),
            path: String::new(),
            message: "expected an object, found a list".to_owned(),
        });
    }
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path_in = error.path().to_string();
        CliError::NotResult {
            origin: files::name(path),
            path: if path_in == "." { String::new() } else { path_in },
            message: sanitize(&expected_first(&error.inner().to_string()), 400),
        }
    })
}
