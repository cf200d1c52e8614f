//! The service over HTTP, in a process of its own, on the loopback address.
//!
//! `-- load [MINUTES] [NAME ..]`: fifty tenants, of them ten hostile, in turns with and without these, while versions are switched and the
//! configuration is reloaded; it ends with 1 where an answer is wrong or missing. With names, only those are hostile. `-- overhead`: what the service adds to the same
//! events in one process. Both, shortly, if nothing is said.

#![allow(clippy::print_stdout, reason = "the figures are what this prints")]

mod changes;
mod client;
mod configuration;
mod honest;
mod hostile;
mod load;
mod metrics;
mod overhead;
mod pauses;
mod service;

use std::process::ExitCode;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

fn main() -> ExitCode {
    // `cargo test --benches` runs benches with `--test`: nothing is measured then.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    if arguments.iter().any(|argument| argument == "--test") {
        return ExitCode::SUCCESS;
    }
    let minutes = arguments.iter().find_map(|it| it.parse().ok()).unwrap_or(1);
    let mut names = arguments.iter().filter(|it| it.parse::<u64>().is_err()).map(String::as_str);
    let name = names.next().unwrap_or_default();
    // Hostile clients have many connections.
    let files = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: files.maximum, ..files });
    let mut is_right = true;
    if name.is_empty() || name == "load" {
        is_right = load::run(Duration::from_secs(60 * minutes), &names.collect::<Vec<_>>());
    }
    if name.is_empty() || name == "overhead" {
        overhead::compare();
    }
    if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
