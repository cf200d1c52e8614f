//! How a model is reached, and what it may take.

use std::fmt;
use std::time::Duration;

use secrecy::SecretString;

use super::Secrets;
use super::redact::REDACTED;

/// How long an answer may be by default, in bytes; and one that is replayed.
pub(super) const MAX_RESPONSE_BYTES: usize = 2 << 20;

/// How a provider is asked to hold its model to the schema of the answer.
///
/// The prompt holds the schema whichever is chosen. Where a provider refuses the one that is asked for, the client goes
/// on with the next weaker one and stays with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResponseFormat {
    /// The provider is given the schema.
    #[default]
    JsonSchema,
    /// The provider is asked for JSON of whatever shape.
    JsonObject,
    /// The provider is asked for text, and the prompt alone for JSON.
    Text,
}

/// How a model is reached, and what it may take. The same for every kind of model; each uses what concerns it.
///
/// # Example: a service on this machine, which needs no key
/// ```
/// use std::time::Duration;
///
/// use retort::author::llm::ClientConfig;
///
/// let mut config = ClientConfig::default();
/// config.base_url = Some("http://127.0.0.1:11434/v1".to_owned());
/// config.timeout = Duration::from_secs(600);
/// assert_eq!(config.temperature, Some(0.0));
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct ClientConfig {
    /// Where the provider's service is, if not where the provider's environment variable says, or else where the
    /// provider itself has it. What comes before `/chat/completions` for `openai`, before `/v1/messages` for
    /// `anthropic`, before `/v1beta/models` for `gemini`. It holds no user, no password, no query and no fragment. With a
    /// key it has to be `https`, except for a service on this machine (`localhost` or a loopback address).
    pub base_url: Option<String>,
    /// The key, if not the one in the provider's environment variable. A service with a base URL of its own may need none.
    pub api_key: Option<SecretString>,
    /// How long a call may take in all. 120 seconds by default.
    pub timeout: Duration,
    /// How long it may take to reach the provider. 10 seconds by default.
    pub connect_timeout: Duration,
    /// How long an answer may be, in bytes, with all that the protocol puts around it. 2 MiB by default: a plan has at most
    /// 256 KiB ([`answer::MAX_BYTES`](crate::author::answer::MAX_BYTES)), and models think aloud.
    pub max_response_bytes: usize,
    /// How many tokens the model may write. By default as many as the provider allows, and 8192 for `anthropic`, whose
    /// protocol has to name a number.
    pub max_output_tokens: Option<u32>,
    /// How freely the model chooses its words. 0 by default; left out if `None`, or where a model takes no other than
    /// its own.
    pub temperature: Option<f64>,
    /// How the model is constrained to the schema. By the schema itself by default.
    pub response_format: ResponseFormat,
}

impl Default for ClientConfig {
    fn default() -> Self {
        Self {
            base_url: None,
            api_key: None,
            timeout: Duration::from_secs(120),
            connect_timeout: Duration::from_secs(10),
            max_response_bytes: MAX_RESPONSE_BYTES,
            max_output_tokens: None,
            temperature: Some(0.0),
            response_format: ResponseFormat::default(),
        }
    }
}

/// Without the key, and without a base URL that one may be hidden in.
impl fmt::Debug for ClientConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |url: &str| !url.contains(['@', '?', '#']);
        let base_url = self.base_url.as_deref().map(|url| if shown(url) { url } else { REDACTED });
        f.debug_struct("ClientConfig")
            .field("base_url", &base_url)
            .field("api_key", &self.api_key)
            .field("timeout", &self.timeout)
            .field("connect_timeout", &self.connect_timeout)
            .field("max_response_bytes", &self.max_response_bytes)
            .field("max_output_tokens", &self.max_output_tokens)
            .field("temperature", &self.temperature)
            .field("response_format", &self.response_format)
            .finish()
    }
}

impl ClientConfig {
    /// What must not be shown or stored: the key in here, and those in the environment.
    #[must_use]
    pub fn secrets(&self) -> Secrets {
        let secrets = Secrets::of_environment();
        match &self.api_key {
            Some(key) => secrets.with(key.clone()),
            None => secrets,
        }
    }
}
