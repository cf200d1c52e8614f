//! What comes back from each provider: cases as data.

use std::fs;
use std::time::{Duration, Instant};

use retort::Coded;
use retort::author::llm::{ClientConfig, FinishReason, LlmClient, LlmError, OpenAi, Usage};
use serde::Deserialize;
use serde_json::json;

use super::server::{Reply, Server};
use super::{PROVIDERS, config, connect, prompt};
use crate::support::workspace_root;

/// One answer of a provider, and what it means.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    reply: Reply,
    expect: Expected,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Expected {
    Answer { text: String, usage: Option<Usage>, finish_reason: FinishReason },
    Failure { code: String, says: String },
}

fn cases(file: &str) -> Vec<Case> {
    let path = workspace_root().join("tests/llm/cases").join(file).with_extension("json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

async fn run(provider: &str, cases: Vec<Case>) {
    for Case { name, reply, expect } in cases {
        let server = Server::start([reply]).await;
        let config = options!(ClientConfig { max_response_bytes: 4096, ..config(server.url()) });
        let answer = connect(provider, &config).generate_json(prompt()).await;
        match (answer, expect) {
            (Ok(answer), Expected::Answer { text, usage, finish_reason }) => {
                assert_eq!(answer.text, text, "{provider}: {name}");
                assert_eq!(answer.usage, usage, "{provider}: {name}");
                assert_eq!(answer.finish_reason, finish_reason, "{provider}: {name}");
            }
            (Err(error), Expected::Failure { code, says }) => {
                let message = error.to_string();
                assert_eq!(error.code(), code, "{provider}: {name}: {message}");
                assert!(message.contains(&says), "{provider}: {name}: {message}");
                assert!(message.starts_with(&format!("{provider}:m ")), "{message}");
                assert!(message.chars().count() < 600 && !message.contains('\n'), "{message}");
            }
            (answer, expect) => panic!("{provider}: {name}: {answer:?}, expected {expect:?}"),
        }
        assert_eq!(server.received().len(), 1, "{provider}: {name}");
    }
}

#[tokio::test]
async fn openai() {
    run("openai", cases("openai")).await;
}

#[tokio::test]
async fn anthropic() {
    run("anthropic", cases("anthropic")).await;
}

#[tokio::test]
async fn gemini() {
    run("gemini", cases("gemini")).await;
}

#[tokio::test]
async fn failures_that_all_protocols_share() {
    for provider in PROVIDERS {
        run(provider, cases("failures")).await;
    }
}

#[tokio::test]
async fn a_slow_service_is_not_waited_for() {
    let timeout = Duration::from_millis(200);
    for provider in PROVIDERS {
        for slow in [
            Reply::new(200, "{}").after(Duration::from_secs(20)),
            Reply::new(200, "{\"choices\": ").stalling(),
            Reply::new(500, "out of ").stalling(),
        ] {
            let server = Server::start([slow]).await;
            let config = options!(ClientConfig { timeout, ..config(server.url()) });
            let started = Instant::now();
            let error = connect(provider, &config).generate_json(prompt()).await.unwrap_err();
            assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
            assert_eq!(error, LlmError::Timeout { model: format!("{provider}:m"), after: timeout });
            assert_eq!(error.to_string(), format!("{provider}:m gave no answer within 0.2 s"));
        }
    }
}

/// The time is that of the call, not of each request in it.
#[tokio::test]
async fn asking_again_takes_no_more_time() {
    let refusal = json!({"error": {"message": "temperature: not supported"}});
    let refusal = Reply::new(400, refusal).after(Duration::from_millis(1200));
    let late = Reply::chat("{}", "stop").after(Duration::from_millis(1200));
    let server = Server::start([refusal, late]).await;
    let config = options!(ClientConfig { timeout: Duration::from_secs(2), ..config(server.url()) });
    let error = connect("openai", &config).generate_json(prompt()).await.unwrap_err();
    assert_eq!(error.code(), "model_timeout");
    assert_eq!(server.received().len(), 2);
}

/// A service that doesn't speak TLS gets no key.
#[tokio::test]
async fn a_secure_address_is_only_asked_securely() {
    let server = Server::start([]).await;
    let config = config(&server.url().replace("http:", "https:"));
    let client = match OpenAi::new("m", &config) {
        Ok(client) => client,
        Err(error) => {
            assert!(error.to_string().contains("CA certificates"), "{error}");
            eprintln!("skipped: this machine trusts no roots");
            return;
        }
    };
    let error = client.generate_json(prompt()).await.unwrap_err();
    assert_eq!(error.code(), "model_unreachable", "{error}");
    assert!(server.received().is_empty());
}

#[tokio::test]
async fn nobody_at_the_address() {
    let server = Server::start([]).await;
    let url = server.url().to_owned();
    drop(server);
    // The port is free as soon as the service's task is gone.
    tokio::time::sleep(Duration::from_millis(50)).await;
    for provider in PROVIDERS {
        let error = connect(provider, &config(&url)).generate_json(prompt()).await.unwrap_err();
        assert_eq!(error.code(), "model_unreachable");
        assert!(error.to_string().to_lowercase().contains("connection refused"), "{error}");
        assert!(!error.to_string().contains(&url), "{error}");
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    for provider in PROVIDERS {
        for status in [301, 302, 303, 307, 308] {
            let elsewhere = Server::start([]).await;
            let server = Server::start([Reply::redirect(status, elsewhere.url())]).await;
            let client = connect(provider, &config(server.url()));
            let error = client.generate_json(prompt()).await.unwrap_err();
            assert!(error.to_string().contains("a redirect is not followed"), "{error}");
            assert_eq!(error.code(), "model_status");
            assert!(elsewhere.received().is_empty(), "{provider} followed a {status}");
        }
    }
}
