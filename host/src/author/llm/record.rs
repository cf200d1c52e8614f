//! A client that records what another one was asked and answered.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;

use super::transcript::{Call, texts_mut};
use super::{Completion, LlmClient, LlmError, LlmRequest, Secrets};

/// Records every call of a client, for [`Replay`](super::Replay) to answer from.
///
/// A call is a line of JSON, written and flushed before the answer is handed on:
/// `{"model", "request": {"messages"}, "response": {"text", "usage", "finish_reason"}}`, or `"error"` in the place of
/// `"response"`. The same calls give the same bytes. Keys are taken out.
pub struct Recorder<C> {
    client: C,
    transcript: Mutex<Box<dyn Write + Send>>,
    secrets: Secrets,
}

impl<C: LlmClient> Recorder<C> {
    /// Records to a file, in the place of what it held.
    ///
    /// # Errors
    /// [`LlmError::Record`], if it can't be created.
    pub fn create(client: C, file: &Path, secrets: Secrets) -> Result<Self, LlmError> {
        match File::create(file) {
            Ok(transcript) => Ok(Self::new(client, Box::new(transcript), secrets)),
            Err(error) => Err(LlmError::Record {
                model: client.name().to_owned(),
                message: format!("{}: {error}", file.display()),
            }),
        }
    }

    /// Records to whatever can be written to.
    pub fn new(client: C, transcript: Box<dyn Write + Send>, secrets: Secrets) -> Self {
        Self { client, transcript: Mutex::new(transcript), secrets }
    }

    fn redact(&self, text: &mut String) {
        *text = self.secrets.redact(text).into_owned();
    }

    fn record(&self, call: &Call<'_>) -> io::Result<()> {
        let mut line = serde_json::to_string(call)?;
        line.push('\n');
        let mut transcript = self.transcript.lock().unwrap_or_else(PoisonError::into_inner);
        transcript.write_all(line.as_bytes())?;
        transcript.flush()
    }
}

#[async_trait]
impl<C: LlmClient> LlmClient for Recorder<C> {
    fn name(&self) -> &str {
        self.client.name()
    }

    /// # Errors
    /// Those of the client, and [`LlmError::Record`].
    async fn generate_json(&self, request: LlmRequest) -> Result<Completion, LlmError> {
        let mut messages = request.messages.clone();
        messages.iter_mut().for_each(|message| self.redact(&mut message.text));
        let answer = self.client.generate_json(request).await;
        let mut shown = answer.clone();
        texts_mut(&mut shown).for_each(|text| self.redact(text));
        self.record(&Call::new(self.name(), &messages, &shown)).map_err(|error| {
            LlmError::Record { model: self.name().to_owned(), message: error.to_string() }
        })?;
        answer
    }

    fn remark(&self) -> Option<String> {
        self.client.remark()
    }

    fn costs_tokens(&self) -> bool {
        self.client.costs_tokens()
    }
}

impl<C: fmt::Debug> fmt::Debug for Recorder<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("client", &self.client).finish_non_exhaustive()
    }
}
