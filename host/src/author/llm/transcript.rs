//! A line of a transcript: one call to a model, and what came of it.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::{Completion, FinishReason, LlmError, Message, Usage};

/// What is written.
#[derive(Serialize)]
pub(super) struct Call<'a> {
    pub(super) model: &'a str,
    pub(super) request: Asked<'a>,
    #[serde(flatten)]
    pub(super) outcome: RecordedOutcome,
}

/// What the model was asked. The schema is the same in every call, and no part of it.
#[derive(Serialize)]
pub(super) struct Asked<'a> {
    pub(super) messages: &'a [Message],
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RecordedOutcome {
    Response(Response),
    Error(LlmError),
}

impl RecordedOutcome {
    /// The words in it that are somebody else's.
    pub(super) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let (text, word) = match self {
            Self::Response(Response { text, finish_reason: FinishReason::Other(word), .. }) => {
                (Some(text), Some(word))
            }
            Self::Response(Response { text, .. }) => (Some(text), None),
            Self::Error(error) => (error.message_mut(), None),
        };
        text.into_iter().chain(word)
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Response {
    pub(super) text: String,
    #[serde(default)]
    pub(super) usage: Option<Usage>,
    #[serde(default = "stop")]
    pub(super) finish_reason: FinishReason,
}

fn stop() -> FinishReason {
    FinishReason::Stop
}

impl From<&Result<Completion, LlmError>> for RecordedOutcome {
    fn from(answer: &Result<Completion, LlmError>) -> Self {
        match answer {
            Ok(Completion { text, usage, finish_reason }) => Self::Response(Response {
                text: text.clone(),
                usage: *usage,
                finish_reason: finish_reason.clone(),
            }),
            Err(error) => Self::Error(error.clone()),
        }
    }
}

impl From<RecordedOutcome> for Result<Completion, LlmError> {
    fn from(outcome: RecordedOutcome) -> Self {
        match outcome {
            RecordedOutcome::Response(Response { text, usage, finish_reason }) => {
                Ok(Completion { text, usage, finish_reason })
            }
            RecordedOutcome::Error(error) => Err(error),
        }
    }
}

/// What is read: a call as it was recorded, or an answer that somebody wrote by hand.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedLine {
    #[serde(default, rename = "model")]
    _model: Option<IgnoredAny>,
    #[serde(default, rename = "request")]
    _request: Option<IgnoredAny>,
    response: Option<Response>,
    error: Option<LlmError>,
    text: Option<String>,
    usage: Option<Usage>,
    finish_reason: Option<FinishReason>,
}

/// Reads a line.
///
/// # Errors
/// What was expected and what was found.
pub(super) fn read(line: &str) -> Result<RecordedOutcome, String> {
    let mut json = serde_json::Deserializer::from_str(line);
    let line: RecordedLine = serde_path_to_error::deserialize(&mut json)
        .map_err(|error| format!("{}{}", at(error.path()), fault(error.inner())))?;
    json.end().map_err(|error| fault(&error))?;
    match line {
        RecordedLine {
            response: Some(response),
            error: None,
            text: None,
            usage: None,
            finish_reason: None,
            ..
        } => Ok(RecordedOutcome::Response(response)),
        RecordedLine {
            response: None,
            error: Some(error),
            text: None,
            usage: None,
            finish_reason: None,
            ..
        } => Ok(RecordedOutcome::Error(error)),
        RecordedLine {
            response: None,
            error: None,
            text: Some(text),
            usage,
            finish_reason,
            ..
        } => {
            let finish_reason = finish_reason.unwrap_or_else(stop);
            Ok(RecordedOutcome::Response(Response { text, usage, finish_reason }))
        }
        _ => Err("expected one of `response`, `error` and `text`".to_owned()),
    }
}

/// Where in a line, if it isn't the line as a whole.
fn at(path: &serde_path_to_error::Path) -> String {
    if path.iter().next().is_none() { String::new() } else { format!("{path}: ") }
}

/// What is wrong with a line. The parser counts lines from this one, which would mislead.
fn fault(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    message.strip_suffix(&place).map_or(message.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let outcomes = [
            RecordedOutcome::Response(Response {
                text: "{\"a\":\n1}".to_owned(),
                usage: Some(Usage { input_tokens: 3, output_tokens: 4 }),
                finish_reason: FinishReason::Other("paused".to_owned()),
            }),
            RecordedOutcome::Error(LlmError::Status {
                model: "m".to_owned(),
                status: 500,
                message: "no".to_owned(),
            }),
        ];
        for outcome in outcomes {
            let call =
                Call { model: "m", request: Asked { messages: &[] }, outcome: outcome.clone() };
            let line = serde_json::to_string(&call).unwrap_or_default();
            assert_eq!(read(&line), Ok(outcome), "{line}");
        }
    }

    #[test]
    fn an_answer_may_be_written_by_hand() {
        let plain =
            Response { text: "{}".to_owned(), usage: None, finish_reason: FinishReason::Stop };
        assert_eq!(read(r#"{"text": "{}"}"#), Ok(RecordedOutcome::Response(plain.clone())));
        assert_eq!(
            read(r#"{"response": {"text": "{}"}}"#),
            Ok(RecordedOutcome::Response(plain.clone()))
        );
        let cut = Response { finish_reason: FinishReason::Length, ..plain };
        let line = r#"{"text": "{}", "finish_reason": "length"}"#;
        assert_eq!(read(line), Ok(RecordedOutcome::Response(cut)));
    }

    #[test]
    fn anything_else_is_refused() {
        for line in [
            "",
            "[]",
            "{}",
            r#"{"text": 1}"#,
            r#"{"text": "a", "response": {"text": "b"}}"#,
            r#"{"response": {"text": "b"}, "usage": {"input_tokens": 1, "output_tokens": 1}}"#,
            r#"{"text": "a", "usage": {"input_tokens": -1, "output_tokens": 1}}"#,
            r#"{"error": {"code": "no_such_code", "message": "x"}}"#,
            r#"{"event_type": "a plan itself"}"#,
            r#"{"text": "a"} {"text": "b"}"#,
        ] {
            assert!(read(line).is_err(), "{line}");
        }
    }
}
