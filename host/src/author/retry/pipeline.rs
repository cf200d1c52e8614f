//! The pipeline as the gates of the loop.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Category, Channel, GateError, Gates, Rejection, Verdict, rust_rejection};
use crate::author::answer::AnswerError;
use crate::author::background::run_blocking;
use crate::author::repair::mechanical::{
    plan_findings_within, smoke_findings_within, unconfirmed_findings,
};
use crate::bundle::confirm::DIFFERENCES;
use crate::bundle::pipeline::{Accepted, Pipeline, PipelineError, Request};
use crate::bundle::smoke::SmokeOptions;
use crate::diagnostics::codes;
use crate::diagnostics::finding::{Finding, describe};
use crate::diagnostics::problem::{Coded, Stage};
use crate::evidence::Task;
use crate::evidence::effort::Cancel;
use crate::evidence::effort::StepBudgets;
use crate::gate::policy::FieldPolicy;
use crate::plan::Plan;
use crate::render::RenderError;
use crate::sandbox::Limits;

/// Every gate of a [`Pipeline`], for one task.
///
/// All that takes long is done on threads that may block, so the loop never does. A plan that isn't waited for any longer
/// isn't judged to its end: no further stage is begun, no further sample run, nothing more searched for.
#[derive(Clone, Debug)]
pub struct PipelineGates {
    pipeline: Pipeline,
    task: Arc<Task>,
    smoke: SmokeOptions,
}

impl PipelineGates {
    /// The gates of `pipeline`, with its limits and its policy, for plans that answer `task`. Events that findings and
    /// diagnostics show leave out what the policy denies: they go to a model.
    #[must_use]
    pub fn new(pipeline: &Pipeline, task: &Task) -> Self {
        let task = task.clone().hiding(|path| pipeline.policy().visibility(path));
        let smoke = SmokeOptions::default();
        Self { pipeline: pipeline.clone(), task: Arc::new(task), smoke }
    }

    /// What the sample run asks for.
    #[must_use]
    pub fn smoke(mut self, options: SmokeOptions) -> Self {
        self.smoke = options;
        self
    }
}

#[async_trait]
impl Gates for PipelineGates {
    type Accepted = Accepted;

    fn field_policy(&self) -> FieldPolicy {
        self.pipeline.policy().clone()
    }

    async fn judge(&self, plan: &Plan) -> Result<Verdict<Accepted>, GateError> {
        let (gates, plan) = (self.clone(), plan.clone());
        let judging = move |cancel: &Cancel| match gates
            .pipeline
            .accept_plan(&plan, Request::new(&gates.task).smoke(gates.smoke).cancel(cancel))
        {
            Ok(accepted) => Ok(Verdict::Accepted(accepted)),
            Err(error) if error.is_of_host() => Err(GateError::new(&error)),
            Err(error) => Ok(Verdict::Rejected(rejection(&error, &plan, &gates.task, cancel))),
        };
        run_blocking(judging).await?
    }

    async fn judge_rust(&self, source: &str) -> Result<Verdict<Accepted>, GateError> {
        let (gates, source) = (self.clone(), source.to_owned());
        let judging = move |cancel: &Cancel| match gates
            .pipeline
            .accept_rust(&source, Request::new(&gates.task).smoke(gates.smoke).cancel(cancel))
        {
            Ok(accepted) => Ok(Verdict::Accepted(accepted)),
            Err(error) if error.is_of_host() => Err(GateError::new(&error)),
            Err(error) => Ok(Verdict::Rejected(rust_rejection(&error, &source, &gates.task))),
        };
        run_blocking(judging).await?
    }

    fn limits(&self) -> Limits {
        self.pipeline.sandbox().limits().clone()
    }

    async fn findings_of_answer(&self, error: &AnswerError) -> Result<Vec<Finding>, GateError> {
        let Some(text) = error.text.clone() else { return Ok(Vec::new()) };
        let (problems, task) = (error.problems.clone(), Arc::clone(&self.task));
        let finding = move |cancel: &Cancel| match serde_json::from_str(&text) {
            Ok(value) => plan_findings_within(&value, &problems, &task, &StepBudgets::new(cancel)),
            Err(_) => Vec::new(),
        };
        Ok(run_blocking(finding).await?)
    }
}

/// What the renderer refuses, at its place in the plan.
fn unrendered(error: &RenderError) -> Finding {
    let (expected, observed) = match error {
        RenderError::Part { of, found, allowed, .. } => {
            (format!("at most {allowed} {of}"), found.to_string())
        }
        _ => ("a plan that can be rendered".to_owned(), error.message()),
    };
    let pointer = error.place().unwrap_or_default();
    let finding = Finding::new(Stage::Render, error.entry(), pointer, expected, observed);
    match error.usage() {
        Some((used, allowed)) => Finding { used: Some(used), allowed: Some(allowed), ..finding },
        None => finding,
    }
}

/// The part of a compilation that failed.
pub(super) fn category(error: &PipelineError) -> Category {
    match error {
        PipelineError::NoSample { .. } => Category::InvalidEventTypes,
        PipelineError::Smoke(failed) if failed.report().ok() => Category::InvalidEventTypes,
        PipelineError::Fit(_) if error.entry() == codes::EVENT_TYPE_WITHOUT_SAMPLE => {
            Category::InvalidEventTypes
        }
        PipelineError::Policy(_)
        | PipelineError::Fit(_)
        | PipelineError::Source(_)
        | PipelineError::Rustc(_)
        | PipelineError::Compile(_)
        | PipelineError::Inspect(_) => Category::AstFailure,
        PipelineError::Load(_) | PipelineError::Host(_) => Category::LoadError,
        PipelineError::Smoke(_) | PipelineError::Unconfirmed(_) => Category::SmokeFailure,
        PipelineError::Plan(_)
        | PipelineError::Render(_)
        | PipelineError::Bundle(_)
        | PipelineError::Cancelled { .. } => Category::Unknown,
    }
}

/// The rejection of a plan, as the loop knows it.
fn rejection(error: &PipelineError, plan: &Plan, task: &Task, cancel: &Cancel) -> Rejection {
    let channel = match error {
        PipelineError::Render(_) => Channel::RenderError,
        _ => Channel::CompileResult,
    };
    let findings = match error {
        PipelineError::Unconfirmed(error) => unconfirmed_findings(error, task),
        PipelineError::Policy(denied) => denied.findings().to_vec(),
        PipelineError::Fit(unfit) => unfit.findings().to_vec(),
        PipelineError::Render(error) => vec![unrendered(error)],
        PipelineError::Smoke(failed) => {
            smoke_findings_within(plan, failed, task, &StepBudgets::new(cancel))
        }
        _ => error.problems().iter().map(Finding::from).collect(),
    };
    let diagnostic = match error {
        PipelineError::Unconfirmed(_) => describe(DIFFERENCES, &findings),
        _ => error.diagnostic(),
    };
    let code = error.code().to_owned();
    Rejection { channel, code, category: category(error), diagnostic, findings }
}
