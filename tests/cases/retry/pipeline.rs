//! The loop around the gates themselves: cases as files in `tests/retry/pipeline/`.
//!
//! A case has the `answers` of a model, what the tenant's `policy` and the `loop` are where they differ from the defaults, its
//! own `samples` if it needs some, and the attempts and the end that are to be expected. What the model was told after each
//! failure, and the user at the end, is in the snapshot beside it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use libtest_mimic::Trial;
use retort::author::{
    Account, Attempt, AttemptKind, LoopConfig, LoopConfigBuilder, LoopOutcome, PipelineGates,
    RetryPolicy, RetryStrategy,
};
use retort::diagnostics::Code;
use retort::evidence::Expected;
use retort::internal::prompt;
use retort::{Accepted, Pipeline, Samples, Task, TenantPolicy, compile_with_llm};
use serde::Deserialize;
use serde_json::Value;

use super::script::{Model, task};
use crate::trial::{json_of, of_files, snapshots, stem};

const FOLDER: &str = "tests/retry/pipeline";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(rename = "about")]
    _about: String,
    #[serde(default = "no_policy")]
    policy: Value,
    #[serde(default, rename = "loop")]
    config: CaseConfig,
    #[serde(default)]
    samples: Vec<Value>,
    /// What the samples are expected to give.
    #[serde(default)]
    expected: Vec<Value>,
    /// Text stands for itself, anything else for its JSON.
    answers: Vec<Value>,
    expect: Ended,
}

fn no_policy() -> Value {
    serde_json::json!({})
}

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CaseConfig {
    max_attempts: i64,
    repair: bool,
    strategy: RetryStrategy,
    same_failure_limit: usize,
    escalate: BTreeSet<Code>,
    early_end: bool,
}

impl Default for CaseConfig {
    fn default() -> Self {
        let RetryPolicy { same_failure_limit, .. } = RetryPolicy::default();
        Self {
            max_attempts: 5,
            repair: true,
            strategy: RetryStrategy::Fresh,
            same_failure_limit,
            escalate: BTreeSet::new(),
            early_end: true,
        }
    }
}

impl CaseConfig {
    fn builder<'a>(self) -> LoopConfigBuilder<'a, Accepted> {
        let policy = RetryPolicy {
            same_failure_limit: self.same_failure_limit,
            escalate_codes: self.escalate,
            ..RetryPolicy::default()
        };
        LoopConfig::builder()
            .max_attempts(self.max_attempts)
            .repair(self.repair)
            .strategy(self.strategy)
            .repetition(self.early_end.then_some(policy))
    }
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ended {
    reason: String,
    /// Who wrote each plan, with the code of records and the code of the failure.
    attempts: Vec<String>,
}

/// A trial for each case, named `retry::pipeline/<case>`.
pub(super) fn trials() -> Vec<Trial> {
    of_files("retry::pipeline/", FOLDER, "json", |path| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (ended, expected, told) = runtime.block_on(ended(json_of(path)));
        assert_eq!(ended, expected);
        snapshots("../retry/pipeline").bind(|| insta::assert_snapshot!(stem(path), told));
    })
}

/// Runs a case: how it ended, how it should have, and what model and user were told.
async fn ended(case: Case) -> (Ended, Ended, String) {
    let Case { policy, config, samples, expected, answers, expect, .. } = case;
    let task = if samples.is_empty() { task() } else { task_with(&samples, &expected) };
    let policy = TenantPolicy::parse(&policy.to_string(), "policy.json").unwrap();
    let pipeline = Pipeline::builder().tenant(&policy).build().unwrap();
    let gates = PipelineGates::new(&pipeline, &task);
    let texts = answers.iter().map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned));
    let model = Model::says(texts);
    let max_attempts = config.max_attempts;
    let config = config.builder().build().unwrap();
    let outcome = compile_with_llm(&model, &task, &gates, &config).await.unwrap();
    let attempts = outcome.attempts().iter().map(gist).collect();
    let ended = Ended { reason: outcome.reason().to_string(), attempts };
    assert_eq!(outcome.accepted().is_some(), ended.reason == "succeeded");
    let prompts = model.prompts();
    let original = prompt::resolution_prompt_under(&task, pipeline.policy()).unwrap();
    assert_eq!(prompts[0], original);
    for (number, prompt) in (1..).zip(&prompts).skip(1) {
        assert!(prompt.contains(&format!("attempt {number} of {max_attempts}.")));
    }
    (ended, expect, told(&prompts[1..], &original, &outcome, &task))
}

fn gist(attempt: &Attempt) -> String {
    let who = match attempt.record.kind {
        AttemptKind::Model => "model",
        AttemptKind::Given => "given",
        AttemptKind::Mechanical => "mechanical",
    };
    match &attempt.record.failure {
        None => format!("{who} accepted"),
        Some(failure) => format!("{who} {} {}", failure.failure_code, failure.code),
    }
}

/// What the model was told after each failure, without the prompt that all of it begins with, and the user at the end.
fn told(
    prompts: &[String],
    original: &str,
    outcome: &LoopOutcome<Accepted>,
    task: &Task,
) -> String {
    let mut text = String::new();
    for prompt in prompts {
        let added = prompt.strip_prefix(original).unwrap_or(prompt);
        writeln!(text, "=== to the model\n{}\n", added.trim()).unwrap();
    }
    if let Some(diagnostic) = outcome.last_diagnostic() {
        writeln!(text, "=== the last diagnostic\n{diagnostic}\n").unwrap();
    }
    match Account::of_outcome(outcome, task) {
        Some(account) => writeln!(text, "=== to the user\n{account}").unwrap(),
        None => text.push_str("=== accepted\n"),
    }
    text
}

fn task_with(samples: &[Value], expected: &[Value]) -> Task {
    let lines = |values: &[Value]| values.iter().map(|it| format!("{it}\n")).collect::<String>();
    let task = task();
    let samples = Samples::parse(&lines(samples), "samples.ndjson").unwrap();
    let graph = Some(task.graph());
    let expected = (!expected.is_empty())
        .then(|| Expected::parse(&lines(expected), "expected.ndjson", &samples, graph).unwrap());
    Task::builder(task.graph().clone(), samples)
        .rule(task.rule().cloned())
        .expected(expected)
        .build()
}
