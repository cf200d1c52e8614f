//! The loop around the gates themselves: cases as files in `tests/retry/pipeline/`.
//!
//! A case has the `answers` of a model, what the tenant's `policy` and the `loop` are where they differ from the defaults, its
//! own `samples` if it needs some, and the attempts and the end that are to be expected. What the model was told after each
//! failure, and the user at the end, is in the snapshot beside it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

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
use crate::support::workspace_root;

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

fn cases() -> Vec<PathBuf> {
    let folder = workspace_root().join("tests/retry/pipeline");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut cases: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    cases.sort();
    cases
}

#[tokio::test]
async fn every_case_ends_as_it_says() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("pipeline");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let cases = cases();
    assert!(cases.len() > 10);
    let mut others = Vec::new();
    for path in cases {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        let case: Case =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let (ended, expected, told) = ended(&name, case).await;
        if ended != expected {
            others.push(format!("{name}: {ended:#?}"));
            continue;
        }
        settings.bind(|| insta::assert_snapshot!(name, told));
    }
    assert!(others.is_empty(), "{}", others.join("\n"));
}

/// Runs a case: how it ended, how it should have, and what model and user were told.
async fn ended(name: &str, case: Case) -> (Ended, Ended, String) {
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
    assert_eq!(outcome.accepted().is_some(), ended.reason == "succeeded", "{name}");
    let prompts = model.prompts();
    let original = prompt::resolution_prompt_under(&task, pipeline.policy()).unwrap();
    assert_eq!(prompts[0], original, "{name}");
    for (number, prompt) in (1..).zip(&prompts).skip(1) {
        assert!(prompt.contains(&format!("attempt {number} of {max_attempts}.")), "{name}");
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
