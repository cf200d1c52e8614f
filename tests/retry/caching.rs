//! What providers keep of a prompt from one request to the next: OpenAI and Gemini the beginning that two requests share (by
//! themselves, from 1,024 tokens on), Anthropic what is marked. So what is the same comes first, to the byte.

use retort::author::{AnswerFormat, LoopConfig, RetryStrategy};
use retort::compile_with_llm;
use serde_json::{Value, json};

use super::script::{Script, task};
use crate::llm::server::{Reply, Server};
use crate::llm::{PROVIDERS, config, connect};

/// The texts of a request's turns.
fn turns(provider: &str, body: &Value) -> Vec<String> {
    let turns = if provider == "gemini" { &body["contents"] } else { &body["messages"] };
    let text = |turn: &Value| {
        let text = if provider == "gemini" { &turn["parts"][0]["text"] } else { &turn["content"] };
        text.as_str().unwrap().to_owned()
    };
    turns.as_array().unwrap().iter().map(text).collect()
}

/// The rest of it: model, settings, and the schema, which providers put before the turns.
fn around(mut body: Value) -> String {
    for turns in ["messages", "contents"] {
        body.as_object_mut().unwrap().remove(turns);
    }
    body.to_string()
}

fn no_plan(provider: &str) -> Reply {
    match provider {
        "openai" => Reply::chat("{}", "stop"),
        "anthropic" => Reply::new(
            200,
            json!({"content": [{"type": "text", "text": "{}"}], "stop_reason": "end_turn"}),
        ),
        _ => Reply::new(
            200,
            json!({"candidates": [{"content": {"parts": [{"text": "{}"}]}, "finishReason": "STOP"}]}),
        ),
    }
}

#[tokio::test]
async fn retries_begin_with_the_bytes_of_the_first_prompt() {
    for strategy in [RetryStrategy::Fresh, RetryStrategy::Continue] {
        for provider in PROVIDERS {
            let server = Server::start((0..3).map(|_| no_plan(provider))).await;
            let client = connect(provider, &config(server.url()));
            let config = LoopConfig::builder().answer_format(AnswerFormat::Strict);
            let config = config.strategy(strategy).max_attempts(3).build().unwrap();
            let gates = Script::default();
            let _ = compile_with_llm(client.as_ref(), &task(), &gates, &config).await;
            let received = server.received();
            assert!(received.len() > 1, "{provider}: {}", received.len());
            let first = received[0].json();
            let prompt = turns(provider, &first).join("");
            assert!(prompt.len() > 4_096, "{}", prompt.len());
            for later in &received[1..] {
                let later = later.json();
                assert!(turns(provider, &later).join("").starts_with(&prompt), "{provider}");
                assert_eq!(around(later), around(first.clone()), "{provider}");
            }
            if *provider == "anthropic" {
                assert_eq!(first["tools"][0]["cache_control"], json!({"type": "ephemeral"}));
            }
        }
    }
}
