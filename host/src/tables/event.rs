//! What became of events as rows.

use std::sync::Arc;

use retort_columns::arrow_array::RecordBatch;
use retort_columns::arrow_schema::ArrowError;
use retort_columns::{EventOrigin, Rejected, Rows, Tables};

use super::sink::count;
use crate::bundle::Digest;
use crate::diagnostics::problem::{Coded, Problem};
use crate::runtime::{Checked, MAX_DROPPED, ServeError, Spent, Summary, place_in_reject};

/// Rows of what became of events, one after the other: the same that a stream makes of its lines.
#[derive(Debug)]
pub struct EventRows {
    rows: Rows,
    summary: Summary,
    /// The bundle of the last event as text, since it mostly is the next one's as well.
    bundle: Option<(Digest, String)>,
}

impl EventRows {
    /// Without any row.
    #[must_use]
    pub fn new(tables: Arc<Tables>) -> Self {
        Self { rows: Rows::new(tables), summary: Summary::default(), bundle: None }
    }

    /// Adds the rows of an event: what an input is called, if it is called anything, its place in that, and what became of it.
    pub fn add(&mut self, input: Option<&str>, line: i64, made: Result<Checked<'_>, ServeError>) {
        self.summary.events += 1;
        match made {
            Err(error) => self.reject(input, line, &problem(error)),
            Ok(Checked::Unfit { problem, spent, .. }) => {
                self.note(spent);
                self.reject(input, line, &problem);
            }
            Ok(Checked::Unrouted { .. }) => self.summary.unrouted += 1,
            Ok(Checked::Whole { event_type, bundle, outcome }) => {
                self.note(Spent::of(&outcome));
                if outcome.shape.is_empty() {
                    self.summary.empty += 1;
                    return;
                }
                let bundle = named(&mut self.bundle, bundle);
                let origin = EventOrigin { input, line, event_type, bundle };
                self.summary.results += 1;
                count(&self.rows.add(&origin, outcome.json), false, &mut self.summary);
            }
            Ok(Checked::Decided { event_type, bundles, decided, spent }) => {
                self.note(spent);
                if decided.result.is_empty() {
                    self.summary.empty += 1;
                    return;
                }
                let bundles: Vec<String> = bundles.iter().map(ToString::to_string).collect();
                let bundle = &bundles.join(",");
                let origin = EventOrigin { input, line, event_type, bundle };
                for failure in decided.failures.iter().take(MAX_DROPPED) {
                    self.rows.reject(&Rejected {
                        input,
                        line,
                        event_type: Some(event_type),
                        bundle: Some(bundle),
                        is_event: false,
                        code: failure.code.name,
                        path: Some(&failure.path),
                        message: &failure.detail,
                    });
                }
                self.summary.results += 1;
                let was_in_part = !decided.failures.is_empty();
                if was_in_part {
                    self.summary.note_dropped(&decided.failures);
                }
                // Text and numbers always become JSON.
                let json = serde_json::to_vec(&decided.result).unwrap_or_default();
                count(&self.rows.add(&origin, &json), was_in_part, &mut self.summary);
            }
        }
    }

    fn note(&mut self, Spent { fuel, failed_conversions }: Spent) {
        self.summary.fuel += fuel;
        self.summary.failed_conversions += failed_conversions;
    }

    /// Adds an event that has failed before an extractor had it.
    pub fn reject(&mut self, input: Option<&str>, line: i64, problem: &Problem) {
        *self.summary.rejects.entry(problem.code.name).or_default() += 1;
        self.rows.reject(&Rejected {
            input,
            line,
            event_type: None,
            bundle: None,
            is_event: true,
            code: problem.code.name,
            path: place_in_reject(problem),
            message: &problem.message,
        });
    }

    /// What was added since: a batch for each table that has rows, with the place of the table among all.
    ///
    /// # Errors
    /// As [`Rows::take`].
    pub fn take(&mut self) -> Result<Vec<(usize, RecordBatch)>, ArrowError> {
        self.rows.take()
    }

    /// What all events came to.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }
}

fn problem(error: ServeError) -> Problem {
    match error {
        ServeError::Run { error, .. } => error.problem(),
        ServeError::Load(error) => error.problem(),
        ServeError::Graph { problem, .. } => *problem,
        error => error.problem(),
    }
}

fn named(last: &mut Option<(Digest, String)>, bundle: Digest) -> &str {
    if last.as_ref().is_none_or(|(known, _)| *known != bundle) {
        *last = Some((bundle, bundle.to_string()));
    }
    last.as_ref().map_or("", |(_, text)| text)
}

#[cfg(test)]
mod tests;
