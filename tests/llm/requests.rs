//! What each provider is sent.

use std::collections::BTreeMap;

use retort::author::llm::{ClientConfig, LlmRequest, ResponseFormat};
use serde_json::{Value, json};

use super::server::{Received, Reply, Server};
use super::{KEY, PROVIDERS, config, connect, conversation, prompt};

/// What is the same wherever it runs: all but the host, the version and the length.
fn stable(received: &Received) -> Value {
    let headers: BTreeMap<&str, &str> = received
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
        .filter(|(name, _)| !matches!(*name, "host" | "content-length" | "user-agent"))
        .collect();
    json!({
        "request": format!("{} {}", received.method, received.uri),
        "headers": headers,
        "body": received.json(),
    })
}

/// The one request that a client sends, whatever comes of it.
async fn sent(provider: &str, config: &ClientConfig, request: LlmRequest) -> Received {
    let server = Server::start([]).await;
    let config = options!(ClientConfig {
        base_url: Some(format!("{}/base/", server.url())),
        ..config.clone()
    });
    connect(provider, &config).generate_json(request).await.unwrap_err();
    let received = server.received();
    assert_eq!(received.len(), 1, "{provider}");
    received[0].clone()
}

/// With a reference beside other keywords, a default and a length, which not every provider takes.
fn schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "additionalProperties": false,
        "required": ["name"],
        "properties": {
            "name": {"type": "string", "minLength": 1},
            "path": {"$ref": "#/$defs/path", "description": "Where it is.", "default": ["id"]},
        },
        "$defs": {"path": {"type": "array", "items": {"type": "string"}, "minItems": 1}},
    })
}

#[tokio::test]
async fn a_prompt_with_a_schema() {
    let config = options!(ClientConfig { max_output_tokens: Some(2000), ..config("") });
    for provider in PROVIDERS {
        let received = sent(provider, &config, LlmRequest::prompt("JSON, please.", schema())).await;
        insta::assert_json_snapshot!(format!("{provider}_prompt"), stable(&received));
        assert!(received.header("user-agent").unwrap().starts_with("retort/"));
    }
}

#[tokio::test]
async fn a_conversation_without_a_schema_or_a_temperature() {
    let config = options!(ClientConfig {
        temperature: None,
        response_format: ResponseFormat::Text,
        ..config("")
    });
    for provider in PROVIDERS {
        let received = sent(provider, &config, conversation()).await;
        insta::assert_json_snapshot!(format!("{provider}_conversation"), stable(&received));
    }
}

#[tokio::test]
async fn strict_mode_is_asked_of_schemas_that_it_takes() {
    let closed = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["a"],
        "properties": {"a": {"type": "string"}},
    });
    let received = sent("openai", &config(""), LlmRequest::prompt("JSON", closed.clone())).await;
    let format = &received.json()["response_format"]["json_schema"];
    assert_eq!((&format["strict"], &format["schema"]), (&json!(true), &closed));
}

#[tokio::test]
async fn the_key_is_in_a_header_and_nowhere_else() {
    for provider in PROVIDERS {
        let received = sent(provider, &config(""), prompt()).await;
        let holding =
            received.headers.values().filter(|value| value.to_str().unwrap().contains(KEY));
        assert_eq!(holding.count(), 1, "{provider}");
        assert!(!received.uri.to_string().contains(KEY), "{provider}");
        assert!(!String::from_utf8_lossy(&received.body).contains(KEY), "{provider}");
    }
}

#[tokio::test]
async fn a_service_without_keys_gets_none() {
    let config = options!(ClientConfig { api_key: None, ..config("") });
    for provider in PROVIDERS {
        if std::env::var_os(format!("{}_API_KEY", provider.to_uppercase())).is_some() {
            eprintln!("skipped: the environment holds a key for {provider}");
            continue;
        }
        let received = sent(provider, &config, prompt()).await;
        for name in ["authorization", "x-api-key", "x-goog-api-key"] {
            assert_eq!(received.header(name), None, "{provider}");
        }
    }
}

/// Services refuse what they don't know in words of their own.
#[tokio::test]
async fn what_a_service_does_not_take_is_left_out_from_then_on() {
    let refusal = |text: &str| Reply::new(400, json!({"error": {"message": text}}));
    let server = Server::start([
        refusal("Unsupported value: 'temperature' does not support 0 with this model."),
        refusal("Unknown parameter: max_completion_tokens"),
        refusal("Invalid schema for response_format 'answer': too strict"),
        refusal("This response_format type is unavailable now"),
        Reply::new(422, json!({"detail": "'response_format.type' must be 'text'"})),
        Reply::chat("{}", "stop"),
        Reply::chat("{}", "stop"),
    ])
    .await;
    let config = options!(ClientConfig { max_output_tokens: Some(7), ..config(server.url()) });
    let client = connect("openai", &config);
    assert_eq!(client.generate_json(prompt()).await.unwrap().text, "{}");
    assert_eq!(client.generate_json(prompt()).await.unwrap().text, "{}");
    let without_messages: Vec<String> = server
        .received()
        .iter()
        .map(|received| {
            let mut body = received.json();
            body.as_object_mut().unwrap().retain(|name, _| name != "messages" && name != "model");
            if let Some(schema) = body.pointer_mut("/response_format/json_schema/schema") {
                *schema = json!("..");
            }
            body.to_string()
        })
        .collect();
    insta::assert_snapshot!(without_messages.join("\n"));
}

#[tokio::test]
async fn anthropic_is_asked_without_a_tool_where_none_can_be_forced() {
    let text = "tool_choice: forced tool use is not compatible with this model";
    let answer = json!({"content": [{"type": "text", "text": "{}"}], "stop_reason": "end_turn"});
    let refusal =
        json!({"type": "error", "error": {"type": "invalid_request_error", "message": text}});
    let server = Server::start([Reply::new(400, refusal), Reply::new(200, answer)]).await;
    let client = connect("anthropic", &config(server.url()));
    assert_eq!(client.generate_json(prompt()).await.unwrap().text, "{}");
    let tools: Vec<bool> =
        server.received().iter().map(|received| received.json().get("tools").is_some()).collect();
    assert_eq!(tools, [true, false]);
}

#[tokio::test]
async fn a_refusal_of_anything_else_is_not_asked_again() {
    for provider in PROVIDERS {
        let server =
            Server::start([Reply::new(400, json!({"error": {"message": "no such model"}}))]).await;
        let error =
            connect(provider, &config(server.url())).generate_json(prompt()).await.unwrap_err();
        assert!(error.to_string().ends_with("answered with HTTP 400: no such model"), "{error}");
        assert_eq!(server.received().len(), 1);
    }
}
