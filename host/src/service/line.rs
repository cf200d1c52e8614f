//! The lines of an answer.

use std::io::Write as _;

use serde::Serialize;
use utoipa::ToSchema;

use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::{Coded, Problem};
use crate::json::string::push_string;
use crate::runtime::{
    Answer, By, Reject, ServeError, push_bundles, push_dropped, push_on_one_line,
};

/// What a request's events came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub(super) struct Counts {
    pub(super) events: u64,
    results: u64,
    empty: u64,
    unrouted: u64,
    rejected: u64,
}

impl Counts {
    /// Adds the line for what became of an event, where there is one.
    pub(super) fn push(
        &mut self,
        lines: &mut Vec<u8>,
        number: u64,
        served: &Result<Answer, ServeError>,
    ) {
        self.events += 1;
        match served {
            Err(error) => {
                self.rejected += 1;
                Reject::new(None, number, &problem(error)).push(lines);
            }
            Ok(answer) if answer.by == By::Nobody => self.unrouted += 1,
            Ok(answer) if is_empty(answer) => self.empty += 1,
            Ok(answer) => {
                self.results += 1;
                push_result(lines, number, answer);
            }
        }
    }
}

/// Whether the extractor has declined the event.
fn is_empty(answer: &Answer) -> bool {
    match answer.shape {
        Some(shape) => shape.is_empty(),
        None => answer.extraction().is_ok_and(|it| it.is_empty()),
    }
}

/// The error as `retort run` tells it.
fn problem(error: &ServeError) -> Problem {
    match error {
        ServeError::Run { error, .. } => error.problem(),
        ServeError::Load(error) => error.problem(),
        ServeError::Graph { problem, .. } => (**problem).clone(),
        error => error.problem(),
    }
}

fn push_result(lines: &mut Vec<u8>, number: u64, answer: &Answer) {
    // A vector takes all that is written.
    let _ = write!(lines, "{{\"line\":{number},\"event_type\":");
    push_string(lines, answer.event_type.as_deref().unwrap_or_default());
    match &answer.by {
        By::Version { version, .. } => push_bundles(lines, std::iter::once(*version)),
        By::Versions { versions, .. } => push_bundles(lines, versions.iter().map(|it| it.1)),
        By::Fallback { .. } | By::Nobody => {}
    }
    lines.extend_from_slice(b",\"result\":");
    push_on_one_line(lines, &answer.json);
    if !answer.dropped.is_empty() {
        push_dropped(lines, &answer.dropped);
    }
    lines.extend_from_slice(b"}\n");
}

/// Why an answer isn't one to the whole request.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Broken {
    #[schema(value_type = String)]
    pub(super) code: Code,
    pub(super) message: String,
    /// All lines up to this one are answered.
    pub(super) line: u64,
}

impl Broken {
    pub(super) fn new(error: &impl Coded, line: u64) -> Self {
        Self { code: error.entry(), message: error.to_string(), line }
    }

    pub(super) fn ending(line: u64) -> Self {
        let message = "the service is ending".to_owned();
        Self { code: codes::SERVICE_ENDING, message, line }
    }

    pub(super) fn too_slow(seconds: u32, line: u64) -> Self {
        let message = format!("nothing has come for {seconds} seconds");
        Self { code: codes::CLIENT_TOO_SLOW, message, line }
    }
}

/// The last line of an answer.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum LastLine<'a> {
    Summary(&'a Counts),
    Error(&'a Broken),
}

impl LastLine<'_> {
    pub(super) fn push(&self, lines: &mut Vec<u8>) {
        // Text and numbers always become JSON.
        lines.extend(serde_json::to_vec(self).unwrap_or_default());
        lines.push(b'\n');
    }
}
