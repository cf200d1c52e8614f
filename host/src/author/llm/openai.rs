//! Chat completions: OpenAI, and every service that speaks its protocol.

use async_trait::async_trait;
use reqwest::header::{AUTHORIZATION, HeaderName};
use serde::Deserialize;
use serde_json::{Value, json};

use super::http::{Protocol, Provider, Remote, Terms, parse};
use super::{
    ClientConfig, Completion, FinishReason, LlmClient, LlmError, LlmRequest, ResponseFormat, Usage,
    schema,
};

/// How services call what they don't know of a response format.
const FORMAT_WORDS: &[&str] = &[
    "response_format",
    "response format",
    "json_schema",
    "json schema",
    "json_object",
    "json mode",
    "structured output",
];

/// A model that is reached by chat completions: OpenAI's, or one at any endpoint that is compatible.
///
/// Where no [`ClientConfig::base_url`] is given it is read from `OPENAI_BASE_URL`, and the key from `OPENAI_API_KEY`.
/// The answer is constrained to the schema by `response_format`, strictly where the schema has the form that strict mode asks
/// for. A service that takes no `response_format`, temperature or limit as they are sent is asked again without, once for
/// each, and from then on.
#[derive(Debug)]
pub struct OpenAi(Remote<ChatCompletions>);

impl OpenAi {
    /// The model by the name that the service has for it.
    ///
    /// # Errors
    /// [`LlmError::Config`], for want of a key or an address.
    pub fn new(model: &str, config: &ClientConfig) -> Result<Self, LlmError> {
        let protocol = ChatCompletions { model: model.to_owned(), limit: config.max_output_tokens };
        Remote::new(model, protocol, config).map(Self)
    }
}

#[async_trait]
impl LlmClient for OpenAi {
    fn name(&self) -> &str {
        self.0.name()
    }

    async fn generate_json(&self, request: LlmRequest) -> Result<Completion, LlmError> {
        self.0.generate(&request).await
    }
}

struct ChatCompletions {
    model: String,
    limit: Option<u32>,
}

impl Protocol for ChatCompletions {
    const PROVIDER: Provider = Provider {
        label: "openai",
        key_variable: "OPENAI_API_KEY",
        url_variable: "OPENAI_BASE_URL",
        url: "https://api.openai.com/v1",
    };

    fn path(_: &str) -> Vec<String> {
        vec!["chat".to_owned(), "completions".to_owned()]
    }

    fn authorize(key: &str) -> (HeaderName, String) {
        (AUTHORIZATION, format!("Bearer {key}"))
    }

    fn body(&self, request: &LlmRequest, terms: Terms) -> Value {
        let messages: Vec<Value> = request
            .messages
            .iter()
            .map(|message| json!({"role": message.role, "content": message.text}))
            .collect();
        let mut body = json!({"model": self.model, "messages": messages});
        match terms.format {
            ResponseFormat::JsonSchema => {
                body["response_format"] = json!({
                    "type": "json_schema",
                    "json_schema": {
                        "name": "answer",
                        "strict": schema::is_strict(&request.schema),
                        "schema": request.schema,
                    },
                });
            }
            ResponseFormat::JsonObject => body["response_format"] = json!({"type": "json_object"}),
            ResponseFormat::Text => {}
        }
        if let Some(temperature) = terms.temperature {
            body["temperature"] = json!(temperature);
        }
        if let Some(limit) = self.limit {
            let name = if terms.former_limit { "max_tokens" } else { "max_completion_tokens" };
            body[name] = json!(limit);
        }
        body
    }

    fn ease(&self, terms: Terms, words: &str) -> Option<Terms> {
        if terms.temperature.is_some() && words.contains("temperature") {
            return Some(Terms { temperature: None, ..terms });
        }
        if self.limit.is_some() && !terms.former_limit && words.contains("max_completion_tokens") {
            return Some(Terms { former_limit: true, ..terms });
        }
        let format = match terms.format {
            ResponseFormat::JsonSchema => ResponseFormat::JsonObject,
            ResponseFormat::JsonObject => ResponseFormat::Text,
            ResponseFormat::Text => return None,
        };
        FORMAT_WORDS.iter().any(|word| words.contains(word)).then_some(Terms { format, ..terms })
    }

    fn read(&self, body: &[u8]) -> Result<Completion, String> {
        let answer: ChatAnswer = parse(body)?;
        let choice = answer.choices.into_iter().next();
        let OpenAiChoice { message, finish_reason } =
            choice.ok_or("choices: expected an answer, found none")?;
        let usage = answer.usage.and_then(|usage| {
            let (input_tokens, output_tokens) = usage.prompt_tokens.zip(usage.completion_tokens)?;
            Some(Usage { input_tokens, output_tokens })
        });
        if let Some(refusal) = message.refusal.filter(|refusal| !refusal.is_empty()) {
            return Ok(Completion { text: refusal, usage, finish_reason: FinishReason::Refused });
        }
        let finish_reason = match finish_reason.as_deref() {
            None | Some("stop") => FinishReason::Stop,
            Some("length") => FinishReason::Length,
            Some("content_filter") => FinishReason::Refused,
            Some(other) => FinishReason::Other(other.to_owned()),
        };
        let text = match message.content {
            Some(OpenAiContent::Text(text)) => text,
            Some(OpenAiContent::Parts(parts)) => {
                parts.into_iter().filter_map(|part| part.text).collect()
            }
            None if finish_reason == FinishReason::Stop => {
                return Err("choices[0].message.content: expected a text, found none".to_owned());
            }
            None => String::new(),
        };
        Ok(Completion { text, usage, finish_reason })
    }
}

#[derive(Deserialize)]
struct ChatAnswer {
    choices: Vec<OpenAiChoice>,
    usage: Option<OpenAiTokens>,
}

#[derive(Deserialize)]
struct OpenAiChoice {
    message: OpenAiMessage,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct OpenAiMessage {
    content: Option<OpenAiContent>,
    refusal: Option<String>,
}

/// Some services answer in parts.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a text, or parts of one")]
enum OpenAiContent {
    Text(String),
    Parts(Vec<OpenAiPart>),
}

#[derive(Deserialize)]
struct OpenAiPart {
    text: Option<String>,
}

#[derive(Deserialize)]
struct OpenAiTokens {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}
