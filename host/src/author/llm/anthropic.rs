//! Anthropic's Messages API.

use async_trait::async_trait;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::http::{Protocol, Provider, Remote, Terms, parse};
use super::{
    ClientConfig, Completion, FinishReason, LlmClient, LlmError, LlmRequest, ResponseFormat, Usage,
};

/// The version of the protocol that is spoken here.
const VERSION: &str = "2023-06-01";

/// The tool that the model is made to call: what it hands over is the answer.
const TOOL: &str = "submit";

/// How many tokens the model may write if nobody says otherwise; the protocol wants a number.
const DEFAULT_LIMIT: u32 = 8192;

/// A model of Anthropic.
///
/// Where no [`ClientConfig::base_url`] is given it is read from `ANTHROPIC_BASE_URL`, and the key from
/// `ANTHROPIC_API_KEY`. The answer is constrained to the schema by a tool that the model has to call; with a
/// [`ResponseFormat`] other than `JsonSchema` there is no tool, and the answer is the text. A model that can't be made to
/// call a tool, or takes no temperature, is asked again without, once for each, and from then on.
#[derive(Debug)]
pub struct Anthropic(Remote<Messages>);

impl Anthropic {
    /// The model by the name that Anthropic has for it.
    ///
    /// # Errors
    /// [`LlmError::Config`], for want of a key or an address.
    pub fn new(model: &str, config: &ClientConfig) -> Result<Self, LlmError> {
        let limit = config.max_output_tokens.unwrap_or(DEFAULT_LIMIT);
        let protocol = Messages { model: model.to_owned(), limit };
        Remote::new(model, protocol, config).map(Self)
    }
}

#[async_trait]
impl LlmClient for Anthropic {
    fn name(&self) -> &str {
        self.0.name()
    }

    async fn generate_json(&self, request: LlmRequest) -> Result<Completion, LlmError> {
        self.0.generate(&request).await
    }
}

struct Messages {
    model: String,
    limit: u32,
}

impl Protocol for Messages {
    const PROVIDER: Provider = Provider {
        label: "anthropic",
        key_variable: "ANTHROPIC_API_KEY",
        url_variable: "ANTHROPIC_BASE_URL",
        url: "https://api.anthropic.com",
    };

    fn path(_: &str) -> Vec<String> {
        vec!["v1".to_owned(), "messages".to_owned()]
    }

    fn authorize(key: &str) -> (HeaderName, String) {
        (HeaderName::from_static("x-api-key"), key.to_owned())
    }

    fn headers() -> HeaderMap {
        let version =
            (HeaderName::from_static("anthropic-version"), HeaderValue::from_static(VERSION));
        HeaderMap::from_iter([version])
    }

    fn body(&self, request: &LlmRequest, terms: Terms) -> Value {
        let messages: Vec<Value> = request
            .messages
            .iter()
            .map(|message| json!({"role": message.role, "content": message.text}))
            .collect();
        let mut body = json!({"model": self.model, "max_tokens": self.limit, "messages": messages});
        if terms.format == ResponseFormat::JsonSchema {
            body["tools"] = json!([{
                "name": TOOL,
                "description": "Hands over the answer.",
                "input_schema": request.schema,
            }]);
            body["tool_choice"] = json!({"type": "tool", "name": TOOL});
        }
        if let Some(temperature) = terms.temperature {
            body["temperature"] = json!(temperature);
        }
        body
    }

    fn ease(&self, terms: Terms, words: &str) -> Option<Terms> {
        if terms.temperature.is_some() && words.contains("temperature") {
            return Some(Terms { temperature: None, ..terms });
        }
        (terms.format == ResponseFormat::JsonSchema && words.contains("tool"))
            .then_some(Terms { format: ResponseFormat::Text, ..terms })
    }

    fn read(&self, body: &[u8]) -> Result<Completion, String> {
        let answer: MessagesAnswer = parse(body)?;
        let finish_reason = match answer.stop_reason.as_deref() {
            None | Some("end_turn" | "tool_use" | "stop_sequence") => FinishReason::Stop,
            Some("max_tokens" | "model_context_window_exceeded") => FinishReason::Length,
            Some("refusal") => FinishReason::Refused,
            Some(other) => FinishReason::Other(other.to_owned()),
        };
        let usage = answer.usage.and_then(|usage| {
            let (input_tokens, output_tokens) = usage.input_tokens.zip(usage.output_tokens)?;
            let cached = [usage.cache_creation_input_tokens, usage.cache_read_input_tokens];
            let input_tokens = cached.into_iter().flatten().fold(input_tokens, u64::saturating_add);
            Some(Usage { input_tokens, output_tokens })
        });
        let mut said = String::new();
        let mut submitted = None;
        for block in answer.content {
            match block.kind.as_str() {
                "text" => said.push_str(&block.text.unwrap_or_default()),
                "tool_use" => submitted = submitted.or(block.input),
                _ => {}
            }
        }
        let text = submitted.map_or(said, |input| input.get().to_owned());
        if text.is_empty() && finish_reason == FinishReason::Stop {
            return Err("content: expected a text or a call of the tool, found neither".to_owned());
        }
        Ok(Completion { text, usage, finish_reason })
    }
}

#[derive(Deserialize)]
struct MessagesAnswer {
    content: Vec<Block>,
    stop_reason: Option<String>,
    usage: Option<AnthropicTokens>,
}

/// A text, a call of the tool, or something that is no answer, such as thinking.
#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    input: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct AnthropicTokens {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
}
