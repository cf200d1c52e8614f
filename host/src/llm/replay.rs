//! A client that answers from a transcript.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;

use super::transcript::{self, Outcome};
use super::{Completion, LlmClient, LlmError, LlmRequest, NAME_CHARS};
use crate::untrusted::bounded;
use crate::untrusted::sanitize;

/// How long a transcript may be, in bytes.
const MAX_BYTES: u64 = 256 << 20;

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
    outcomes: Vec<Outcome>,
    next: AtomicUsize,
}

impl Replay {
    /// Reads a transcript.
    ///
    /// # Errors
    /// [`LlmError::Replay`]: the file can't be read, is larger than 256 MiB, or isn't a transcript.
    pub fn open(file: &Path) -> Result<Self, LlmError> {
        let name = named(&file.display().to_string());
        let mut text = String::new();
        let read = File::open(file)
            .and_then(|file| file.take(MAX_BYTES + 1).read_to_string(&mut text))
            .map_err(|error| error.to_string());
        let whole = read.and_then(|bytes| match u64::try_from(bytes) {
            Ok(bytes) if bytes <= MAX_BYTES => Ok(()),
            _ => Err(format!("expected at most {MAX_BYTES} bytes, found more")),
        });
        match whole {
            Ok(()) => Self::read(name, &text),
            Err(message) => Err(LlmError::Replay { model: name, message }),
        }
    }

    /// Reads the text of a transcript. `origin` names it in records and errors.
    ///
    /// # Errors
    /// [`LlmError::Replay`], for text that isn't a transcript.
    ///
    /// # Example
    /// ```
    /// use retort::llm::Replay;
    ///
    /// let replay = Replay::parse("{\"text\": \"first\"}\n{\"text\": \"second\"}\n", "answers")?;
    /// assert_eq!(replay.len(), 2);
    /// # Ok::<(), retort::llm::LlmError>(())
    /// ```
    pub fn parse(text: &str, origin: &str) -> Result<Self, LlmError> {
        Self::read(named(origin), text)
    }

    fn read(name: String, text: &str) -> Result<Self, LlmError> {
        let mut outcomes = Vec::new();
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let outcome = transcript::read(line).map_err(|message| {
                let message = bounded(&message, MESSAGE_CHARS);
                let message = format!("line {}: expected a recorded call: {message}", index + 1);
                LlmError::Replay { model: name.clone(), message }
            })?;
            outcomes.push(outcome);
        }
        Ok(Self { name, outcomes, next: AtomicUsize::new(0) })
    }

    /// How many answers there are in all.
    #[must_use]
    pub fn len(&self) -> usize {
        self.outcomes.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.outcomes.is_empty()
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
        match self.outcomes.get(index) {
            Some(outcome) => outcome.clone().into(),
            None => Err(LlmError::Replay {
                model: self.name.clone(),
                message: format!(
                    "expected an answer to request {}, found {} in the transcript",
                    index.saturating_add(1),
                    self.outcomes.len()
                ),
            }),
        }
    }
}
