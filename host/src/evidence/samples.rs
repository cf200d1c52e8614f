//! The sample events that a candidate is run over.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use thiserror::Error;

use crate::abi::event::{DEFAULT_MAX_EVENT_BYTES, EVENT_TYPE};
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::diagnostics::wording::json_in_line;
use crate::json::document::DocumentKind;
use crate::json::tally::Tally;
use crate::plan::EventPattern;

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
#[non_exhaustive]
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
    /// A line is longer than an event may be that is served.
    #[error("{origin} line {line}: expected a sample of at most {allowed} bytes, found {used}")]
    SampleTooLarge {
        /// Where the line is.
        origin: String,
        /// The line, from 1.
        line: usize,
        /// How many bytes it has.
        used: usize,
        /// How many it may have.
        allowed: usize,
    },
    /// All of them are more than is held in memory.
    #[error("{origin}: expected samples of at most {allowed} {what} in all, found more")]
    TooLarge {
        /// Where they are.
        origin: String,
        /// What is counted: `bytes` or `JSON values`.
        what: &'static str,
        /// How many there may be.
        allowed: usize,
    },
}

impl Coded for SamplesError {
    fn entry(&self) -> Code {
        match self {
            Self::Empty { .. } => codes::NO_SAMPLES,
            Self::NotJson { .. } => codes::SAMPLE_NOT_JSON,
            Self::NoEventType { .. } => codes::SAMPLE_WITHOUT_EVENT_TYPE,
            Self::SampleTooLarge { .. } => codes::SAMPLE_TOO_LARGE,
            Self::TooLarge { .. } => codes::SAMPLES_TOO_LARGE,
        }
    }

    fn usage(&self) -> Option<(u64, u64)> {
        match self {
            Self::SampleTooLarge { used, allowed, .. } => Some((*used as u64, *allowed as u64)),
            _ => None,
        }
    }
}

impl Samples {
    /// Reads sample events, one JSON object a line; blank lines are skipped. `origin` names the text in errors. Each may be
    /// as long as an event that is served by default, and all together as [`DocumentKind::Samples`] says.
    ///
    /// # Errors
    /// [`SamplesError`], for the first line that isn't an event or is too long, when there is none, or when they are too
    /// much.
    pub fn parse(text: &str, origin: &str) -> Result<Self, SamplesError> {
        Self::parse_within(text, origin, DEFAULT_MAX_EVENT_BYTES)
    }

    /// The same, where an event that is served may have `event_bytes` bytes.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_within(
        text: &str,
        origin: &str,
        event_bytes: usize,
    ) -> Result<Self, SamplesError> {
        let origin = || origin.to_owned();
        let too_large = |what, allowed| SamplesError::TooLarge { origin: origin(), what, allowed };
        let max_bytes = DocumentKind::Samples.max_bytes();
        if text.len() > max_bytes {
            return Err(too_large("bytes", max_bytes));
        }
        let max_values = DocumentKind::Samples.max_values().unwrap_or(usize::MAX);
        let mut tally = Tally::new(max_values);
        let mut samples = Vec::new();
        for (index, text) in text.lines().enumerate().filter(|(_, text)| !text.trim().is_empty()) {
            let (line, used) = (index + 1, text.len());
            if used > event_bytes {
                let (origin, allowed) = (origin(), event_bytes);
                return Err(SamplesError::SampleTooLarge { origin, line, used, allowed });
            }
            let found = match event_type(text, &mut tally) {
                Ok(EventType::Some(event_type)) if !event_type.is_empty() => {
                    samples.push(Sample { line, text: text.to_owned(), event_type });
                    continue;
                }
                Ok(EventType::Some(_)) => "an empty one",
                Ok(EventType::OfAnotherType) => "one of another type",
                Ok(EventType::None) => "an object without one",
                Ok(EventType::NoObject) if text.trim_start().starts_with('[') => {
                    "an array: samples are one JSON object a line"
                }
                Ok(EventType::NoObject) => "something else than an object",
                Err(_) if tally.is_exceeded() => return Err(too_large("JSON values", max_values)),
                Err(error) => {
                    let mut message = json_in_line(text, &error);
                    if error.is_eof() {
                        message.push_str("; samples are one JSON object a line");
                    }
                    return Err(SamplesError::NotJson { origin: origin(), line, message });
                }
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

    /// The first of `event_types`, types or prefixes as in a plan, that no sample matches.
    #[must_use]
    pub fn uncovered<'a>(
        &self,
        event_types: impl IntoIterator<Item = &'a String>,
    ) -> Option<&'a str> {
        let missing = |event_type: &&String| {
            let pattern = EventPattern::new(event_type);
            !self.iter().any(|sample| pattern.matches(&sample.event_type))
        };
        event_types.into_iter().find(missing).map(String::as_str)
    }
}

impl<'a> IntoIterator for &'a Samples {
    type Item = &'a Sample;
    type IntoIter = std::slice::Iter<'a, Sample>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// What an event says of its type.
enum EventType {
    Some(String),
    OfAnotherType,
    None,
    NoObject,
}

/// The type of the event in a text. Its values count in `tally`, and no tree of them is built.
fn event_type(text: &str, tally: &mut Tally) -> Result<EventType, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(text);
    tally.deserialize(&mut json)?;
    json.end()?;
    if !text.trim_start().starts_with('{') {
        return Ok(EventType::NoObject);
    }
    let LastEventType(found) = serde_json::from_str(text)?;
    Ok(match found {
        None => EventType::None,
        Some(value) if value.get().starts_with('"') => {
            EventType::Some(serde_json::from_str(value.get())?)
        }
        Some(_) => EventType::OfAnotherType,
    })
}

/// The value of the last `event_type` of an object.
struct LastEventType<'de>(Option<&'de RawValue>);

impl<'de> Deserialize<'de> for LastEventType<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Root;
        impl<'de> Visitor<'de> for Root {
            type Value = LastEventType<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
                let mut found = None;
                while let Some(key) = entries.next_key::<Cow<'de, str>>()? {
                    if key == EVENT_TYPE {
                        found = Some(entries.next_value()?);
                    } else {
                        entries.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(LastEventType(found))
            }
        }
        deserializer.deserialize_map(Root)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::{Samples, SamplesError};
    use crate::diagnostics::problem::Coded;
    use crate::json::document::DocumentKind;

    fn code(text: &str) -> &'static str {
        Samples::parse(text, "samples").map_or_else(|error| error.code(), |_| "ok")
    }

    #[test]
    fn the_last_event_type_counts() {
        let text = r#" {"event_type": 1, "a": {"event_type": "no"}, "event\u005ftype": "\u0061"} "#;
        let samples = Samples::parse(text, "samples").unwrap();
        assert_eq!(samples.iter().map(super::Sample::event_type).collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn what_is_no_event_is_rejected() {
        for (text, expected) in [
            ("", "no_samples"),
            ("{}", "sample_without_event_type"),
            ("[{\"event_type\": \"e\"}]", "sample_without_event_type"),
            ("\"event_type\"", "sample_without_event_type"),
            ("{\"event_type\": \"\"}", "sample_without_event_type"),
            ("{\"event_type\": [\"e\"]}", "sample_without_event_type"),
            ("{\"event_type\": \"e\"} {}", "sample_not_json"),
            ("{\"event_type\": \"e\", \"a\": 1e999}", "sample_not_json"),
        ] {
            assert_eq!(code(text), expected, "{text}");
        }
    }

    #[test]
    fn arrays_and_objects_over_several_lines_are_rejected_with_the_form_that_is_expected() {
        for text in [
            "[\n {\"event_type\": \"e\"}\n]",
            "{\n\"event_type\": \"e\"}",
            "[{\"event_type\": \"e\"}]",
        ] {
            let message = Samples::parse(text, "samples").unwrap_err().to_string();
            assert!(message.contains("samples are one JSON object a line"), "{message}");
        }
    }

    #[test]
    fn a_sample_may_be_as_long_as_an_event_that_is_served() {
        let event = r#"{"event_type":"e"}"#;
        let text = format!("{event}\n{event}  ");
        assert!(Samples::parse_within(&text, "samples", event.len() + 2).is_ok());
        let error = Samples::parse_within(&text, "samples", event.len() + 1).unwrap_err();
        let (line, used, allowed) = (2, event.len() + 2, event.len() + 1);
        let origin = "samples".to_owned();
        assert_eq!(error, SamplesError::SampleTooLarge { origin, line, used, allowed });
        assert_eq!(error.problem().used, Some(used as u64));
    }

    #[test]
    fn samples_are_bounded_in_all() {
        let allowed = DocumentKind::Samples.max_values().unwrap();
        let event = |values: usize| {
            // The object, a key and its value, a key and an array of that many values.
            format!("{{\"event_type\":\"e\",\"a\":[{}0]}}\n", "0,".repeat(values - 6))
        };
        assert_eq!(code(&event(allowed)), "ok");
        assert_eq!(code(&event(allowed + 1)), "samples_too_large");
        assert_eq!(code(&(event(allowed - 1000) + &event(1000))), "ok");
        assert_eq!(code(&(event(allowed - 1000) + &event(1001))), "samples_too_large");
        let blank = "\n".repeat(DocumentKind::Samples.max_bytes() - event(10).len());
        assert_eq!(code(&(event(10) + &blank)), "ok");
        assert_eq!(code(&(event(10) + &blank + "\n")), "samples_too_large");
    }
}
