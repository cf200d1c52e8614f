//! The pipeline as the gates of the loop.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Category, Channel, GateError, Gates, Rejection, Verdict};
use crate::answer::AnswerError;
use crate::finding::Finding;
use crate::gate::smoke::SmokeOptions;
use crate::pipeline::{Accepted, Pipeline, Turned};
use crate::plan::Plan;
use crate::problem::{Coded, Problem};
use crate::repair::mechanical::{plan_findings, smoke_findings};
use crate::task::Task;

/// Every gate of a [`Pipeline`], for one task. Guests run on threads that may block, so the loop never does.
#[derive(Clone, Debug)]
pub struct PipelineGates {
    pipeline: Pipeline,
    task: Arc<Task>,
    options: SmokeOptions,
}

impl PipelineGates {
    /// The gates of `pipeline`, with its limits and its policy, for plans that answer `task`. Events that findings and
    /// diagnostics show leave out what the policy denies: they go to a model.
    #[must_use]
    pub fn new(pipeline: Pipeline, task: &Task, options: SmokeOptions) -> Self {
        let task = task.clone().hiding(|path| pipeline.policy().visibility(path));
        Self { pipeline, task: Arc::new(task), options }
    }
}

#[async_trait]
impl Gates for PipelineGates {
    type Accepted = Accepted;

    async fn judge(&self, plan: &Plan) -> Result<Verdict<Accepted>, GateError> {
        let (gates, plan) = (self.clone(), plan.clone());
        let judging = move || match gates.pipeline.accept_plan(
            &plan,
            &gates.task,
            gates.options,
            &mut |_| {},
        ) {
            Ok(accepted) => Verdict::Accepted(accepted),
            Err(turned) => Verdict::Rejected(rejection(&turned, &plan, &gates.task)),
        };
        tokio::task::spawn_blocking(judging).await.map_err(|_| GateError::new(&Interrupted))
    }

    fn findings_of_answer(&self, error: &AnswerError) -> Vec<Finding> {
        let value = error.text.as_deref().and_then(|text| serde_json::from_str(text).ok());
        value.map_or_else(Vec::new, |value| plan_findings(&value, &error.problems, &self.task))
    }
}

/// What turned a plan down, as the loop knows it.
fn rejection(turned: &Turned, plan: &Plan, task: &Task) -> Rejection {
    let category = match turned {
        Turned::NoSample { .. } => Category::InvalidEventTypes,
        Turned::Smoke(failed) if failed.report().ok() => Category::InvalidEventTypes,
        Turned::Fit(_) if turned.code() == "event_type_without_sample" => {
            Category::InvalidEventTypes
        }
        Turned::Policy(_) | Turned::Fit(_) | Turned::Compile(_) | Turned::Inspect(_) => {
            Category::AstFailure
        }
        Turned::Load(_) => Category::LoadError,
        Turned::Smoke(_) => Category::SmokeFailure,
        Turned::Plan(_) | Turned::Render(_) | Turned::Bundle(_) => Category::Unknown,
    };
    let channel = match turned {
        Turned::Render(_) => Channel::RenderError,
        _ => Channel::CompileResult,
    };
    let findings = match turned {
        Turned::Policy(denied) => denied.findings().to_vec(),
        Turned::Fit(unfit) => unfit.findings().to_vec(),
        Turned::Smoke(failed) => smoke_findings(plan, failed, task),
        _ => turned.problems().iter().map(unplaced).collect(),
    };
    let (code, diagnostic) = (turned.code().to_owned(), turned.diagnostic());
    Rejection { channel, code, category, diagnostic, findings }
}

/// A problem of what was made of a plan, which has no place in the plan itself.
fn unplaced(problem: &Problem) -> Finding {
    let place = problem.path.as_deref().map(|path| format!("{path}: ")).unwrap_or_default();
    let observed = format!("{place}{}", problem.message);
    Finding::new(problem.stage, problem.code, "", "a plan that this gate lets pass", observed)
}

/// The thread that judged has died.
#[derive(Debug, thiserror::Error)]
#[error("the gates were interrupted: the runtime is shutting down")]
struct Interrupted;

impl Coded for Interrupted {
    fn code(&self) -> &'static str {
        super::INTERRUPTED
    }
}
