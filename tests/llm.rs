//! Clients of models: over real HTTP against a local service, through programs, and from transcripts.

mod command;
mod keys;
mod protocols;
mod requests;
mod restrictions;
mod schemas;
pub(crate) mod server;
mod transcripts;

use retort::author::llm::{self, ClientConfig, LlmClient, LlmRequest, Message, ModelSpec, Role};

/// The key of every client here.
const KEY: &str = "sk-test-4f1dcb0a9e";

/// How the clients here are configured: for a service at `url`, with a key.
pub(crate) fn config(url: &str) -> ClientConfig {
    options!(ClientConfig {
        base_url: Some(url.to_owned()),
        api_key: Some(KEY.into()),
        ..ClientConfig::default()
    })
}

/// The providers that are reached over HTTP.
pub(crate) const PROVIDERS: &[&str] = &["openai", "anthropic", "gemini"];

/// A client of a provider, made as for a user.
pub(crate) fn connect(provider: &str, config: &ClientConfig) -> Box<dyn LlmClient> {
    let spec: ModelSpec = format!("{provider}:m").parse().unwrap();
    let client = llm::connect(&spec, config).unwrap().unwrap();
    assert_eq!(client.name(), format!("{provider}:m"));
    client
}

#[test]
fn a_draft_is_made_of_the_task() {
    assert!(llm::connect(&ModelSpec::Draft, &ClientConfig::default()).unwrap().is_none());
}

/// A request of one turn, with the schema of plans.
fn prompt() -> LlmRequest {
    LlmRequest::prompt("Write a plan as JSON.", retort::plan::schema())
}

/// A request of three turns.
fn conversation() -> LlmRequest {
    let turn = |role, text: &str| Message { role, text: text.to_owned() };
    let messages = vec![
        turn(Role::User, "Write a plan as JSON."),
        turn(Role::Assistant, "{\"event_type\": 1}"),
        turn(Role::User, "It has a fault.\nFix it."),
    ];
    LlmRequest { messages, ..prompt() }
}
