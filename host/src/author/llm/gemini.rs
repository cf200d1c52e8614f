//! Gemini's `generateContent`.

use async_trait::async_trait;
use reqwest::header::HeaderName;
use serde::Deserialize;
use serde_json::{Value, json};

use super::http::{Protocol, Provider, Remote, Terms, parse};
use super::{
    ClientConfig, Completion, FinishReason, LlmClient, LlmError, LlmRequest, ResponseFormat, Role,
    Usage, schema,
};

/// How the service calls what it doesn't know of a response format.
const FORMAT_WORDS: &[&str] = &["schema", "mimetype", "mime_type", "mime type", "json mode"];

/// A model of Gemini.
///
/// Where no [`ClientConfig::base_url`] is given it is read from `GEMINI_BASE_URL`, and the key from `GEMINI_API_KEY`.
/// The key goes in a header, never in the address. The answer is constrained to as much of the schema as the service takes. A
/// model that takes no schema, or no temperature, is asked again without, once for each, and from then on.
#[derive(Debug)]
pub struct Gemini(Remote<GenerateContent>);

impl Gemini {
    /// The model by the name that the service has for it, with or without `models/` before it.
    ///
    /// # Errors
    /// [`LlmError::Config`], for want of a key or an address.
    pub fn new(model: &str, config: &ClientConfig) -> Result<Self, LlmError> {
        let model = model.strip_prefix("models/").unwrap_or(model);
        let protocol = GenerateContent { limit: config.max_output_tokens };
        Remote::new(model, protocol, config).map(Self)
    }
}

#[async_trait]
impl LlmClient for Gemini {
    fn name(&self) -> &str {
        self.0.name()
    }

    async fn generate_json(&self, request: LlmRequest) -> Result<Completion, LlmError> {
        self.0.generate(&request).await
    }
}

struct GenerateContent {
    limit: Option<u32>,
}

impl Protocol for GenerateContent {
    const PROVIDER: Provider = Provider {
        label: "gemini",
        key_variable: "GEMINI_API_KEY",
        url_variable: "GEMINI_BASE_URL",
        url: "https://generativelanguage.googleapis.com",
    };

    fn path(model: &str) -> Vec<String> {
        vec!["v1beta".to_owned(), "models".to_owned(), format!("{model}:generateContent")]
    }

    fn authorize(key: &str) -> (HeaderName, String) {
        (HeaderName::from_static("x-goog-api-key"), key.to_owned())
    }

    fn body(&self, request: &LlmRequest, terms: Terms) -> Value {
        let turn = |message: &super::Message| {
            let role = match message.role {
                Role::User => "user",
                Role::Assistant => "model",
            };
            json!({"role": role, "parts": [{"text": message.text}]})
        };
        let contents: Vec<Value> = request.messages.iter().map(turn).collect();
        let mut generation = json!({});
        if terms.format != ResponseFormat::Text {
            generation["responseMimeType"] = json!("application/json");
        }
        if terms.format == ResponseFormat::JsonSchema {
            generation["responseJsonSchema"] = schema::for_gemini(request.schema.clone());
        }
        if let Some(temperature) = terms.temperature {
            generation["temperature"] = json!(temperature);
        }
        if let Some(limit) = self.limit {
            generation["maxOutputTokens"] = json!(limit);
        }
        json!({"contents": contents, "generationConfig": generation})
    }

    fn ease(&self, terms: Terms, words: &str) -> Option<Terms> {
        if terms.temperature.is_some() && words.contains("temperature") {
            return Some(Terms { temperature: None, ..terms });
        }
        let format = match terms.format {
            ResponseFormat::JsonSchema => ResponseFormat::JsonObject,
            ResponseFormat::JsonObject => ResponseFormat::Text,
            ResponseFormat::Text => return None,
        };
        FORMAT_WORDS.iter().any(|word| words.contains(word)).then_some(Terms { format, ..terms })
    }

    fn read(&self, body: &[u8]) -> Result<Completion, String> {
        let answer: GenerateAnswer = parse(body)?;
        let usage = answer.usage_metadata.and_then(|usage| {
            Some(Usage {
                input_tokens: usage.prompt_token_count?,
                output_tokens: usage
                    .candidates_token_count
                    .saturating_add(usage.thoughts_token_count),
            })
        });
        let Some(candidate) = answer.candidates.into_iter().next() else {
            let blocked = answer.prompt_feedback.and_then(|feedback| feedback.block_reason);
            let text = blocked.ok_or("candidates: expected an answer, found none")?;
            return Ok(Completion { text, usage, finish_reason: FinishReason::Refused });
        };
        let finish_reason = match candidate.finish_reason.as_deref() {
            None | Some("STOP") => FinishReason::Stop,
            Some("MAX_TOKENS") => FinishReason::Length,
            Some("SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII") => {
                FinishReason::Refused
            }
            Some(other) => FinishReason::Other(other.to_owned()),
        };
        let parts = candidate.content.unwrap_or_default().parts;
        let said = parts.into_iter().filter(|part| !part.thought);
        let text: String = said.filter_map(|part| part.text).collect();
        if text.is_empty() && finish_reason == FinishReason::Stop {
            return Err("candidates[0].content.parts: expected a text, found none".to_owned());
        }
        Ok(Completion { text, usage, finish_reason })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GenerateAnswer {
    #[serde(default)]
    candidates: Vec<GeminiCandidate>,
    prompt_feedback: Option<Feedback>,
    usage_metadata: Option<GeminiTokens>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    block_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiCandidate {
    content: Option<GeminiContent>,
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct GeminiContent {
    #[serde(default)]
    parts: Vec<GeminiPart>,
}

#[derive(Deserialize)]
struct GeminiPart {
    text: Option<String>,
    #[serde(default)]
    thought: bool,
}

/// A count of zero is left out.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiTokens {
    prompt_token_count: Option<u64>,
    #[serde(default)]
    candidates_token_count: u64,
    #[serde(default)]
    thoughts_token_count: u64,
}
