//! What a person reads on stderr, and the one JSON value that a program reads on stdout.

use std::fmt::Display;
use std::io::{self, Write};
use std::time::Duration;

use clap::builder::styling::{AnsiColor, Style};
use retort::problem::{Coded, Problem};
use serde::Serialize;

use super::error::CliError;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const NOTE: Style = AnsiColor::Cyan.on_default().bold();

/// One line on stderr. Colours are taken out where that isn't a terminal.
pub(super) fn say(line: impl Display) {
    // There is nowhere left to report that stderr can't be written.
    let _ = writeln!(anstream::stderr(), "{line}");
}

/// A remark that isn't an error.
pub(super) fn note(text: impl Display) {
    say(format_args!("{NOTE}note{NOTE:#}: {text}"));
}

/// An error with its code.
pub(super) fn error(error: &(impl Coded + Display)) {
    coded(error.code(), error);
}

/// Something that isn't as it should be and stops nothing, with its code.
pub(super) fn warning(warning: &(impl Coded + Display)) {
    say(format_args!("{WARNING}warning[{}]{WARNING:#}: {warning}", warning.code()));
}

/// A code with what is said of it.
pub(super) fn coded(code: &str, text: impl Display) {
    say(format_args!("{ERROR}error[{code}]{ERROR:#}: {text}"));
}

/// A problem that a gate found. `origin` names what was checked.
pub(super) fn problem(origin: &str, problem: &Problem) {
    coded(problem.code, told(origin, problem));
}

/// What is told of a problem, besides its code.
pub(super) fn told(origin: &str, problem: &Problem) -> String {
    let place = problem.path.as_deref().map(|path| format!("{path}: ")).unwrap_or_default();
    let figures = figures(problem.used, problem.allowed);
    let Problem { stage, message, .. } = problem;
    format!("{origin}: {stage}: {place}{message}{figures}")
}

/// What is told of a limit behind a message: nothing, where it wasn't one.
pub(super) fn figures(used: Option<u64>, allowed: Option<u64>) -> String {
    match (used, allowed) {
        (Some(used), Some(allowed)) => format!(" (used {used}, allowed {allowed})"),
        _ => String::new(),
    }
}

/// Text on stdout.
pub(super) fn print(text: &str) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(CliError::Output)
}

/// A JSON value on stdout, in one line.
pub(super) fn print_json(value: &impl Serialize) -> Result<(), CliError> {
    let mut text = serde_json::to_string(value).map_err(|error| CliError::Output(error.into()))?;
    text.push('\n');
    print(&text)
}

/// A duration in milliseconds, with microseconds.
pub(super) fn milliseconds(elapsed: Duration) -> f64 {
    elapsed.as_micros() as f64 / 1e3
}
