//! Anthropic's Messages API.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::http::{Protocol, Provider, Remote, Terms, parse, turns};
use super::{Completion, FinishReason, LlmRequest, ResponseFormat, Usage, schema};

/// The tool that the model is made to call: what it hands over is the answer.
const TOOL: &str = "submit";

/// A model of Anthropic.
///
/// Where no [`ClientConfig::base_url`](super::ClientConfig::base_url) is given it is read from `ANTHROPIC_BASE_URL`, and
/// the key from `ANTHROPIC_API_KEY`. The answer is constrained to the schema by a tool that the model has to call; with a
/// [`ResponseFormat`] other than `JsonSchema` there is no tool, and the answer is the text. A model that can't be made to
/// call a tool, or takes no temperature, is asked again without, once for each, and from then on.
pub type Anthropic = Remote<Messages>;

/// Anthropic's Messages API.
#[derive(Debug)]
pub struct Messages;

impl Protocol for Messages {
    const PROVIDER: Provider = Provider {
        label: "anthropic",
        key_variable: "ANTHROPIC_API_KEY",
        key_header: "x-api-key",
        key_prefix: "",
        url_variable: "ANTHROPIC_BASE_URL",
        url: "https://api.anthropic.com",
    };

    const HEADERS: &[(&str, &str)] = &[("anthropic-version", "2023-06-01")];

    const LIMIT_NAMES: &[&str] = &["max_tokens"];

    /// The protocol wants a number.
    const DEFAULT_LIMIT: Option<u32> = Some(8192);

    const FORMATS: &[ResponseFormat] = &[ResponseFormat::JsonSchema, ResponseFormat::Text];

    const FORMAT_WORDS: &[&str] = &["tool"];

    fn path(_: &str) -> Vec<String> {
        vec!["v1".to_owned(), "messages".to_owned()]
    }

    fn body(model: &str, request: &LlmRequest, terms: &Terms) -> Value {
        let mut body = json!({"model": model, "messages": turns(request)});
        if terms.format == ResponseFormat::JsonSchema {
            body["tools"] = json!([{
                "name": TOOL,
                "description": "Hands over the answer.",
                "input_schema": schema::for_anthropic(request.schema.clone()),
                // The same for all answers that a model is asked for: read once.
                "cache_control": {"type": "ephemeral"},
            }]);
            body["tool_choice"] = json!({"type": "tool", "name": TOOL});
        }
        terms.write_to(&mut body);
        body
    }

    fn read(body: &[u8]) -> Result<Completion, String> {
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
