//! The command line: one file for each command.
//!
//! It uses the library as any other program would. Results go to stdout, everything else to stderr. Exit codes: 0 fine, 1 what was
//! checked has failed, 2 it could not be done: wrong usage or input, or something outside that failed.

mod args;
mod artifact;
mod bench;
mod bundles;
mod check;
mod compile;
mod compile_module;
mod compile_rust;
mod coverage;
mod diagnose;
mod error;
mod events;
mod explain;
mod files;
mod graph;
mod inspect;
mod junit;
mod label;
mod model;
mod new;
mod outcome;
mod output;
mod overwrite;
mod plan;
mod project;
mod prompt;
mod publish;
mod render;
mod repair;
mod revalidate;
mod run;
mod runtime;
mod schema;
mod selftest;
mod serve;
mod stages;
mod sync;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use retort::sandbox::{COMPILE_COMMAND, RUSTC_COMMAND};

use self::outcome::{CommandResult, CommandVerdict};

/// Runs extraction code that a language model wrote, without trusting it.
///
/// A plan (JSON) becomes a small WebAssembly module, passes gates, and is stored as a bundle. Bundles run in a sandbox
/// over streams of JSON events.
#[derive(Parser)]
#[command(name = "retort", version, propagate_version = true, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  retort new --rust my-extractor        A folder with an extractor in Rust, to begin with
  retort compile my-project             A rule or a plan, through every gate, to a bundle on disk
  retort run --bundles bundles e.ndjson Events in, nodes and edges out
  retort serve --bundles bundles        The same over HTTP
  retort bundles list bundles           Versions of extractors, and which are served
  retort publish bundles s3://releases  What is active, for hosts that `retort sync` with the store
  retort explain out_of_fuel            What a code means, and what to do
  retort selftest --all                 What attacks do to this machine and configuration

Exit codes: 0 fine, 1 what was checked has failed, 2 it could not be done: wrong usage or input, no answer, no disk.";

#[derive(Subcommand)]
enum Command {
    New(new::NewArgs),
    Compile(compile::CompileArgs),
    Prompt(prompt::PromptArgs),
    Run(run::RunArgs),
    Serve(serve::ServeArgs),
    Bundles(bundles::BundlesArgs),
    Publish(publish::PublishArgs),
    Sync(sync::SyncArgs),
    Check(check::CheckArgs),
    Revalidate(revalidate::RevalidateArgs),
    Label(label::LabelArgs),
    Bench(bench::BenchArgs),
    Plan(plan::PlanArgs),
    Render(render::RenderArgs),
    Repair(repair::RepairArgs),
    Inspect(inspect::InspectArgs),
    Graph(graph::GraphArgs),
    Schema(schema::SchemaArgs),
    Diagnose(diagnose::DiagnoseArgs),
    Explain(explain::ExplainArgs),
    #[command(name = COMPILE_COMMAND, hide = true)]
    CompileModule(compile_module::CompileModuleArgs),
    #[command(name = RUSTC_COMMAND, hide = true)]
    CompileRust(compile_rust::CompileRustArgs),
    Selftest(selftest::SelftestArgs),
}

pub(crate) fn main() -> ExitCode {
    let verdict = match Cli::parse().command {
        Command::New(args) => new::main(&args),
        Command::Compile(args) => compile::main(&args),
        Command::Prompt(args) => prompt::main(&args),
        Command::Run(args) => run::main(&args),
        Command::Serve(args) => serve::main(&args),
        Command::Bundles(args) => bundles::main(&args),
        Command::Publish(args) => publish::main(&args),
        Command::Sync(args) => sync::main(&args),
        Command::Check(args) => check::main(&args),
        Command::Revalidate(args) => revalidate::main(&args),
        Command::Label(args) => label::main(&args),
        Command::Bench(args) => bench::main(&args),
        Command::Plan(args) => plan::main(&args),
        Command::Render(args) => render::main(&args),
        Command::Repair(args) => repair::main(&args),
        Command::Inspect(args) => inspect::main(&args),
        Command::Graph(args) => graph::main(&args),
        Command::Schema(args) => schema::main(&args),
        Command::Diagnose(args) => diagnose::main(&args),
        Command::Explain(args) => explain::main(&args),
        Command::CompileModule(args) => return compile_module::main(&args),
        Command::CompileRust(args) => return compile_rust::main(&args),
        Command::Selftest(args) => selftest::main(&args),
    };
    match verdict {
        Ok(CommandVerdict::Pass) => ExitCode::SUCCESS,
        Ok(CommandVerdict::Fail) => ExitCode::from(1),
        Ok(CommandVerdict::Signalled(code)) => ExitCode::from(code),
        // Whoever read the output has seen enough.
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            output::error(&error);
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn the_commands_are_well_formed() {
        Cli::command().debug_assert();
    }
}
