//! A model and gates that do what a script says.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use retort::author::{
    AnswerError, AnswerFormat, Category, Channel, GateError, Gates, LoopConfig, LoopConfigBuilder,
    LoopError, LoopOutcome, Rejection, Verdict,
    llm::{Completion, FinishReason, LlmClient, LlmError, LlmRequest, Usage},
};
use retort::diagnostics::{Code, Finding};
use retort::internal::codes;
use retort::plan::Plan;
use retort::{Coded, GraphSpec, Rule, Samples, Task, compile_with_llm};
use serde_json::{Value, json};

/// A model that gives these answers in turn, and keeps what it was asked.
pub(crate) struct Model {
    answers: Mutex<VecDeque<Result<Completion, LlmError>>>,
    requests: Mutex<Vec<LlmRequest>>,
    delay: Duration,
    free: bool,
}

impl Model {
    pub(crate) fn new(answers: impl IntoIterator<Item = Result<Completion, LlmError>>) -> Self {
        Self {
            answers: Mutex::new(answers.into_iter().collect()),
            requests: Mutex::default(),
            delay: Duration::ZERO,
            free: false,
        }
    }

    /// A model that says these texts.
    pub(crate) fn says<T: ToString>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::new(texts.into_iter().map(|text| Ok(said(text))))
    }

    /// The same, that takes its time.
    pub(crate) fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// The same, that costs nothing.
    pub(crate) fn for_free(mut self) -> Self {
        self.free = true;
        self
    }

    pub(crate) fn requests(&self) -> Vec<LlmRequest> {
        self.requests.lock().unwrap().clone()
    }

    /// The last turn of each request.
    pub(crate) fn prompts(&self) -> Vec<String> {
        let last = |request: &LlmRequest| request.messages.last().unwrap().text.clone();
        self.requests().iter().map(last).collect()
    }
}

#[async_trait]
impl LlmClient for Model {
    fn name(&self) -> &str {
        "script"
    }

    async fn generate_json(&self, mut request: LlmRequest) -> Result<Completion, LlmError> {
        self.requests.lock().unwrap().push(request.clone());
        // A client may do with its copy of the schema what it likes.
        request.schema["required"] = json!([]);
        if !self.delay.is_zero() {
            tokio::time::sleep(self.delay).await;
        }
        self.answers.lock().unwrap().pop_front().expect("the script has no further answer")
    }

    fn costs_tokens(&self) -> bool {
        !self.free
    }
}

/// An answer whose cost isn't reported.
pub(crate) fn said(text: impl ToString) -> Completion {
    Completion { text: text.to_string(), usage: None, finish_reason: FinishReason::Stop }
}

/// An answer with what it cost.
pub(crate) fn paid(text: impl ToString, input_tokens: u64, output_tokens: u64) -> Completion {
    Completion { usage: Some(Usage { input_tokens, output_tokens }), ..said(text) }
}

/// What a scripted gate does.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Accept,
    Reject(Rejection),
    Fail(&'static str),
}

/// Gates that take these steps in turn, and accept whatever comes after them.
#[derive(Default)]
pub(crate) struct Script {
    steps: Mutex<VecDeque<Step>>,
    judged: Mutex<Vec<Plan>>,
    sources: Mutex<Vec<String>>,
    of_answers: Vec<Finding>,
}

impl Script {
    pub(crate) fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        Self { steps: Mutex::new(steps.into_iter().collect()), ..Self::default() }
    }

    /// The same, with these findings for every answer that isn't a plan.
    pub(crate) fn finding(mut self, findings: Vec<Finding>) -> Self {
        self.of_answers = findings;
        self
    }

    /// The sources that were judged.
    pub(crate) fn sources(&self) -> Vec<String> {
        self.sources.lock().unwrap().clone()
    }

    /// What comes of the next thing to be judged.
    fn next(&self, accepted: Plan) -> Result<Verdict<Plan>, GateError> {
        match self.steps.lock().unwrap().pop_front().unwrap_or(Step::Accept) {
            Step::Accept => Ok(Verdict::Accepted(accepted)),
            Step::Reject(rejection) => Ok(Verdict::Rejected(rejection)),
            Step::Fail(message) => Err(GateError::new(&Broken(message))),
        }
    }

    pub(crate) fn judged(&self) -> Vec<Plan> {
        self.judged.lock().unwrap().clone()
    }
}

#[async_trait]
impl Gates for Script {
    type Accepted = Plan;

    async fn judge(&self, plan: &Plan) -> Result<Verdict<Plan>, GateError> {
        self.judged.lock().unwrap().push(plan.clone());
        self.next(plan.clone())
    }

    /// What is accepted is told from plans by its name.
    async fn judge_rust(&self, source: &str) -> Result<Verdict<Plan>, GateError> {
        self.sources.lock().unwrap().push(source.to_owned());
        self.next(retort::plan::from_value(&plan("in_rust")).unwrap())
    }

    async fn findings_of_answer(&self, _error: &AnswerError) -> Result<Vec<Finding>, GateError> {
        Ok(self.of_answers.clone())
    }
}

/// A disk that fails.
struct Broken(&'static str);

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl Coded for Broken {
    fn entry(&self) -> Code {
        codes::BUNDLE_WRITE_FAILED
    }
}

/// A rejection by the sample run.
pub(crate) fn rejection(code: &str, diagnostic: &str, findings: Vec<Finding>) -> Rejection {
    Rejection {
        channel: Channel::CompileResult,
        code: code.to_owned(),
        category: Category::SmokeFailure,
        diagnostic: diagnostic.to_owned(),
        findings,
    }
}

/// A plan with this function name: one that is as good as any other.
pub(crate) fn plan(function: &str) -> Value {
    json!({"event_type": "order", "target_entity_name": "Order", "function_name": function,
        "key_field": {"property_name": "order_id", "source_path": ["content", "id"]}})
}

/// A plan that fits as well, with more in one text than an extractor can declare.
pub(crate) fn unrenderable(function: &str) -> Value {
    let mut plan = plan(function);
    let template = "{content.id}-".repeat(300);
    plan["key_field"] = json!({"property_name": "order_id", "template": template});
    plan
}

pub(crate) fn task_of(rule: Option<Rule>) -> Task {
    let graph = GraphSpec::parse(
        "entities:
- name: Order
  keys: {primary: [order_id]}
  properties:
  - {name: order_id, type: string}
  - {name: total, type: double}
",
        "graph.yaml",
    );
    let samples = concat!(
        r#"{"event_type": "order", "session_id": "s1", "content": {"id": "A-7", "total": 12.5}}"#,
        "\n",
        r#"{"event_type": "payment", "session_id": "s1", "content": {"id": "P-1"}}"#,
    );
    Task::builder(graph.unwrap(), Samples::parse(samples, "samples.ndjson").unwrap())
        .rule(rule)
        .build()
}

pub(crate) fn task() -> Task {
    task_of(Some(Rule::parse("Every order becomes one Order.\n", "rule.md").unwrap()))
}

/// A configuration for scripts: strict answers, nothing repaired.
pub(crate) fn config<'a>() -> LoopConfigBuilder<'a, Plan> {
    LoopConfig::builder().answer_format(AnswerFormat::Strict).repair(false)
}

/// What a prompt costs by estimate.
pub(crate) fn estimate(prompt: &str) -> u64 {
    prompt.chars().count() as u64 / 4
}

/// What the first prompt costs by estimate.
pub(crate) fn first_prompt() -> u64 {
    estimate(&retort::author::resolution_prompt(&task()).unwrap())
}

pub(crate) async fn run(
    model: &Model,
    gates: &Script,
    config: LoopConfigBuilder<'_, Plan>,
) -> Result<LoopOutcome<Plan>, LoopError> {
    compile_with_llm(model, &task(), gates, &config.build().unwrap()).await
}
