//! Tokens and time.

use std::cell::Cell;
use std::fs;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use retort::author::{
    AnswerError, GateError, Gates, Reason, RetryStrategy, Tokens, Verdict, draft_until,
    llm::LlmError,
};
use retort::bundle::{Request, StageTime};
use retort::diagnostics::{Finding, Stage};
use retort::evidence::Cancel;
use retort::plan::{self as plans, Plan};
use retort::{Coded, GraphSpec, Pipeline, PipelineError, compile_with_llm};

use retort::{Samples, Task};

use super::script::{Model, Script, config, estimate, first_prompt, paid, plan, run, said, task};
use crate::support::workspace_root;

#[tokio::test]
async fn no_call_is_made_once_the_tokens_are_spent() {
    let prompt = first_prompt();
    let bad = |text: &str| Ok(paid(text, 2 * prompt, 20));
    let model = Model::new([bad("[]"), bad("{"), Ok(paid(plan("one"), 1, 1))]);
    let config = config().token_budget(4 * prompt + 40);
    let outcome = run(&model, &Script::default(), config).await.unwrap();
    assert_eq!((outcome.reason(), model.requests().len()), (Reason::TokenBudgetSpent, 2));
    let usage = Tokens { input_tokens: 4 * prompt, output_tokens: 40, estimated: false };
    assert_eq!(outcome.history().usage, usage);
    // Nothing was fed to a further attempt; the result has it all the same.
    assert_eq!(outcome.attempts()[1].record.diagnostic, None);
    assert!(outcome.last_diagnostic().unwrap().contains("invalid_json"));
}

#[tokio::test]
async fn a_cost_that_is_not_reported_counts_by_estimate() {
    let model = Model::says(["[]", "{", "[1]"]);
    let config = config().token_budget(first_prompt());
    let outcome = run(&model, &Script::default(), config).await.unwrap();
    assert_eq!((outcome.reason(), model.requests().len()), (Reason::TokenBudgetSpent, 1));
    let usage = outcome.history().usage;
    assert_eq!(usage.input_tokens, estimate(&model.prompts()[0]));
    assert!(usage.estimated);
}

#[tokio::test]
async fn a_prompt_that_costs_more_than_is_left_is_not_sent() {
    let model = Model::says(["[]"]);
    let outcome = run(&model, &Script::default(), config().token_budget(first_prompt() - 1)).await;
    let outcome = outcome.unwrap();
    assert_eq!((outcome.reason(), model.requests().len()), (Reason::TokenBudgetSpent, 0));
    assert_eq!(outcome.history().usage, Tokens::default());

    // A conversation grows, and with it what the next turn costs.
    let model = Model::new([Ok(paid("x".repeat(8_000), 1, 1))]);
    let continued = config().strategy(RetryStrategy::Continue).token_budget(first_prompt() + 1_900);
    let outcome = run(&model, &Script::default(), continued).await.unwrap();
    assert_eq!((outcome.reason(), model.requests().len()), (Reason::TokenBudgetSpent, 1));
    assert!(outcome.last_diagnostic().unwrap().contains("invalid_json"));
}

#[tokio::test]
async fn a_provider_that_counts_nothing_spends_the_budget_all_the_same() {
    let answers = (0..9).map(|i| Ok(paid(i, 0, 0)));
    let model = Model::new(answers);
    let config = config().token_budget(2 * first_prompt()).max_attempts(9).repetition(None);
    let outcome = run(&model, &Script::default(), config).await.unwrap();
    assert_eq!((outcome.reason(), model.requests().len()), (Reason::TokenBudgetSpent, 1));
    assert!(outcome.history().usage.estimated);
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

/// Gates that come to no end of one of the things they do.
struct Endless {
    judging: bool,
}

#[async_trait]
impl Gates for Endless {
    type Accepted = Plan;

    async fn judge(&self, _plan: &Plan) -> Result<Verdict<Plan>, GateError> {
        assert!(self.judging);
        std::future::pending().await
    }

    async fn findings_of_answer(&self, _error: &AnswerError) -> Result<Vec<Finding>, GateError> {
        assert!(!self.judging);
        std::future::pending().await
    }
}

#[tokio::test]
async fn gates_are_not_waited_for_once_the_time_is_spent() {
    for (judging, answer) in [(true, plan("one").to_string()), (false, "[]".to_owned())] {
        let model = Model::new([Ok(paid(&answer, 60, 20))]);
        let config = config().wall_budget(Duration::from_millis(300)).build().unwrap();
        let gates = Endless { judging };
        let outcome = compile_with_llm(&model, &task(), &gates, &config).await.unwrap();
        assert_eq!(outcome.reason(), Reason::WallBudgetSpent);
        // The answer was paid for, and is there.
        let [attempt] = outcome.attempts() else { panic!("{:?}", outcome.attempts()) };
        assert_eq!((&attempt.record.response, outcome.history().usage.total()), (&answer, 80));
        assert_eq!(attempt.record.failure.as_ref().unwrap().code, "gates_interrupted");
        assert_eq!(attempt.record.diagnostic, None);
        assert!(outcome.last_diagnostic().unwrap().contains("was spent before"));
    }
}

/// What an answer makes the loop do takes place elsewhere: meanwhile the thread that runs it can do other things, such as
/// to notice that time is up or that the user has had enough.
#[tokio::test]
async fn a_huge_answer_leaves_the_thread_of_the_loop_free() {
    let fields: String = (0..100_000).map(|i| format!(r#""unknown_{i}":[],"#)).collect();
    let model = Model::says([format!("{{{fields}\"event_type\":1}}")]);
    let config = config().max_attempts(1);
    let gates = Script::default();
    let (done, mut longest) = (Cell::new(false), Duration::ZERO);
    let began = Instant::now();
    let ticking = async {
        while !done.get() {
            let before = Instant::now();
            tokio::time::sleep(Duration::from_millis(1)).await;
            longest = longest.max(before.elapsed());
        }
    };
    let running = async {
        let outcome = run(&model, &gates, config).await.unwrap();
        done.set(true);
        outcome
    };
    let ((), outcome) = tokio::join!(ticking, running);
    assert_eq!(outcome.reason(), Reason::MaxAttemptsReached);
    assert!(longest < began.elapsed() / 2, "{longest:?} of {:?}", began.elapsed());
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

#[test]
fn a_plan_that_nobody_waits_for_is_judged_no_further() {
    let folder = workspace_root().join("examples/agent-decision");
    let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let graph = GraphSpec::parse(&text("graph.yaml"), "graph.yaml").unwrap();
    let samples = Samples::parse(&text("samples.ndjson"), "samples").unwrap();
    let (task, plan) = (Task::new(graph, samples), plans::parse(&text("plan.json")).unwrap());
    let pipeline = Pipeline::builder().build().unwrap();
    let stages = ["policy", "fit", "render", "compile", "inspect", "load", "smoke"];
    for (done, next) in stages.iter().enumerate() {
        let (cancel, mut begun) = (Cancel::default(), Vec::new());
        if done == 0 {
            cancel.cancel();
        }
        let mut watch = |time: StageTime| {
            begun.push(time.stage);
            if begun.len() == done {
                cancel.cancel();
            }
        };
        let request = Request::new(&task).cancel(&cancel).watch(&mut watch);
        let judged = pipeline.accept_plan(&plan, request);
        let Err(PipelineError::Cancelled { stage }) = judged else { panic!("{next}: {judged:?}") };
        assert_eq!((stage.as_str(), begun.len()), (*next, done));
        assert_eq!(PipelineError::Cancelled { stage }.code(), "gates_interrupted");
    }
    let cancel = Cancel::default();
    pipeline.accept_plan(&plan, Request::new(&task).cancel(&cancel)).unwrap();
    assert!(draft_until(&task, &cancel).unwrap().is_whole());
    cancel.cancel();
    assert!(draft_until(&task, &cancel).is_err());
    assert_eq!(PipelineError::Cancelled { stage: Stage::Smoke }.problems().len(), 1);
}
