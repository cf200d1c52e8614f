//! The sample events that a candidate is run over.

use serde_json::Value;
use thiserror::Error;

use crate::plan::EventPattern;
use crate::problem::{Coded, Problem, Stage, json_fault};

/// One sample event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    line: usize,
    text: String,
    event_type: String,
}

impl Sample {
    /// The line that it was read from, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// The event, as it was read.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its event type.
    #[must_use]
    pub fn event_type(&self) -> &str {
        &self.event_type
    }
}

/// At least one sample event, each an object with an event type. Made by [`Samples::parse`] alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Samples {
    samples: Vec<Sample>,
}

/// Why sample events can't be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SamplesError {
    /// There are none.
    #[error("{origin}: expected at least one sample event, one JSON object a line, found none")]
    Empty {
        /// Where they were looked for.
        origin: String,
    },
    /// A line isn't JSON.
    #[error("{origin} line {line}: the sample is not JSON: {message}")]
    NotJson {
        /// Where the line is.
        origin: String,
        /// The line, from 1.
        line: usize,
        /// What the JSON parser says.
        message: String,
    },
    /// A line is JSON and not an event.
    #[error(
        "{origin} line {line}: expected an object with a non-empty string `event_type`, found {found}"
    )]
    NoEventType {
        /// Where the line is.
        origin: String,
        /// The line, from 1.
        line: usize,
        /// What is there instead.
        found: &'static str,
    },
}

impl SamplesError {
    /// Every code of this error.
    pub const CODES: &'static [&'static str] =
        &["no_samples", "sample_not_json", "sample_without_event_type"];

    /// This error as data.
    #[must_use]
    pub fn problem(&self) -> Problem {
        Problem::new(Stage::Input, self.code(), self.to_string())
    }
}

impl Coded for SamplesError {
    fn code(&self) -> &'static str {
        match self {
            Self::Empty { .. } => "no_samples",
            Self::NotJson { .. } => "sample_not_json",
            Self::NoEventType { .. } => "sample_without_event_type",
        }
    }
}

impl Samples {
    /// Reads sample events, one JSON object a line; blank lines are skipped. `origin` names the text in errors.
    ///
    /// # Errors
    /// [`SamplesError`], for the first line that isn't an event, or when there is none.
    pub fn parse(text: &str, origin: &str) -> Result<Self, SamplesError> {
        let origin = || origin.to_owned();
        let mut samples = Vec::new();
        for (index, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
            let line = index + 1;
            let value: Value = serde_json::from_str(text).map_err(|error| {
                SamplesError::NotJson { origin: origin(), line, message: json_fault(text, &error) }
            })?;
            let found = match value.get("event_type") {
                Some(Value::String(event_type)) if !event_type.is_empty() => {
                    samples.push(Sample {
                        line,
                        text: text.to_owned(),
                        event_type: event_type.clone(),
                    });
                    continue;
                }
                Some(Value::String(_)) => "an empty one",
                Some(_) => "one of another type",
                None if value.is_object() => "an object without one",
                None => "something else than an object",
            };
            return Err(SamplesError::NoEventType { origin: origin(), line, found });
        }
        if samples.is_empty() {
            return Err(SamplesError::Empty { origin: origin() });
        }
        Ok(Self { samples })
    }

    /// The samples, in the order in which they were read; never empty.
    pub fn iter(&self) -> std::slice::Iter<'_, Sample> {
        self.samples.iter()
    }

    /// The first of `event_types`, types or prefixes as a plan writes them, that no sample matches.
    #[must_use]
    pub fn uncovered<'a>(&self, event_types: &'a [String]) -> Option<&'a str> {
        let missing = |event_type: &&String| {
            let pattern = EventPattern::new(event_type);
            !self.iter().any(|sample| pattern.matches(&sample.event_type))
        };
        event_types.iter().find(missing).map(String::as_str)
    }
}

impl<'a> IntoIterator for &'a Samples {
    type Item = &'a Sample;
    type IntoIter = std::slice::Iter<'a, Sample>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
