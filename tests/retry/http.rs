//! The loop over real HTTP, against a local service.

use std::time::Duration;

use retort::author::{
    Account, AnswerFormat, LoopConfig, LoopConfigBuilder, LoopError, LoopOutcome, Reason,
    RetryStrategy,
    llm::{ClientConfig, OpenAi},
};
use retort::plan::Plan;
use retort::{Coded, compile_with_llm};
use serde_json::Value;

use super::script::{Script, Step, first_prompt, plan, rejection, task};
use crate::llm::server::{Reply, Server};

const KEY: &str = "sk-test-of-the-loop-77aa";

/// An answer as models give it, in words and a fence.
fn fenced(plan: &Value) -> Reply {
    Reply::chat(&format!("Here it is:\n```json\n{plan:#}\n```\n"), "stop")
}

fn lenient<'a>() -> LoopConfigBuilder<'a, Plan> {
    LoopConfig::builder().answer_format(AnswerFormat::Lenient)
}

/// Runs the loop against a service; a call may take two seconds.
async fn run(
    server: &Server,
    gates: &Script,
    config: LoopConfigBuilder<'_, Plan>,
) -> Result<LoopOutcome<Plan>, LoopError> {
    let client = options!(ClientConfig {
        base_url: Some(server.url().to_owned()),
        api_key: Some(KEY.into()),
        timeout: Duration::from_secs(2),
        ..ClientConfig::default()
    });
    let client = OpenAi::new("m", &client).unwrap();
    compile_with_llm(&client, &task(), gates, &config.build().unwrap()).await
}

/// The last turn that a request holds.
fn asked(server: &Server, request: usize) -> String {
    let body = server.received()[request].json();
    body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn it_succeeds_after_two_bad_answers() {
    let server = Server::start([
        Reply::chat("I would read the order's id.", "stop"),
        fenced(&plan("first")),
        fenced(&plan("second")),
    ])
    .await;
    let diagnostic = "Smoke test failed: key absent";
    let gates = Script::new([Step::Reject(rejection("missing_key", diagnostic, Vec::new()))]);
    let outcome = run(&server, &gates, lenient()).await.unwrap();
    assert_eq!(outcome.accepted().unwrap().function_name(), "second");
    let codes: Vec<_> = outcome.attempts().iter().map(|it| it.record.failure.as_ref()).collect();
    assert_eq!(codes[0].unwrap().failure_code, "plan_parse_error:invalid_json");
    assert_eq!(codes[1].unwrap().failure_code, "compile:smoke_failure");
    assert_eq!(codes[2], None);
    assert!(asked(&server, 1).contains("invalid_json"));
    assert!(asked(&server, 2).contains(diagnostic));
    // Three answers, each as the service reports it.
    let usage = outcome.history().usage;
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.estimated), (300, 60, false));
    assert_eq!(outcome.history().model, "openai:m");
}

#[tokio::test]
async fn it_ends_when_all_attempts_are_made() {
    let replies = ["one", "two", "three"].map(|text| Reply::chat(text, "stop"));
    let server = Server::start(replies).await;
    let outcome = run(&server, &Script::default(), lenient().max_attempts(3)).await.unwrap();
    assert_eq!(outcome.reason(), Reason::MaxAttemptsReached);
    assert_eq!((server.received().len(), outcome.history().usage.total()), (3, 360));
}

#[tokio::test]
async fn it_ends_when_the_tokens_are_spent() {
    let replies = ["one", "{", "[]", "4"].map(|text| Reply::chat(text, "stop"));
    let server = Server::start(replies).await;
    // Enough for the first prompt and no longer for the second, which says what was wrong.
    let config = lenient().token_budget(first_prompt() + 100);
    let outcome = run(&server, &Script::default(), config).await.unwrap();
    assert_eq!(outcome.reason(), Reason::TokenBudgetSpent);
    assert_eq!((server.received().len(), outcome.history().usage.total()), (1, 120));
}

#[tokio::test]
async fn an_answer_that_comes_too_late_is_an_error_with_history() {
    let late = fenced(&plan("late")).after(Duration::from_secs(600));
    let server = Server::start([Reply::chat("no", "stop"), late]).await;
    let error = run(&server, &Script::default(), lenient()).await.unwrap_err();
    assert_eq!(error.code(), "model_timeout");
    assert_eq!(error.history().attempts.len(), 1);
    let usage = error.history().usage;
    assert!(usage.input_tokens > 100 && usage.output_tokens == 20 && usage.estimated);
}

#[tokio::test]
async fn the_loops_own_time_cuts_a_call_off() {
    let late = fenced(&plan("late")).after(Duration::from_secs(600));
    let server = Server::start([Reply::chat("no", "stop"), late]).await;
    let config = lenient().wall_budget(Duration::from_secs(1));
    let outcome = run(&server, &Script::default(), config).await.unwrap();
    assert_eq!((outcome.reason(), outcome.attempts().len()), (Reason::WallBudgetSpent, 1));
    assert!(outcome.last_diagnostic().unwrap().contains("invalid_json"));
}

#[tokio::test]
async fn an_answer_that_was_cut_off_is_asked_for_again() {
    let half: String = plan("whole").to_string().chars().take(60).collect();
    let server = Server::start([Reply::chat(&half, "length"), fenced(&plan("whole"))]).await;
    let outcome = run(&server, &Script::default(), lenient()).await.unwrap();
    assert!(outcome.ok());
    let failure = outcome.attempts()[0].record.failure.as_ref().unwrap();
    assert_eq!(failure.failure_code, "plan_parse_error:truncated_response");
    assert!(asked(&server, 1).contains("cut off"));
}

#[tokio::test]
async fn a_service_that_speaks_another_protocol_is_an_error_with_history() {
    for broken in [Reply::new(200, "<html>"), Reply::new(500, "no"), Reply::new(401, "no")] {
        let server = Server::start([Reply::chat("no", "stop"), broken]).await;
        let error = run(&server, &Script::default(), lenient()).await.unwrap_err();
        assert_eq!(error.history().attempts.len(), 1, "{error}");
        assert!(error.history().attempts[0].record.diagnostic.is_some());
        assert!(error.history().usage.total() >= 120);
    }
}

#[tokio::test]
async fn a_conversation_holds_every_turn() {
    let server = Server::start([Reply::chat("no", "stop"), fenced(&plan("whole"))]).await;
    let config = lenient().strategy(RetryStrategy::Continue);
    assert!(run(&server, &Script::default(), config).await.unwrap().ok());
    let body = server.received()[1].json();
    let turns = body["messages"].as_array().unwrap();
    let roles: Vec<_> = turns.iter().map(|turn| turn["role"].as_str().unwrap()).collect();
    assert!(roles.ends_with(&["user", "assistant", "user"]), "{roles:?}");
    assert_eq!(turns[turns.len() - 2]["content"], "no");
}

/// A service that repeats the key in whatever it says doesn't get it into anything that is kept or shown.
#[tokio::test]
async fn the_key_is_in_no_record_account_or_error() {
    let mut echoing = plan("one");
    echoing[KEY] = KEY.into();
    let wrong = Reply::new(429, format!("no quota for {KEY}"));
    let replies = [Reply::chat(KEY, "stop"), fenced(&echoing), Reply::chat("{", KEY), wrong];
    let server = Server::start(replies).await;
    let shown = std::sync::Mutex::new(String::new());
    let config = lenient().watch(|attempt| {
        let line = serde_json::to_string(attempt).unwrap();
        shown.lock().unwrap().push_str(&line);
    });
    let error = run(&server, &Script::default(), config).await.unwrap_err();
    assert_eq!(error.code(), "model_quota");
    let received = server.received();
    assert_eq!(received.len(), 4);
    assert_eq!(received[3].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let history = serde_json::to_string(error.history()).unwrap();
    let account = Account::of_error(&error, &task());
    for shown in [
        format!("{error} {error:?}"),
        history,
        format!("{account} {account:?}"),
        shown.into_inner().unwrap(),
        (0..4).map(|request| asked(&server, request)).collect(),
    ] {
        assert!(!shown.contains("sk-test"), "{shown}");
    }
}
