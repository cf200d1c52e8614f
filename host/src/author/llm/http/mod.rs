//! Models that are reached over HTTP.

mod failure;
mod service;
mod tls;
mod transport;

use std::fmt;
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use self::failure::shown;
pub(super) use self::service::Provider;
use self::service::Service;
use self::transport::{Reply, Transport};
use super::{
    ClientConfig, Completion, FinishReason, LlmClient, LlmError, LlmRequest, Message, NAME_CHARS,
    ResponseFormat,
};
use crate::diagnostics::untrusted::sanitize;

/// The parts of a request that not every service takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    pub(super) format: ResponseFormat,
    /// Whether the provider is to hold its model to the schema strictly, where both can.
    pub(super) strict: bool,
    temperature: Option<f64>,
    /// How many tokens the model may write.
    limit: Option<u32>,
    /// What the service calls that.
    limit_name: &'static str,
}

impl Terms {
    /// Sets temperature and limit, where there are some.
    pub(super) fn write_to(&self, settings: &mut Value) {
        if let Some(temperature) = self.temperature {
            settings["temperature"] = json!(temperature);
        }
        if let Some(limit) = self.limit {
            settings[self.limit_name] = json!(limit);
        }
    }
}

/// What is particular to a provider's protocol.
pub trait Protocol: Send + Sync {
    /// The provider.
    const PROVIDER: Provider;

    /// What may stand before the name of a model, and is no part of it.
    const MODEL_PREFIX: &str = "";

    /// All headers but that of the key.
    const HEADERS: &[(&str, &str)] = &[];

    /// What the limit on an answer is called: now, and by services that know it by an earlier name.
    const LIMIT_NAMES: &[&str];

    /// How many tokens the model may write if nobody says otherwise.
    const DEFAULT_LIMIT: Option<u32> = None;

    /// How an answer is constrained, each weaker than the one before.
    const FORMATS: &[ResponseFormat];

    /// Whether there is a strict form of the first of them.
    const STRICT: bool = false;

    /// How services call what they don't know of such a constraint, in lower case.
    const FORMAT_WORDS: &[&str];

    /// The path below the base URL.
    fn path(model: &str) -> Vec<String>;

    /// The body of a request.
    fn body(model: &str, request: &LlmRequest, terms: &Terms) -> Value;

    /// Reads the body of an answer.
    ///
    /// # Errors
    /// What was expected and what was found.
    fn read(body: &[u8]) -> Result<Completion, String>;

    /// The text of an answer without what its form adds to it.
    fn plain(text: String, _request: &LlmRequest, _terms: &Terms) -> String {
        text
    }
}

/// The terms to ask on after a refusal of these, if it is them that the provider complains of. `words` is what it said, in
/// lower case. Every step gives something up, so that there is an end to it.
fn eased<P: Protocol>(terms: &Terms, words: &str) -> Option<Terms> {
    if terms.temperature.is_some() && words.contains("temperature") {
        return Some(Terms { temperature: None, ..terms.clone() });
    }
    if terms.limit.is_some()
        && words.contains(terms.limit_name)
        && let Some(limit_name) = next(P::LIMIT_NAMES, terms.limit_name)
    {
        return Some(Terms { limit_name, ..terms.clone() });
    }
    if !P::FORMAT_WORDS.iter().any(|word| words.contains(word)) {
        return None;
    }
    if terms.strict && terms.format == ResponseFormat::JsonSchema {
        return Some(Terms { strict: false, ..terms.clone() });
    }
    let format = next(P::FORMATS, terms.format)?;
    Some(Terms { format, ..terms.clone() })
}

/// What comes after an item of a list.
fn next<T: Copy + PartialEq>(list: &[T], item: T) -> Option<T> {
    list.iter().copied().skip_while(|it| *it != item).nth(1)
}

/// A model at the other end of a protocol.
pub struct Remote<P> {
    /// As the provider calls it.
    model: String,
    transport: Transport,
    timeout: Duration,
    /// Eased for good as soon as the provider is found to answer only on easier ones.
    terms: Mutex<Terms>,
    protocol: PhantomData<P>,
}

impl<P: Protocol> Remote<P> {
    /// The model by the name that the service has for it.
    ///
    /// # Errors
    /// [`LlmError::Config`], for want of a key or an address.
    pub fn new(model: &str, config: &ClientConfig) -> Result<Self, LlmError> {
        let model = model.strip_prefix(P::MODEL_PREFIX).unwrap_or(model);
        let service = Service::resolve(P::PROVIDER, config, |name| std::env::var(name).ok())?;
        let name = format!("{}:{}", P::PROVIDER.label, sanitize(model, NAME_CHARS));
        let transport = Transport::new(name, &service, P::path(model), P::HEADERS, config)?;
        let terms = Terms {
            format: config.response_format,
            strict: P::STRICT,
            temperature: config.temperature,
            limit: config.max_output_tokens.or(P::DEFAULT_LIMIT),
            limit_name: P::LIMIT_NAMES.first().copied().unwrap_or_default(),
        };
        Ok(Self {
            model: model.to_owned(),
            transport,
            timeout: config.timeout,
            terms: Mutex::new(terms),
            protocol: PhantomData,
        })
    }

    /// Asks, on easier terms if the provider doesn't take these.
    async fn negotiate(&self, request: &LlmRequest) -> Result<Completion, LlmError> {
        let mut terms = self.terms.lock().unwrap_or_else(PoisonError::into_inner).clone();
        loop {
            let body = P::body(&self.model, request, &terms);
            let failure = match self.transport.post(&body).await? {
                Reply::Success(body) => {
                    let answer = self.completion(&body).map(|answer| Completion {
                        text: P::plain(answer.text, request, &terms),
                        ..answer
                    });
                    *self.terms.lock().unwrap_or_else(PoisonError::into_inner) = terms;
                    return answer;
                }
                Reply::Failure(failure) => failure,
            };
            let easier =
                failure.is_about_the_request().then(|| eased::<P>(&terms, &failure.words()));
            terms = easier
                .flatten()
                .ok_or_else(|| failure.into_error(self.name(), self.transport.secrets()))?;
        }
    }

    /// Reads an answer. A provider may repeat the key anywhere in it.
    fn completion(&self, body: &[u8]) -> Result<Completion, LlmError> {
        let secrets = self.transport.secrets();
        let completion = P::read(body).map_err(|message| {
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

#[async_trait]
impl<P: Protocol> LlmClient for Remote<P> {
    fn name(&self) -> &str {
        self.transport.model()
    }

    async fn generate_json(&self, request: LlmRequest) -> Result<Completion, LlmError> {
        match tokio::time::timeout(self.timeout, self.negotiate(&request)).await {
            Ok(answer) => answer,
            Err(_) => Err(LlmError::Timeout { model: self.name().to_owned(), after: self.timeout }),
        }
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

/// A conversation as most protocols write it.
pub(super) fn turns(request: &LlmRequest) -> Vec<Value> {
    let turn = |message: &Message| json!({"role": message.role, "content": message.text});
    request.messages.iter().map(turn).collect()
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
