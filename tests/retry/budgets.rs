//! Tokens and time.

use std::time::{Duration, Instant};

use retort::llm::LlmError;
use retort::problem::Coded;
use retort::retry::{Reason, Tokens};

use super::script::{Model, Script, config, paid, plan, run, said};

#[tokio::test]
async fn no_call_is_made_once_the_tokens_are_spent() {
    let bad = |text: &str| Ok(paid(text, 60, 20));
    let model = Model::new([bad("[]"), bad("{"), Ok(paid(plan("one"), 1, 1))]);
    let outcome = run(&model, &Script::default(), config().token_budget(160)).await.unwrap();
    assert_eq!((outcome.reason(), model.requests().len()), (Reason::TokenBudgetSpent, 2));
    let usage = Tokens { input_tokens: 120, output_tokens: 40, estimated: false };
    assert_eq!(outcome.history().usage, usage);
    // Nothing was fed to a further attempt; the result has it all the same.
    assert_eq!(outcome.attempts()[1].record.diagnostic, None);
    assert!(outcome.last_diagnostic().unwrap().contains("invalid_json"));
}

#[tokio::test]
async fn a_cost_that_is_not_reported_counts_by_estimate() {
    let model = Model::says(["[]", "{", "[1]"]);
    let outcome = run(&model, &Script::default(), config().token_budget(1)).await.unwrap();
    assert_eq!((outcome.reason(), model.requests().len()), (Reason::TokenBudgetSpent, 1));
    let usage = outcome.history().usage;
    assert_eq!(usage.input_tokens, model.prompts()[0].chars().count() as u64 / 4);
    assert!(usage.estimated);
}

#[tokio::test]
async fn a_budget_of_nothing_asks_nothing() {
    for config in [config().token_budget(0), config().wall_budget(Duration::ZERO)] {
        let model = Model::says(["[]"]);
        let outcome = run(&model, &Script::default(), config).await.unwrap();
        assert!(!outcome.ok() && outcome.attempts().is_empty() && model.requests().is_empty());
        assert_eq!(outcome.history().usage, Tokens::default());
    }
}

#[tokio::test]
async fn a_model_that_is_free_spends_nothing() {
    let model = Model::says(["[]", "{", &plan("one").to_string()]).for_free();
    let outcome = run(&model, &Script::default(), config().token_budget(1)).await.unwrap();
    assert!(outcome.ok());
    assert_eq!(outcome.history().usage, Tokens::default());
}

#[tokio::test]
async fn a_call_is_cut_off_when_the_time_is_spent() {
    let model = Model::says(["[]"]).after(Duration::from_secs(600));
    let began = Instant::now();
    let config = config().wall_budget(Duration::from_millis(50));
    let outcome = run(&model, &Script::default(), config).await.unwrap();
    assert_eq!(outcome.reason(), Reason::WallBudgetSpent);
    assert!(began.elapsed() < Duration::from_secs(60));
    assert!(outcome.history().wall_time() >= Duration::from_millis(50));
    // It was asked, and may have been paid for.
    assert!(outcome.attempts().is_empty() && outcome.history().usage.input_tokens > 0);
}

#[tokio::test]
async fn attempts_and_time_add_up() {
    let model = Model::says([plan("one")]).after(Duration::from_millis(30));
    let outcome = run(&model, &Script::default(), config()).await.unwrap();
    let ms = outcome.attempts()[0].ms;
    assert!(ms >= 30 && ms <= outcome.history().wall_ms);
}

#[tokio::test]
async fn what_was_spent_comes_with_an_error() {
    let timeout = LlmError::Timeout { model: "script".to_owned(), after: Duration::from_secs(1) };
    let model = Model::new([Ok(paid("[]", 60, 20)), Err(timeout)]);
    let error = run(&model, &Script::default(), config()).await.unwrap_err();
    assert_eq!(error.code(), "model_timeout");
    let history = error.history();
    assert_eq!(history.attempts.len(), 1);
    assert!(history.attempts[0].record.diagnostic.is_some());
    // The question that got no answer counts.
    let asked = model.prompts()[1].chars().count() as u64 / 4;
    let expected = Tokens { input_tokens: 60 + asked, output_tokens: 20, estimated: true };
    assert_eq!(history.usage, expected);
}

#[tokio::test]
async fn an_estimate_beside_a_report_makes_the_sum_an_estimate() {
    let model = Model::new([Ok(paid("[]", 60, 20)), Ok(said(plan("one")))]);
    let outcome = run(&model, &Script::default(), config()).await.unwrap();
    let attempts = outcome.attempts();
    assert!(!attempts[0].record.usage.estimated && attempts[1].record.usage.estimated);
    assert!(outcome.history().usage.estimated);
}
