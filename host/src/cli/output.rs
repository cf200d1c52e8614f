//! What a person reads on stderr, and the one JSON value that a program reads on stdout.
//!
//! Nothing that doesn't show gets through: names of files, of events and of whatever else a command was given can't steer a
//! terminal.

use std::fmt::Display;
use std::io::{self, Write};
use std::time::Duration;

use clap::builder::styling::{AnsiColor, Style};
use retort::Coded;
use retort::diagnostics::{Problem, sanitize, visible};
use retort::internal::codes::RUSTC_UNCONFINED;
use retort::internal::diagnose::visible_json;
use retort::sandbox::Confinement;
use serde::Serialize;

use super::error::CliError;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const NOTE: Style = AnsiColor::Cyan.on_default().bold();

/// One line on stderr.
pub(super) fn say(line: impl Display) {
    // There is nowhere left to report that stderr can't be written.
    let _ = writeln!(anstream::stderr(), "{}", visible(&line.to_string()));
}

/// One line on stderr after a word in a style, whatever the text holds. Colours are taken out where that isn't a terminal.
fn headed(style: Style, word: impl Display, text: impl Display) {
    let _ = writeln!(anstream::stderr(), "{style}{word}{style:#}: {}", on_one_line(text));
}

fn on_one_line(text: impl Display) -> String {
    sanitize(&text.to_string(), usize::MAX)
}

/// A remark that isn't an error.
pub(super) fn note(text: impl Display) {
    headed(NOTE, "note", text);
}

/// An error with its code.
pub(super) fn error(error: &impl Coded) {
    coded(error.code(), error);
}

/// Something that isn't as it should be and stops nothing, with its code.
pub(super) fn warning(warning: &impl Coded) {
    headed(WARNING, format_args!("warning[{}]", warning.code()), warning);
}

/// That a compiler that was given source could do more than it has to, where it could.
pub(super) fn confinement(found: Option<Confinement>) {
    if let Some(text) = found.and_then(less_than_full) {
        headed(WARNING, format_args!("warning[{}]", RUSTC_UNCONFINED.name), text);
    }
}

fn less_than_full(found: Confinement) -> Option<&'static str> {
    match found {
        Confinement::Landlock => None,
        Confinement::None => Some(
            "this kernel has no Landlock, so that nothing but the source gate kept the Rust compiler from the files of this machine",
        ),
        _ => Some(
            "this kernel has a part of Landlock, so that the Rust compiler was kept from files, and not from all else that it doesn't need",
        ),
    }
}

/// What looks wrong, and may be right.
pub(super) fn suspect(origin: &str, problem: &Problem) {
    headed(WARNING, format_args!("warning[{}]", problem.code), told(origin, problem));
}

/// A code with what is said of it.
pub(super) fn coded(code: &str, text: impl Display) {
    headed(ERROR, format_args!("error[{code}]"), text);
}

/// A problem that a gate found. `origin` names what was checked.
pub(super) fn problem(origin: &str, problem: &Problem) {
    coded(problem.code.name, told(origin, problem));
}

/// All that a gate found.
pub(super) fn problems(origin: &str, problems: &[Problem]) {
    problems.iter().for_each(|found| problem(origin, found));
}

/// What is reported of a problem, besides its code.
pub(super) fn told(origin: &str, problem: &Problem) -> String {
    let place = problem.path.as_deref().map(|path| format!("{path}: ")).unwrap_or_default();
    let figures = figures(problem.used, problem.allowed);
    let Problem { stage, message, .. } = problem;
    format!("{origin}: {stage}: {place}{message}{figures}")
}

/// What is reported of a limit after a message: nothing, where it wasn't one.
pub(super) fn figures(used: Option<u64>, allowed: Option<u64>) -> String {
    match (used, allowed) {
        (Some(used), Some(allowed)) => format!(" (used {used}, allowed {allowed})"),
        _ => String::new(),
    }
}

/// Text on stdout.
pub(super) fn print(text: &str) -> Result<(), CliError> {
    write(&visible(text))
}

/// One line of text on stdout, whatever it holds.
pub(super) fn print_line(line: impl Display) -> Result<(), CliError> {
    write(&(on_one_line(line) + "\n"))
}

/// Text on stdout that a program takes as it stands: the path of a bundle.
pub(super) fn write(text: &str) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(CliError::Output)
}

/// A JSON value on stdout, or what a person reads in its place.
pub(super) fn print_as(
    json: bool,
    value: &impl Serialize,
    text: impl FnOnce() -> String,
) -> Result<(), CliError> {
    if json { print_json(value) } else { print(&text()) }
}

/// A JSON value on stdout, in one line.
pub(super) fn print_json(value: &impl Serialize) -> Result<(), CliError> {
    write_json(serde_json::to_string(value))
}

/// A JSON value on stdout, indented by two.
pub(super) fn print_pretty(value: &impl Serialize) -> Result<(), CliError> {
    write_json(serde_json::to_string_pretty(value))
}

fn write_json(text: serde_json::Result<String>) -> Result<(), CliError> {
    let text = text.map_err(|error| CliError::Output(error.into()))?;
    write(&visible_json(&(text + "\n")))
}

/// A duration in milliseconds, with microseconds.
pub(super) fn milliseconds(elapsed: Duration) -> f64 {
    elapsed.as_micros() as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compiler_that_is_confined_in_full_is_nothing_to_warn_of() {
        assert_eq!(less_than_full(Confinement::Landlock), None);
        for less in [Confinement::Partial, Confinement::None] {
            assert!(less_than_full(less).is_some_and(|it| it.contains("Landlock")), "{less:?}");
        }
    }
}
