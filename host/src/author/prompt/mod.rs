//! What a model is asked: to write a plan, or an extractor in Rust, and after a failure, to fix it.
//!
//! Prompts are pure functions of their inputs: the same task gives the same bytes, in whatever order the keys of its
//! documents were written. All that comes from elsewhere (rule, schema, graph spec, events, earlier answers) stands in
//! fenced blocks as JSON, escaped and bounded, so that it can't pass for what Retort says itself; a diagnostic, which
//! quotes them, stands in one as it is. Sample values are
//! shown as far as [they can be](crate::evidence::redact): what could be personal or secret is shown by its shape.
//!
//! # Bounds
//! A prompt has at most [`MAX_CHARS`] characters. The rule is never cut: one that is too long is an error. A schema that
//! is too long gives way to the paths that it declares; paths, entities and event types beyond their share are counted.

mod contract;
mod events;
mod forms;
mod graph;
mod lines;
mod policy;
mod retry;
mod rust;
mod schema;

use thiserror::Error;

pub use crate::plan::schema;
pub use retry::{Turn, answer, retry, retry_rust};

use crate::author::backend::Language;
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::fence::{self, Escape};
use crate::diagnostics::problem::Coded;
use crate::evidence::Task;
use crate::gate::policy::FieldPolicy;
use crate::sandbox::Limits;

/// How long a resolution prompt may be, in characters. What is in one takes less: this is the sum of its parts' bounds.
pub const MAX_CHARS: usize = 150_000;

/// How long a rule may be as indented JSON, in characters.
pub const MAX_RULE_CHARS: usize = 32_000;

/// Why there is nothing to ask.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PromptError {
    /// The task has no rule.
    #[error("expected a rule that says what to extract, found none: a model has nothing to go by")]
    RuleMissing,
    /// The rule is longer than a prompt may hold. It isn't cut: half a rule is another rule.
    #[error("expected a rule of at most {allowed} characters as indented JSON, found {used}")]
    RuleTooLong {
        /// Its length.
        used: usize,
        /// [`MAX_RULE_CHARS`].
        allowed: usize,
    },
}

impl Coded for PromptError {
    fn entry(&self) -> Code {
        match self {
            Self::RuleMissing => codes::RULE_MISSING,
            Self::RuleTooLong { .. } => codes::RULE_TOO_LONG,
        }
    }

    fn usage(&self) -> Option<(u64, u64)> {
        match self {
            Self::RuleMissing => None,
            Self::RuleTooLong { used, allowed } => Some((*used as u64, *allowed as u64)),
        }
    }
}

/// The prompt that asks for a plan, where no policy denies anything.
///
/// # Errors
/// [`PromptError`], when there is no rule, or one that no prompt can hold.
///
/// # Example
/// ```
/// use retort::{GraphSpec, Rule, Samples, Task};
/// use retort::internal::prompt;
///
/// let graph = GraphSpec::parse(
///     "ontology: shop
/// entities:
/// - {name: Order, keys: {primary: [id]}, properties: [{name: id, type: int64}]}
/// ",
///     "shop.yaml",
/// )?;
/// let samples = Samples::parse(r#"{"event_type": "placed", "order": {"id": 7}}"#, "samples")?;
/// let rule = Rule::parse("Every placed order becomes one Order.", "rule.md")?;
/// let task = Task::builder(graph, samples).rule(rule).build();
/// let prompt = prompt::resolution_prompt(&task)?;
/// assert!(prompt.contains(r#"["order","id"] integer in 1 of 1, 1 different: 7"#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn resolution_prompt(task: &Task) -> Result<String, PromptError> {
    resolution_prompt_under(task, &FieldPolicy::default())
}

/// The prompt that asks for a plan under a tenant's policy: it names what may not be read, and shows nothing of it.
///
/// # Errors
/// As [`resolution_prompt`].
pub fn resolution_prompt_under(task: &Task, policy: &FieldPolicy) -> Result<String, PromptError> {
    let asked = asked(task, policy, Language::Plan)?;
    Ok([contract::opening(), asked, contract::CLOSING.to_owned()].concat())
}

/// The prompt that asks for an extractor in Rust, under a tenant's policy and within these limits. `beyond_plans` is what a model said
/// that no plan can say, where one was asked for a plan before.
///
/// # Errors
/// As [`resolution_prompt`].
pub fn rust_prompt_under(
    task: &Task,
    policy: &FieldPolicy,
    limits: &Limits,
    beyond_plans: &[String],
) -> Result<String, PromptError> {
    let asked = asked(task, policy, Language::Rust)?;
    let beyond_plans = rust::beyond_plans(beyond_plans);
    Ok([rust::opening(limits), asked, beyond_plans, rust::CLOSING.to_owned()].concat())
}

/// What is asked for, and all that is known of events and graph: the part that is data.
fn asked(task: &Task, policy: &FieldPolicy, language: Language) -> Result<String, PromptError> {
    let rule = task.rule().ok_or(PromptError::RuleMissing)?;
    let wanted = lines::RuleWords::new(rule.value());
    let rule = fence::pretty(&serde_json::Value::Object(rule.value().clone()), Escape::Hidden);
    let used = rule.chars().count();
    if used > MAX_RULE_CHARS {
        return Err(PromptError::RuleTooLong { used, allowed: MAX_RULE_CHARS });
    }
    let sections = [
        match language {
            Language::Plan => contract::RULE.to_owned(),
            Language::Rust => rust::RULE.to_owned(),
        },
        fence::block("json", &rule),
        schema::section(task, policy, &wanted),
        graph::section(task.graph(), &wanted),
        events::section(task.evidence(), policy, &wanted, language),
        policy::section(policy, language),
    ];
    Ok(sections.concat())
}
