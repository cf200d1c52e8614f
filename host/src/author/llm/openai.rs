//! Chat completions: OpenAI, and every service that speaks its protocol.

use serde::Deserialize;
use serde_json::{Value, json};

use super::http::{Protocol, Provider, Remote, Terms, parse, turns};
use super::{Completion, FinishReason, LlmRequest, ResponseFormat, Usage, schema};

/// A model that is reached by chat completions: OpenAI's, or one at any endpoint that is compatible.
///
/// Where no [`ClientConfig::base_url`](super::ClientConfig::base_url) is given it is read from `OPENAI_BASE_URL`, and the
/// key from `OPENAI_API_KEY`. The answer is constrained to the schema by `response_format`, strictly where all objects of the
/// schema are closed: then the model says null of what it leaves out, and that is taken out of the answer. A service that takes
/// no strict form, no `response_format`, temperature or limit as they are sent is asked again without, once for each, and
/// from then on.
pub type OpenAi = Remote<ChatCompletions>;

/// OpenAI's chat completions.
#[derive(Debug)]
pub struct ChatCompletions;

impl Protocol for ChatCompletions {
    const PROVIDER: Provider = Provider {
        label: "openai",
        key_variable: "OPENAI_API_KEY",
        key_header: "authorization",
        key_prefix: "Bearer ",
        url_variable: "OPENAI_BASE_URL",
        url: "https://api.openai.com/v1",
    };

    const LIMIT_NAMES: &[&str] = &["max_completion_tokens", "max_tokens"];

    const FORMATS: &[ResponseFormat] =
        &[ResponseFormat::JsonSchema, ResponseFormat::JsonObject, ResponseFormat::Text];

    const STRICT: bool = true;

    const FORMAT_WORDS: &[&str] = &[
        "response_format",
        "response format",
        "json_schema",
        "json schema",
        "json_object",
        "json mode",
        "structured output",
    ];

    fn path(_: &str) -> Vec<String> {
        vec!["chat".to_owned(), "completions".to_owned()]
    }

    fn body(model: &str, request: &LlmRequest, terms: &Terms) -> Value {
        let mut body = json!({"model": model, "messages": turns(request)});
        match terms.format {
            ResponseFormat::JsonSchema => {
                let strict = strict(request, terms);
                body["response_format"] = json!({
                    "type": "json_schema",
                    "json_schema": {
                        "name": "answer",
                        "strict": strict.is_some(),
                        "schema": strict.as_ref().unwrap_or(&request.schema),
                    },
                });
            }
            ResponseFormat::JsonObject => body["response_format"] = json!({"type": "json_object"}),
            ResponseFormat::Text => {}
        }
        terms.write_to(&mut body);
        body
    }

    fn read(body: &[u8]) -> Result<Completion, String> {
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

    fn plain(text: String, request: &LlmRequest, terms: &Terms) -> String {
        if strict(request, terms).is_some() { schema::without_nulls(text) } else { text }
    }
}

/// The schema in the form of strict mode, where that is asked for and there is one.
fn strict(request: &LlmRequest, terms: &Terms) -> Option<Value> {
    let is_asked = terms.strict && terms.format == ResponseFormat::JsonSchema;
    is_asked.then(|| schema::strict(&request.schema)).flatten()
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
