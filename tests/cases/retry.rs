//! The loop that asks a model until a plan passes: the contract's cases, and those with the gates themselves.

mod pipeline;
#[allow(dead_code, reason = "other tests use it as well")]
#[path = "../retry/script.rs"]
mod script;

use libtest_mimic::Trial;
use retort::author::{
    AttemptKind, Category, Channel, LoopCause, LoopConfig, LoopConfigBuilder, LoopOutcome,
    PipelineGates, Rejection, RetryPolicy, llm::LlmError,
};
use retort::plan::{self as plans, Plan};
use retort::render::render;
use retort::{Coded, Pipeline, Rule, compile_with_llm};
use serde_json::Value;

use self::script::{Model, Script, Step, config, plan, said, task, task_of, unrenderable};
use crate::trial::of_contract;

/// Holds only where failures that repeat don't end the loop, as the contract's notes say.
const WITHOUT_POLICY: &str = "same_bad_answer_repeated_is_not_short_circuited";

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = pipeline::trials();
    trials.extend(of_contract("retry_loop", named, |case| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            if !list(&case, "render_outcomes").is_empty() {
                check_through_the_pipeline(&case).await;
            }
            if case["name"] != WITHOUT_POLICY {
                check(&case, RetryPolicy::default().into()).await;
            }
            check(&case, None).await;
        });
    }));
    trials
}

fn named(text: &str) -> Vec<(String, Value)> {
    let cases: Vec<Value> = serde_json::from_str(text).unwrap();
    cases.into_iter().map(|case| (case["name"].as_str().unwrap().to_owned(), case)).collect()
}

/// Runs a case and compares all that it expects.
async fn check(case: &Value, policy: Option<RetryPolicy>) {
    let name = case["name"].as_str().unwrap();
    let expected = &case["expected"];
    let model = Model::new(list(case, "llm_responses").iter().map(answer));
    let gates = Script::new(steps(case));
    let builder = config().max_attempts(case["max_attempts"].as_i64().unwrap()).repetition(policy);
    match end(case, builder, &model, &gates).await {
        Ok(outcome) => check_outcome(name, expected, &outcome),
        Err(raised) => assert_eq!(expected["raises"], raised, "{name}"),
    }
    let rendered = gates.judged().len();
    let unrendered = list(case, "render_outcomes").len();
    assert_eq!(model.requests().len() as u64, expected["n_llm_calls"], "{name}");
    assert_eq!((rendered - unrendered) as u64, expected["n_compile_calls"], "{name}");
}

/// Runs a case in which plans can't be rendered through the gates themselves, with a plan that the renderer refuses wherever the
/// case says that it does.
async fn check_through_the_pipeline(case: &Value) {
    let name = case["name"].as_str().unwrap();
    let mut rendered = list(case, "render_outcomes").iter();
    let answers = list(case, "llm_responses").iter().enumerate().map(|(i, response)| {
        let answer = response.as_str().map_or_else(|| response.to_string(), str::to_owned);
        let function = format!("read_{i}");
        match plans::parse(&answer) {
            Err(_) => answer,
            Ok(_) if rendered.next().is_some_and(|it| it["ok"] == false) => {
                unrenderable(&function).to_string()
            }
            Ok(_) => plan(&function).to_string(),
        }
    });
    let answers: Vec<String> = answers.collect();
    let task = task();
    let pipeline = Pipeline::builder().build().unwrap();
    let gates = PipelineGates::new(&pipeline, &task);
    let config =
        LoopConfig::builder().max_attempts(case["max_attempts"].as_i64().unwrap()).repair(false);
    let model = Model::says(&answers);
    let outcome = compile_with_llm(&model, &task, &gates, &config.build().unwrap()).await.unwrap();
    check_outcome(name, &case["expected"], &outcome);
    assert_eq!(model.requests().len() as u64, case["expected"]["n_llm_calls"], "{name}");
    let last = outcome.last_diagnostic();
    let diagnostics = outcome.attempts().iter().map(|it| it.record.diagnostic.as_deref().or(last));
    for (answer, diagnostic) in answers.iter().zip(diagnostics) {
        let Err(error) = render(&plans::parse(answer).unwrap()) else { continue };
        let place = error.place().unwrap();
        let told = format!("RenderError [code=invalid_plan]: {place}: {error}");
        assert!(diagnostic.unwrap().starts_with(&told), "{name}: {diagnostic:?}");
    }
}

/// How a case ends: with an outcome, or with what it raises.
async fn end(
    case: &Value,
    builder: LoopConfigBuilder<'_, Plan>,
    model: &Model,
    gates: &Script,
) -> Result<LoopOutcome<Plan>, &'static str> {
    let rule = case.get("extraction_rule").cloned();
    let rule = rule.unwrap_or_else(|| serde_json::json!({"rule": "Every decision is a node."}));
    let task = task_of(Some(Rule::from_value(rule).map_err(|_| "type_error")?));
    let config = builder.build().map_err(|_| "argument_error")?;
    compile_with_llm(model, &task, gates, &config).await.map_err(|error| match error.cause() {
        LoopCause::Model(LlmError::Transport { .. }) => "transport",
        LoopCause::Model(LlmError::Quota { .. }) => "quota",
        LoopCause::Gate(_) => "io",
        other => panic!("{other}"),
    })
}

fn check_outcome<A>(name: &str, expected: &Value, outcome: &LoopOutcome<A>) {
    assert_eq!(expected["ok"], outcome.ok(), "{name}");
    assert_eq!(expected["ok"], outcome.accepted().is_some(), "{name}");
    assert_eq!(expected["reason"], outcome.reason().as_str(), "{name}");
    let attempts = expected["attempts"].as_array().unwrap();
    assert_eq!(outcome.attempts().len(), attempts.len(), "{name}");
    for (expected, attempt) in attempts.iter().zip(outcome.attempts()) {
        let record = &attempt.record;
        assert_eq!(record.kind, AttemptKind::Model, "{name}");
        assert_eq!(expected["has_diagnostic"], record.diagnostic.is_some(), "{name}");
        let failure = record.failure.as_ref();
        let channel = failure.map_or(Channel::CompileResult, |failure| failure.channel);
        assert_eq!(expected["channel"], channel.as_str(), "{name}");
        assert_eq!(expected["ok"] == true, failure.is_none(), "{name}");
        if let Some(code) = expected.get("code") {
            assert_eq!(*code, failure.unwrap().code, "{name}");
        }
        let failure_code = failure.map(|failure| failure.failure_code.as_str());
        assert_eq!(expected.get("failure_code").and_then(Value::as_str), failure_code, "{name}");
    }
    assert_eq!(outcome.last_diagnostic().is_some(), !outcome.ok(), "{name}");
}

fn list<'a>(case: &'a Value, field: &str) -> &'a [Value] {
    case.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn answer(response: &Value) -> Result<retort::author::llm::Completion, LlmError> {
    let model = "script".to_owned();
    let message = "no".to_owned();
    match response.get("$raise").and_then(Value::as_str) {
        Some("transport") => Err(LlmError::Transport { model, message }),
        Some("quota") => Err(LlmError::Quota { model, message }),
        Some(other) => panic!("nothing stands for {other}"),
        // Text stands for itself, any other value for its JSON.
        None => Ok(match response.as_str() {
            Some(text) => said(text),
            None => said(response),
        }),
    }
}

/// What the gates do, one step for each plan that reaches them.
fn steps(case: &Value) -> Vec<Step> {
    let render = list(case, "render_outcomes").iter().map(|outcome| {
        let message = outcome["message"].as_str().unwrap();
        Step::Reject(Rejection {
            channel: Channel::RenderError,
            code: "invalid_plan".to_owned(),
            category: Category::Unknown,
            diagnostic: format!("RenderError [code=invalid_plan]: {message}"),
            findings: Vec::new(),
        })
    });
    render.chain(list(case, "compile_outcomes").iter().map(compile_step)).collect()
}

fn compile_step(outcome: &Value) -> Step {
    if outcome["ok"] == true {
        return Step::Accept;
    }
    if outcome.get("$raise").is_some() {
        return Step::Fail("the disk is full");
    }
    let code = outcome["code"].as_str().unwrap();
    let category = match code {
        "invalid_identifier" => Category::InvalidIdentifier,
        "invalid_event_types" => Category::InvalidEventTypes,
        "load_error" => Category::LoadError,
        "ast" => Category::AstFailure,
        "smoke" => Category::SmokeFailure,
        _ => Category::Unknown,
    };
    Step::Reject(Rejection {
        channel: Channel::CompileResult,
        code: code.to_owned(),
        category,
        diagnostic: outcome["detail"].as_str().unwrap().to_owned(),
        findings: Vec::new(),
    })
}
