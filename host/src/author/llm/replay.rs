//! A client that answers from a transcript.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;

use super::config::MAX_RESPONSE_BYTES;
use super::transcript::{self, Answered, texts_mut};
use super::{Completion, LlmClient, LlmError, LlmRequest, NAME_CHARS};
use crate::diagnostics::untrusted::{bounded, sanitize};
use crate::json::document::DocumentKind;
use crate::json::{Line, Lines};

/// How long a recorded call may be, in bytes: most of it is what was asked, the latest prompt or a whole conversation.
const MAX_CALL_BYTES: usize = 16 << 20;

/// How much of what is wrong with a line is shown, in characters.
const MESSAGE_CHARS: usize = 300;

/// Answers in the order of a transcript, whatever is asked: errors as well, and with the usage that was reported then.
///
/// A transcript holds a call on each line, as [`Recorder`](super::Recorder) writes it. What was asked need not be in it:
/// `{"text": "..."}` is a line as well, with `usage` and `finish_reason` if they matter. Empty lines are skipped.
///
/// Answers count as costing tokens, so that budgets end the run where they ended the one that was recorded.
#[derive(Debug)]
pub struct Replay {
    name: String,
    answers: Vec<Answered>,
    next: AtomicUsize,
}

impl Replay {
    /// Reads a transcript.
    ///
    /// # Errors
    /// [`LlmError::Replay`]: the file can't be read, is larger than [`DocumentKind::Recording`] allows, or isn't a transcript.
    pub fn open(file: &Path) -> Result<Self, LlmError> {
        let name = named(&file.display().to_string());
        match File::open(file) {
            Ok(file) => Self::read(name, BufReader::new(file)),
            Err(error) => {
                let message = format!("cannot read a recording: {error}");
                Err(LlmError::Replay { model: name, message })
            }
        }
    }

    /// Reads the text of a transcript. `origin` names it in records and errors.
    ///
    /// # Errors
    /// [`LlmError::Replay`], for text that isn't a transcript.
    ///
    /// # Example
    /// ```
    /// use retort::author::llm::Replay;
    ///
    /// let replay = Replay::parse("{\"text\": \"first\"}\n{\"text\": \"second\"}\n", "answers")?;
    /// assert_eq!(replay.len(), 2);
    /// # Ok::<(), retort::author::llm::LlmError>(())
    /// ```
    pub fn parse(text: &str, origin: &str) -> Result<Self, LlmError> {
        Self::read(named(origin), text.as_bytes())
    }

    fn read(name: String, transcript: impl BufRead) -> Result<Self, LlmError> {
        let max_bytes = DocumentKind::Recording.max_bytes();
        let mut bytes = transcript.take(max_bytes as u64 + 1);
        let answers = match (calls(&mut bytes), bytes.limit()) {
            // What was read is a part of it, whatever is wrong with the last line of that.
            (_, 0) => Err(format!("expected at most {max_bytes} bytes, found more")),
            (answers, _) => answers,
        };
        let failed = |message| LlmError::Replay { model: name.clone(), message };
        Ok(Self { answers: answers.map_err(failed)?, name, next: AtomicUsize::new(0) })
    }

    /// How many answers there are in all.
    #[must_use]
    pub fn len(&self) -> usize {
        self.answers.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }
}

/// Reads a transcript, line by line: what was asked isn't kept.
fn calls(transcript: impl BufRead) -> Result<Vec<Answered>, String> {
    let mut answers = Vec::new();
    let mut lines = Lines::new(transcript, MAX_CALL_BYTES);
    while let Some(line) =
        lines.next_line().map_err(|error| format!("cannot read a recording: {error}"))?
    {
        let (number, answer) = match line {
            Line::Whole { number, text } => (number, call(text)),
            Line::TooLong { number, bytes } => {
                (number, Err(format!("expected at most {MAX_CALL_BYTES} bytes, found {bytes}")))
            }
        };
        answers.push(answer.map_err(|message| {
            let message = bounded(&message, MESSAGE_CHARS);
            format!("line {number}: expected a recorded call: {message}")
        })?);
    }
    Ok(answers)
}

/// Reads a line of a transcript.
fn call(line: &[u8]) -> Result<Answered, String> {
    let line =
        std::str::from_utf8(line).map_err(|error| format!("expected valid UTF-8: {error}"))?;
    let mut answered = transcript::read(line)?;
    match texts_mut(&mut answered).map(|text| text.len()).max() {
        Some(used) if used > MAX_RESPONSE_BYTES => {
            Err(format!("expected an answer of at most {MAX_RESPONSE_BYTES} bytes, found {used}"))
        }
        _ => Ok(answered),
    }
}

/// What the model is called. A file's name may hold anything.
fn named(origin: &str) -> String {
    format!("replay:{}", sanitize(origin, NAME_CHARS))
}

#[async_trait]
impl LlmClient for Replay {
    fn name(&self) -> &str {
        &self.name
    }

    /// # Errors
    /// The error that was recorded; [`LlmError::Replay`] after the last answer.
    async fn generate_json(&self, _: LlmRequest) -> Result<Completion, LlmError> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        match self.answers.get(index) {
            Some(answered) => answered.clone(),
            None => Err(LlmError::Replay {
                model: self.name.clone(),
                message: format!(
                    "expected an answer to request {}, found {} in the transcript",
                    index.saturating_add(1),
                    self.answers.len()
                ),
            }),
        }
    }
}
