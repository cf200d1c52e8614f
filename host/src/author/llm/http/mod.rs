//! Models that are reached over HTTP.

mod endpoint;
mod failure;
mod tls;
mod transport;

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName};
use serde::de::DeserializeOwned;
use serde_json::Value;

use self::endpoint::Endpoint;
pub(super) use self::endpoint::Provider;
use self::failure::shown;
use self::transport::{Reply, Transport};
use super::{
    ClientConfig, Completion, FinishReason, LlmError, LlmRequest, NAME_CHARS, ResponseFormat,
};
use crate::diagnostics::untrusted::sanitize;

/// The parts of a request that not every service takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Terms {
    pub(super) format: ResponseFormat,
    pub(super) temperature: Option<f64>,
    /// Whether the limit on the answer goes by the name that it had before.
    pub(super) former_limit: bool,
}

/// What is particular to a provider's protocol.
pub(super) trait Protocol: Send + Sync {
    const PROVIDER: Provider;

    /// The path below the base URL.
    fn path(model: &str) -> Vec<String>;

    /// The header that holds the key.
    fn authorize(key: &str) -> (HeaderName, String);

    /// All other headers.
    fn headers() -> HeaderMap {
        HeaderMap::new()
    }

    /// The body of a request.
    fn body(&self, request: &LlmRequest, terms: Terms) -> Value;

    /// The terms to ask on after a refusal of these, if it is them that the provider complains of. `words` is what it
    /// said, in lower case. Every step gives something up, so that there is an end to it.
    fn ease(&self, terms: Terms, words: &str) -> Option<Terms>;

    /// Reads the body of an answer.
    ///
    /// # Errors
    /// What was expected and what was found.
    fn read(&self, body: &[u8]) -> Result<Completion, String>;
}

/// A model at the other end of a protocol.
pub(super) struct Remote<P> {
    protocol: P,
    transport: Transport,
    timeout: Duration,
    /// Eased for good as soon as the provider is found to answer only on easier ones.
    terms: Mutex<Terms>,
}

impl<P: Protocol> Remote<P> {
    pub(super) fn new(model: &str, protocol: P, config: &ClientConfig) -> Result<Self, LlmError> {
        let endpoint = Endpoint::resolve(&P::PROVIDER, config, |name| std::env::var(name).ok())?;
        let path = P::path(model);
        let segments: Vec<&str> = path.iter().map(String::as_str).collect();
        let url = endpoint.url(&segments);
        let name = format!("{}:{}", P::PROVIDER.label, sanitize(model, NAME_CHARS));
        let transport = Transport::new(name, &endpoint, url, P::authorize, P::headers(), config)?;
        let terms = Terms {
            format: config.response_format,
            temperature: config.temperature,
            former_limit: false,
        };
        Ok(Self { protocol, transport, timeout: config.timeout, terms: Mutex::new(terms) })
    }

    pub(super) fn name(&self) -> &str {
        self.transport.model()
    }

    pub(super) async fn generate(&self, request: &LlmRequest) -> Result<Completion, LlmError> {
        match tokio::time::timeout(self.timeout, self.negotiate(request)).await {
            Ok(answer) => answer,
            Err(_) => Err(LlmError::Timeout { model: self.name().to_owned(), after: self.timeout }),
        }
    }

    /// Asks, on easier terms if the provider doesn't take these.
    async fn negotiate(&self, request: &LlmRequest) -> Result<Completion, LlmError> {
        let mut terms = *self.terms.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let failure = match self.transport.post(&self.protocol.body(request, terms)).await? {
                Reply::Success(body) => {
                    *self.terms.lock().unwrap_or_else(PoisonError::into_inner) = terms;
                    return self.completion(&body);
                }
                Reply::Failure(failure) => failure,
            };
            let easier = failure
                .is_about_the_request()
                .then(|| self.protocol.ease(terms, &failure.words()))
                .flatten();
            terms =
                easier.ok_or_else(|| failure.into_error(self.name(), self.transport.secrets()))?;
        }
    }

    /// Reads an answer. A provider may repeat the key anywhere in it.
    fn completion(&self, body: &[u8]) -> Result<Completion, LlmError> {
        let secrets = self.transport.secrets();
        let completion = self.protocol.read(body).map_err(|message| {
            let said = failure::message(body).map(|said| format!(", and the message {said}"));
            let message = message + &said.unwrap_or_default();
            LlmError::Protocol { model: self.name().to_owned(), message: shown(&message, secrets) }
        })?;
        let finish_reason = match completion.finish_reason {
            FinishReason::Other(word) => FinishReason::Other(shown(&word, secrets)),
            known => known,
        };
        let text = secrets.redact(&completion.text).into_owned();
        Ok(Completion { text, finish_reason, ..completion })
    }
}

impl<P> fmt::Debug for Remote<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("model", &self.transport.model())
            .field("timeout", &self.timeout)
            .field("terms", &self.terms)
            .finish_non_exhaustive()
    }
}

/// Reads JSON of a known shape. The error names the path at which it differs.
pub(super) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    let mut json = serde_json::Deserializer::from_slice(body);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        if error.inner().is_data() {
            error.to_string()
        } else {
            format!("expected JSON, found {}", String::from_utf8_lossy(body))
        }
    })?;
    json.end().map_err(|error| format!("expected nothing after the JSON: {error}"))?;
    Ok(value)
}
