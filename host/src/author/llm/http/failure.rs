//! What a status that isn't success means.

use reqwest::StatusCode;
use serde_json::Value;

use super::super::{LlmError, Secrets};
use crate::diagnostics::untrusted::bounded;

/// How much of what a provider said is shown, in characters.
const MESSAGE_CHARS: usize = 300;

/// Where providers put their message in a body.
const MESSAGES: &[&str] =
    &["/error/message", "/0/error/message", "/error", "/message", "/detail", "/error_description"];

/// What a provider answered instead of a success.
pub(super) struct HttpFailure {
    pub(super) status: StatusCode,
    /// The beginning of the body.
    pub(super) body: Vec<u8>,
    /// Where a redirect leads.
    pub(super) location: Option<String>,
}

impl HttpFailure {
    /// Whether the provider didn't take the request as it was put, rather than who asked, how often, or for what model.
    pub(super) fn is_about_the_request(&self) -> bool {
        matches!(self.status, StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY)
            && !self.is_about_the_key()
    }

    /// Everything that the provider said, in lower case, to look for words in.
    pub(super) fn words(&self) -> String {
        String::from_utf8_lossy(&self.body).to_lowercase()
    }

    /// Gemini says so with 400.
    fn is_about_the_key(&self) -> bool {
        matches!(self.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
            || self.status == StatusCode::BAD_REQUEST && self.words().contains("api_key_invalid")
    }

    pub(super) fn into_error(self, model: &str, secrets: &Secrets) -> LlmError {
        let model = model.to_owned();
        let status = self.status.as_u16();
        let message = match &self.location {
            Some(location) if self.status.is_redirection() => format!(
                "it is elsewhere ({}), and a redirect is not followed: a key goes to no address but the one that is configured",
                shown(location, secrets)
            ),
            _ => shown(&said(&self.body), secrets),
        };
        if self.is_about_the_key() {
            LlmError::Unauthorized { model, status, message }
        } else if self.status == StatusCode::TOO_MANY_REQUESTS {
            LlmError::Quota { model, message }
        } else {
            LlmError::Status { model, status, message }
        }
    }
}

/// A provider's words, without keys, on one bounded line.
pub(super) fn shown(text: &str, secrets: &Secrets) -> String {
    bounded(&secrets.redact(text), MESSAGE_CHARS)
}

/// The message in a body of JSON, if it has one.
pub(super) fn message(body: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let found = MESSAGES.iter().find_map(|pointer| value.pointer(pointer)?.as_str());
    found.map(str::to_owned)
}

/// What a body says: its message, or else the text as it is.
fn said(body: &[u8]) -> String {
    let text = message(body).unwrap_or_else(|| String::from_utf8_lossy(body).trim().to_owned());
    if text.is_empty() { "it says nothing more".to_owned() } else { text }
}
