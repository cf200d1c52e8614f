//! Gemini's `generateContent`.

use serde::Deserialize;
use serde_json::{Value, json};

use super::http::{Protocol, Provider, Remote, Terms, parse};
use super::{Completion, FinishReason, LlmRequest, Message, ResponseFormat, Role, Usage, schema};

/// A model of Gemini, by the name that the service has for it, with or without `models/` before it.
///
/// Where no [`ClientConfig::base_url`](super::ClientConfig::base_url) is given it is read from `GEMINI_BASE_URL`, and the
/// key from `GEMINI_API_KEY`. The key goes in a header, never in the address. The answer is constrained to as much of the
/// schema as the service takes. A model that takes no schema, or no temperature, is asked again without, once for each, and
/// from then on.
pub type Gemini = Remote<GenerateContent>;

/// Gemini's `generateContent`.
#[derive(Debug)]
pub struct GenerateContent;

impl Protocol for GenerateContent {
    const PROVIDER: Provider = Provider {
        label: "gemini",
        key_variable: "GEMINI_API_KEY",
        key_header: "x-goog-api-key",
        key_prefix: "",
        url_variable: "GEMINI_BASE_URL",
        url: "https://generativelanguage.googleapis.com",
    };

    const MODEL_PREFIX: &str = "models/";

    const LIMIT_NAMES: &[&str] = &["maxOutputTokens"];

    const FORMATS: &[ResponseFormat] =
        &[ResponseFormat::JsonSchema, ResponseFormat::JsonObject, ResponseFormat::Text];

    const FORMAT_WORDS: &[&str] = &["schema", "mimetype", "mime_type", "mime type", "json mode"];

    fn path(model: &str) -> Vec<String> {
        vec!["v1beta".to_owned(), "models".to_owned(), format!("{model}:generateContent")]
    }

    fn body(_: &str, request: &LlmRequest, terms: &Terms) -> Value {
        let turn = |message: &Message| {
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
        terms.write_to(&mut generation);
        json!({"contents": contents, "generationConfig": generation})
    }

    fn read(body: &[u8]) -> Result<Completion, String> {
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
