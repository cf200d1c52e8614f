//! A line of a transcript: one call to a model, and what came of it.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::{Completion, FinishReason, LlmError, Message, Usage};

/// What came of a call.
pub(super) type Answered = Result<Completion, LlmError>;

/// What is written.
#[derive(Serialize)]
pub(super) struct Call<'a> {
    model: &'a str,
    request: Asked<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<&'a Completion>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a LlmError>,
}

/// What the model was asked. The schema is the same in every call, and no part of it.
#[derive(Serialize)]
struct Asked<'a> {
    messages: &'a [Message],
}

impl<'a> Call<'a> {
    pub(super) fn new(model: &'a str, messages: &'a [Message], answered: &'a Answered) -> Self {
        let (response, error) = (answered.as_ref().ok(), answered.as_ref().err());
        Self { model, request: Asked { messages }, response, error }
    }
}

/// The words in an answer that are somebody else's.
pub(super) fn texts_mut(answered: &mut Answered) -> impl Iterator<Item = &mut String> {
    let (text, word) = match answered {
        Ok(Completion { text, finish_reason: FinishReason::Other(word), .. }) => {
            (Some(text), Some(word))
        }
        Ok(Completion { text, .. }) => (Some(text), None),
        Err(error) => (error.message_mut(), None),
    };
    text.into_iter().chain(word)
}

/// What is read: a call as it was recorded, or an answer that somebody wrote by hand.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordedLine {
    #[serde(default, rename = "model")]
    _model: Option<IgnoredAny>,
    #[serde(default, rename = "request")]
    _request: Option<IgnoredAny>,
    response: Option<Completion>,
    error: Option<LlmError>,
    text: Option<String>,
    usage: Option<Usage>,
    finish_reason: Option<FinishReason>,
}

/// Reads a line.
///
/// # Errors
/// What was expected and what was found.
pub(super) fn read(line: &str) -> Result<Answered, String> {
    let mut json = serde_json::Deserializer::from_str(line);
    let line: RecordedLine = serde_path_to_error::deserialize(&mut json)
        .map_err(|error| format!("{}{}", at(error.path()), fault(error.inner())))?;
    json.end().map_err(|error| fault(&error))?;
    let RecordedLine { response, error, text, usage, finish_reason, .. } = line;
    let is_by_hand = text.is_some() || usage.is_some() || finish_reason.is_some();
    match (response, error, text) {
        (Some(response), None, None) if !is_by_hand => Ok(Ok(response)),
        (None, Some(error), None) if !is_by_hand => Ok(Err(error)),
        (None, None, Some(text)) => {
            let finish_reason = finish_reason.unwrap_or_default();
            Ok(Ok(Completion { text, usage, finish_reason }))
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
        let answers = [
            Ok(Completion {
                text: "{\"a\":\n1}".to_owned(),
                usage: Some(Usage { input_tokens: 3, output_tokens: 4 }),
                finish_reason: FinishReason::Other("paused".to_owned()),
            }),
            Err(LlmError::Status { model: "m".to_owned(), status: 500, message: "no".to_owned() }),
        ];
        for answered in answers {
            let line = serde_json::to_string(&Call::new("m", &[], &answered)).unwrap_or_default();
            assert_eq!(read(&line), Ok(answered), "{line}");
        }
    }

    #[test]
    fn an_answer_may_be_written_by_hand() {
        let plain =
            Completion { text: "{}".to_owned(), usage: None, finish_reason: FinishReason::Stop };
        assert_eq!(read(r#"{"text": "{}"}"#), Ok(Ok(plain.clone())));
        assert_eq!(read(r#"{"response": {"text": "{}"}}"#), Ok(Ok(plain.clone())));
        let cut = Completion { finish_reason: FinishReason::Length, ..plain };
        assert_eq!(read(r#"{"text": "{}", "finish_reason": "length"}"#), Ok(Ok(cut)));
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
