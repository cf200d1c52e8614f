//! What judges plans and sources, as far as the loop has to know it.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::attempt::AttemptFailure;
use crate::author::answer::AnswerError;
use crate::author::backend::Language;
use crate::author::background::Interrupted;
use crate::author::repair::{AnswerHash, Failure};
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::finding::Finding;
use crate::diagnostics::problem::{Coded, Stage};
use crate::diagnostics::untrusted::sanitize;
use crate::gate::policy::FieldPolicy;
use crate::plan::Plan;
use crate::sandbox::Limits;

/// How long the summary of a failure may be, in characters.
const SUMMARY_CHARS: usize = 200;

/// The gates that a plan, or an extractor in Rust, has to pass: everything after the reading of an answer.
#[async_trait]
pub trait Gates: Send + Sync {
    /// What it becomes when it passed.
    type Accepted: Send;

    /// What plans may read: the prompt says so, and shows nothing of what is denied. By default everything but the whole
    /// event.
    fn field_policy(&self) -> FieldPolicy {
        FieldPolicy::default()
    }

    /// What an extractor may use: a prompt that asks for Rust says so. By default the defaults.
    fn limits(&self) -> Limits {
        Limits::default()
    }

    /// Judges a plan, by all gates in their order.
    ///
    /// Work that takes long or blocks belongs on a thread of its own: the loop stops waiting when its time is spent, and
    /// drops the future. What goes on elsewhere then has to end by itself.
    ///
    /// # Errors
    /// [`GateError`], when a gate can't do its work, whatever the plan is. It ends the loop.
    async fn judge(&self, plan: &Plan) -> Result<Verdict<Self::Accepted>, GateError>;

    /// Judges the source of an extractor in Rust, by all gates in their order. Waited for like [`judge`](Self::judge).
    ///
    /// # Errors
    /// [`GateError`], when a gate can't do its work, whatever the source is: it ends the loop. So do gates that take no code, as
    /// they do by default.
    async fn judge_rust(&self, _source: &str) -> Result<Verdict<Self::Accepted>, GateError> {
        Err(GateError::new(&RustNotTaken))
    }

    /// What is wrong with an answer that isn't a plan, with patches where the task shows what is meant. Where this gives
    /// nothing, the loop goes by the findings in the error itself. Waited for like [`judge`](Self::judge).
    ///
    /// # Errors
    /// [`GateError`], when this can't be found out, whatever the answer is. It ends the loop.
    async fn findings_of_answer(&self, _error: &AnswerError) -> Result<Vec<Finding>, GateError> {
        Ok(Vec::new())
    }
}

/// What the gates say of a plan or a source.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict<A> {
    /// It passed all of them.
    Accepted(A),
    /// One of them rejects it.
    Rejected(Rejection),
}

/// Why a plan or a source was rejected.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rejection {
    /// Through which channel the failure is reported.
    pub channel: Channel,
    /// The stable code.
    pub code: String,
    /// The part of a compilation that failed.
    pub category: Category,
    /// What a model is shown: the contract's text, bounded, what came from events and guests escaped.
    pub diagnostic: String,
    /// The same as data, with suggestions where there are some.
    pub findings: Vec<Finding>,
}

impl Rejection {
    /// A rejection by no gate: by the caller, or since a gate could not do its work.
    pub(super) fn of_no_gate(code: Code, diagnostic: String) -> Self {
        Self {
            channel: Channel::CompileResult,
            code: code.to_string(),
            category: Category::Unknown,
            diagnostic,
            findings: Vec::new(),
        }
    }

    /// The failure as the policy and the memory see it, of this answer.
    pub(super) fn failure(&self, answer: AnswerHash) -> Failure {
        let named = self.findings.iter().find(|finding| finding.code.name == self.code);
        // Several stages may report one code: a finding or the category knows which of them it was.
        let smoke = (self.category == Category::SmokeFailure).then_some(Stage::Smoke);
        let known = || smoke.or_else(|| Some(codes::lookup(&self.code)?.stage));
        let stage = named.map(|it| it.gate).or_else(known).unwrap_or(match self.channel {
            Channel::PlanParseError => Stage::Plan,
            Channel::RenderError => Stage::Render,
            Channel::CompileResult => Stage::Smoke,
        });
        let finding = named.or_else(|| self.findings.first());
        let path = finding.map_or_else(String::new, |finding| finding.pointer.clone());
        Failure { stage, code: self.code.clone(), path, answer }
    }

    /// The failure as records show it.
    pub(super) fn record(&self, language: Language) -> AttemptFailure {
        let failure_code = match self.channel {
            Channel::PlanParseError => format!("plan_parse_error:{}", self.code),
            Channel::RenderError => "render_error".to_owned(),
            Channel::CompileResult => format!("compile:{}", self.category.as_str()),
        };
        let message = match self.findings.first() {
            // Compilers and guests say in a sentence what is wrong.
            Some(Finding { pointer, observed, gate, .. })
                if language == Language::Rust
                    && !matches!(gate, Stage::Model | Stage::Expected) =>
            {
                let place = if pointer.is_empty() { language.whole() } else { pointer };
                format!("{place}: {observed}")
            }
            Some(Finding { pointer, expected, observed, .. }) => {
                let place = if pointer.is_empty() { language.whole() } else { pointer };
                format!("{place}: expected {expected}, found {observed}")
            }
            None => self.diagnostic.split_whitespace().collect::<Vec<_>>().join(" "),
        };
        AttemptFailure {
            channel: self.channel,
            code: self.code.clone(),
            failure_code,
            message: sanitize(&message, SUMMARY_CHARS),
        }
    }
}

/// The ways in which an attempt fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// The answer is not a plan, or holds no source.
    PlanParseError,
    /// The plan can't be rendered. The code is that of the renderer; the diagnostic names `invalid_plan`, as the contract has
    /// it for all of them.
    RenderError,
    /// A gate rejects it: policy, fit, the source gate, the compiler, the sample run, or the caller.
    CompileResult,
}

impl Channel {
    /// The channel's name, the same as the serialised form.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PlanParseError => "plan_parse_error",
            Self::RenderError => "render_error",
            Self::CompileResult => "compile_result",
        }
    }
}

/// The parts of a compilation, as records name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// The name of a function or module.
    InvalidIdentifier,
    /// The declared event types.
    InvalidEventTypes,
    /// The source gate, compiling, or inspecting what was compiled.
    AstFailure,
    /// Loading the module.
    LoadError,
    /// The sample run.
    SmokeFailure,
    /// None of these.
    Unknown,
}

impl Category {
    /// The category's name, the same as the serialised form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidIdentifier => codes::INVALID_IDENTIFIER.name,
            Self::InvalidEventTypes => codes::INVALID_EVENT_TYPES.name,
            Self::AstFailure => codes::AST_FAILURE.name,
            Self::LoadError => codes::LOAD_ERROR.name,
            Self::SmokeFailure => codes::SMOKE_FAILURE.name,
            Self::Unknown => codes::UNKNOWN.name,
        }
    }
}

/// Gates that take plans alone.
#[derive(Debug, Error)]
#[error("expected a plan: these gates take no source")]
struct RustNotTaken;

impl Coded for RustNotTaken {
    fn entry(&self) -> Code {
        codes::RUST_NOT_TAKEN
    }
}

/// A gate that can't do its work, so that nothing is known about the plan: a full disk, a thread that died.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct GateError {
    code: Code,
    message: String,
}

impl GateError {
    /// A failure of a gate, as the error of the stage that failed says it. The code is that error's.
    pub fn new(error: &impl Coded) -> Self {
        Self { code: error.entry(), message: error.to_string() }
    }
}

impl From<Interrupted> for GateError {
    fn from(error: Interrupted) -> Self {
        Self::new(&error)
    }
}

impl Coded for GateError {
    fn entry(&self) -> Code {
        self.code
    }
}
