//! One request, and a bounded answer to it.

use std::error::Error;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Response, Url, redirect};
use serde_json::Value;

use super::super::{ClientConfig, LlmError, Secrets};
use super::failure::{HttpFailure, shown};
use super::service::Service;
use super::tls;

/// How much of the body is read that comes with a failure.
const MAX_FAILURE_BYTES: usize = 64 << 10;

/// What came back.
pub(super) enum Reply {
    /// The body of a success.
    Success(Vec<u8>),
    Failure(HttpFailure),
}

/// A connection to one address, with the key to it.
pub(super) struct Transport {
    client: Client,
    model: String,
    url: Url,
    headers: HeaderMap,
    secrets: Secrets,
    max_bytes: usize,
}

impl Transport {
    /// To the path below the service, with its key and these other headers.
    ///
    /// # Errors
    /// [`LlmError::Config`]: a key that no header can hold, or no TLS.
    pub(super) fn new(
        model: String,
        service: &Service,
        path: Vec<String>,
        headers: &[(&'static str, &'static str)],
        config: &ClientConfig,
    ) -> Result<Self, LlmError> {
        let key_header = service.key_header().map_err(|_| LlmError::Config {
            message: format!("expected a key that a header can hold for {model}, found one with control characters or line breaks"),
        })?;
        let other = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        let headers = headers.iter().map(other).chain(key_header).collect();
        let secrets = service.key().cloned().into_iter().fold(config.secrets(), Secrets::with);
        let url = service.url(path);
        let unusable = |error: &dyn Error| LlmError::Config {
            message: format!("{model}: no secure connection can be set up: {error}"),
        };
        let tls = tls::config(service.is_plain()).map_err(|error| unusable(&error))?;
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls)
            .redirect(redirect::Policy::none())
            .connect_timeout(config.connect_timeout)
            .user_agent(concat!("retort/", env!("CARGO_PKG_VERSION")));
        if service.is_loopback() {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| unusable(&error))?;
        Ok(Self { client, model, url, headers, secrets, max_bytes: config.max_response_bytes })
    }

    pub(super) fn model(&self) -> &str {
        &self.model
    }

    pub(super) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Sends `body` as JSON.
    ///
    /// # Errors
    /// [`LlmError::Transport`] and, for a body that is too long, [`LlmError::Protocol`].
    pub(super) async fn post(&self, body: &Value) -> Result<Reply, LlmError> {
        let request = self.client.post(self.url.clone()).headers(self.headers.clone()).json(body);
        let response = request.send().await.map_err(|error| self.broken(error))?;
        if response.status().is_success() {
            return self.whole(response).await.map(Reply::Success);
        }
        Ok(Reply::Failure(beginning(response).await))
    }

    /// The whole body of a success.
    async fn whole(&self, mut response: Response) -> Result<Vec<u8>, LlmError> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.broken(error))? {
            if chunk.len() > self.max_bytes - body.len() {
                return Err(LlmError::Protocol {
                    model: self.model.clone(),
                    message: format!("expected at most {} bytes, found more", self.max_bytes),
                });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    fn broken(&self, error: reqwest::Error) -> LlmError {
        let error = error.without_url();
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            message.push_str(": ");
            message.push_str(&error.to_string());
            cause = error.source();
        }
        LlmError::Transport { model: self.model.clone(), message: shown(&message, &self.secrets) }
    }
}

/// A failure with as much of its body as arrives and is worth reading.
async fn beginning(mut response: Response) -> HttpFailure {
    let status = response.status();
    let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    let location = location.map(str::to_owned);
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        let room = MAX_FAILURE_BYTES - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() >= room {
            break;
        }
    }
    HttpFailure { status, body, location }
}
