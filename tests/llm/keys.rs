//! A key is never shown or stored, even by a provider that repeats it.

use std::fs;

use retort::Coded;
use retort::author::llm::{
    Anthropic, ClientConfig, Command, Gemini, LlmClient, LlmRequest, ModelSpec, OpenAi, Recorder,
};
use serde_json::json;

use super::server::{Reply, Server};
use super::{KEY, PROVIDERS, config, connect, prompt};

/// Answers that repeat the key wherever they can.
fn echoes() -> Vec<Reply> {
    let chat = json!({
        "choices": [{"message": {"content": KEY}, "finish_reason": KEY}],
        "content": [{"type": "tool_use", "input": {KEY: KEY}}],
        "stop_reason": KEY,
        "candidates": [{"content": {"parts": [{"text": KEY}]}, "finishReason": KEY}],
    });
    let wrong = json!({"choices": KEY, "content": KEY, "candidates": KEY, "error": KEY});
    let mut replies = vec![
        Reply::new(200, chat),
        Reply::new(200, wrong),
        Reply::new(200, format!("not JSON: {KEY}")),
        Reply::new(200, format!("{}{KEY}", "x".repeat(75))),
        Reply::new(200, format!("{}{KEY}", "x".repeat(290))),
        Reply::redirect(302, &format!("http://127.0.0.1/{KEY}")),
    ];
    for status in [400, 401, 403, 404, 429, 500, 529] {
        let message = format!("{}Incorrect key: {KEY}", "x".repeat(290));
        replies.push(Reply::new(status, json!({"error": {"message": message}})));
        replies.push(Reply::new(status, format!("wrong key {KEY}")));
    }
    replies
}

#[tokio::test]
async fn no_error_answer_or_transcript_holds_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("transcript.ndjson");
    for provider in PROVIDERS {
        let server = Server::start(echoes()).await;
        let config = config(server.url());
        let client = connect(provider, &config);
        let client = Recorder::create(client, &file, config.secrets()).unwrap();
        let asked = echoes().len();
        for _ in 0..asked {
            let request = LlmRequest::prompt(format!("The key is {KEY}."), json!({}));
            let answer = client.generate_json(request).await;
            let shown = match &answer {
                Ok(completion) => format!("{completion:?}"),
                Err(error) => format!("{error} {error:?}"),
            };
            assert!(!shown.contains("sk-test"), "{provider}: {shown}");
        }
        assert_eq!(server.received().len(), asked);
        let transcript = fs::read_to_string(&file).unwrap();
        assert_eq!(transcript.lines().count(), asked);
        assert!(transcript.contains("[redacted]"));
        assert!(!transcript.contains("sk-test"), "{provider}: {transcript}");
    }
}

#[test]
fn no_client_shows_it() {
    let config = config("http://127.0.0.1:1/v1");
    let line = format!("ask --key {KEY}");
    let command = Command::new(&line, &config).unwrap();
    assert_eq!(command.name(), "command:ask");
    for shown in [
        format!("{config:?}"),
        format!("{:?}", self::config(&format!("https://me:{KEY}@models.example/v1"))),
        format!("{:?}", self::config(&format!("https://models.example/v1?key={KEY}"))),
        format!("{:?}", OpenAi::new("m", &config).unwrap()),
        format!("{:?}", Anthropic::new("m", &config).unwrap()),
        format!("{:?}", Gemini::new("m", &config).unwrap()),
        format!("{command:?}"),
    ] {
        assert!(!shown.contains(KEY), "{shown}");
    }
}

#[test]
fn in_clear_it_is_sent_to_this_machine_alone() {
    for provider in PROVIDERS {
        let spec: ModelSpec = format!("{provider}:m").parse().unwrap();
        for url in ["http://models.example/v1", "http://192.0.2.1:8080", "https://a.example/?v=1"] {
            let Err(error) = retort::author::llm::connect(&spec, &config(url)) else {
                panic!("{provider} is asked at {url}")
            };
            assert_eq!(error.code(), "model_config");
            assert!(!error.to_string().contains(KEY), "{error}");
        }
    }
}

#[test]
fn a_key_that_no_header_can_hold_is_refused() {
    let key = format!("{KEY}\n{KEY}");
    let config =
        options!(ClientConfig { api_key: Some(key.into()), ..config("http://127.0.0.1:1") });
    let error = OpenAi::new("m", &config).unwrap_err().to_string();
    assert!(error.contains("a key that a header can hold") && !error.contains(KEY), "{error}");
}

#[tokio::test]
async fn no_error_or_answer_of_a_program_holds_it() {
    let config = config("http://127.0.0.1:1");
    let echo = Command::new(&format!("echo {KEY}"), &config).unwrap();
    assert_eq!(echo.generate_json(prompt()).await.unwrap().text, "[redacted]\n");
    let ask = async |line: String| {
        let client = Command::new(&line, &config).unwrap();
        client.generate_json(prompt()).await.unwrap_err().to_string()
    };
    let message = ask(format!("sh -c 'echo bad key: {KEY} >&2; exit 3'")).await;
    assert!(message.ends_with("and said bad key: [redacted] last"), "{message}");
    // However long the line is, no part of a key is left at either end of what is shown.
    for before in [0, 290, 4090, 5000] {
        let filler = "x".repeat(before);
        let message = ask(format!("sh -c 'echo {filler}{KEY}{filler} >&2; exit 3'")).await;
        assert!(!message.contains("sk-") && !message.contains("0a9e"), "{message}");
    }
}
