//! Why a candidate was rejected: every stage's error, as problems and as a diagnostic.

use thiserror::Error;

use crate::bundle::BundleError;
use crate::bundle::confirm::{ConfirmError, Unconfirmed};
use crate::bundle::smoke::{SmokeError, SmokeFailed};
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::diagnose::{
    self, AstFailure, AstReport, CompileReport, ParseReport, RenderReport,
};
use crate::diagnostics::problem::{Coded, Problem, Stage};
use crate::diagnostics::untrusted::escaped;
use crate::gate::fit::Unfit;
use crate::gate::inspect::Rejected;
use crate::gate::policy::Denied;
use crate::gate::source::{SourceProblem, SourceRefused};
use crate::plan::PlanParseError;
use crate::render::RenderError;
use crate::render::compile::CompileError;
use crate::sandbox::{ModuleLoadError, RunError, RustcError, RustcMessage};

/// Why a candidate was rejected.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PipelineError {
    /// The plan can't be read; every problem of it, at least one.
    #[error("the plan is not valid: {}", first(.0))]
    Plan(Vec<PlanParseError>),
    /// It speaks of what isn't there.
    #[error(transparent)]
    Fit(#[from] Unfit),
    /// It reads what the tenant's policy doesn't let it read.
    #[error(transparent)]
    Policy(#[from] Denied),
    /// It can't be rendered.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// The source gate refuses source in Rust.
    #[error(transparent)]
    Source(#[from] SourceRefused),
    /// The compiler made no module of source in Rust.
    #[error(transparent)]
    Rustc(#[from] RustcError),
    /// What was rendered doesn't compile.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The static gate refuses the module.
    #[error(transparent)]
    Inspect(#[from] Rejected),
    /// The sandbox can't load the module.
    #[error(transparent)]
    Load(#[from] ModuleLoadError),
    /// An event type that a module declares has no sample, so nothing is known about it.
    #[error("no sample has the plan's event type \"{}\"", escaped(.event_type))]
    NoSample {
        /// The event type.
        event_type: String,
    },
    /// The sample run failed.
    #[error(transparent)]
    Smoke(#[from] SmokeFailed),
    /// Samples give something else than is expected of them.
    #[error(transparent)]
    Unconfirmed(#[from] Unconfirmed),
    /// The host could not run it, so that nothing is known about it.
    #[error(transparent)]
    Host(RunError),
    /// The bundle can't be written.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// Nobody waits for the verdict any longer.
    #[error("the judging of the plan was cancelled before the stage `{}` was over", .stage.as_str())]
    Cancelled {
        /// The stage that was to be next, or that it was at.
        stage: Stage,
    },
}

impl From<SmokeError> for PipelineError {
    fn from(error: SmokeError) -> Self {
        match error {
            SmokeError::Failed(failed) => Self::Smoke(failed),
            SmokeError::Host(error) => Self::Host(error),
        }
    }
}

impl From<ConfirmError> for PipelineError {
    fn from(error: ConfirmError) -> Self {
        match error {
            ConfirmError::Unconfirmed(error) => Self::Unconfirmed(error),
            ConfirmError::Host(error) => Self::Host(error),
        }
    }
}

fn first(errors: &[PlanParseError]) -> String {
    errors.first().map_or_else(String::new, ToString::to_string)
}

impl PipelineError {
    /// The stage that rejected the candidate.
    #[must_use]
    pub fn stage(&self) -> Stage {
        match self {
            Self::Plan(_) => Stage::Plan,
            Self::Policy(_) => Stage::Policy,
            Self::Render(_) => Stage::Render,
            Self::Source(_) => Stage::Source,
            Self::Compile(_) | Self::Rustc(_) => Stage::Compile,
            Self::Inspect(_) => Stage::Inspect,
            Self::Load(_) => Stage::Load,
            Self::Fit(_) | Self::NoSample { .. } => Stage::Fit,
            Self::Smoke(_) => Stage::Smoke,
            Self::Unconfirmed(_) => Stage::Expected,
            Self::Host(_) => Stage::Run,
            Self::Bundle(_) => Stage::Bundle,
            Self::Cancelled { stage } => *stage,
        }
    }

    /// Everything that is wrong, as data; at least one problem.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        match self {
            Self::Plan(errors) => errors.iter().map(Coded::problem).collect(),
            Self::Policy(denied) => denied.problems().collect(),
            Self::Source(refused) => refused.problems().iter().map(Coded::problem).collect(),
            Self::Rustc(error) => error.problems(),
            Self::Inspect(rejected) => rejected.problems().iter().map(Coded::problem).collect(),
            Self::Fit(unfit) => unfit.findings().iter().map(Problem::from).collect(),
            Self::Smoke(failed) => failed.problems().to_vec(),
            Self::Unconfirmed(error) => {
                error.runs().iter().flat_map(|run| run.problems.iter().cloned()).collect()
            }
            Self::Host(error) => vec![error.problem()],
            _ => vec![Problem { stage: self.stage(), ..self.problem() }],
        }
    }

    /// Whether it is the host that could not do its work: nothing is said about the candidate, and another one would fare no
    /// better.
    #[must_use]
    pub fn is_of_host(&self) -> bool {
        match self {
            Self::Host(_) => true,
            Self::Load(error) => error.is_of_host(),
            Self::Rustc(error) => error.is_of_host(),
            _ => false,
        }
    }

    /// The diagnostic: the text that a model is given to correct its plan.
    #[must_use]
    pub fn diagnostic(&self) -> String {
        match self {
            Self::Plan(errors) => match errors.first() {
                Some(error) => diagnose::parse(&ParseReport::from(error)),
                None => diagnose::compile(&CompileReport::default()),
            },
            Self::Policy(denied) => denied.diagnostic(),
            Self::Fit(unfit) => unfit.diagnostic(),
            Self::Unconfirmed(error) => error.diagnostic(),
            Self::Render(error) => diagnose::unrendered(&RenderReport::from(error)),
            _ => diagnose::compile(&self.report()),
        }
    }

    /// This outcome as the report of a whole compilation.
    fn report(&self) -> CompileReport {
        let mut report = CompileReport::default();
        match self {
            Self::Compile(CompileError::Syntax { line, column, message }) => {
                let failure = AstFailure {
                    code: self.code().to_owned(),
                    detail: message.clone(),
                    line: Some(*line as u64),
                    col: Some(*column as u64),
                };
                report.ast_report = Some(AstReport { failures: vec![failure] });
            }
            Self::Source(refused) => {
                let failure = |problem: &SourceProblem| AstFailure {
                    code: problem.code().to_owned(),
                    detail: problem.message(),
                    line: Some(problem.line() as u64),
                    col: Some(problem.column() as u64),
                };
                let failures = refused.problems().iter().map(failure).collect();
                report.ast_report = Some(AstReport { failures });
            }
            Self::Rustc(RustcError::Rejected { messages, .. }) => {
                let failure = |message: &RustcMessage| AstFailure {
                    code: self.code().to_owned(),
                    detail: message.text(),
                    line: message.at.map(|(line, _)| line as u64),
                    col: message.at.map(|(_, column)| column as u64),
                };
                report.ast_report =
                    Some(AstReport { failures: messages.iter().map(failure).collect() });
            }
            Self::Inspect(_) | Self::Compile(_) | Self::Rustc(_) => {
                let failure = |problem: Problem| AstFailure {
                    code: problem.code.to_string(),
                    detail: match problem.path {
                        Some(path) => format!("{path}: {}", problem.message),
                        None => problem.message,
                    },
                    line: None,
                    col: None,
                };
                let failures = self.problems().into_iter().map(failure).collect();
                report.ast_report = Some(AstReport { failures });
            }
            Self::NoSample { .. } => report.invalid_event_types = Some(self.to_string()),
            Self::Smoke(failed) if failed.report().ok() => {
                // Every event went well, and one declared type gave nothing.
                let message = failed.problems().first().map(|problem| problem.message.clone());
                report.invalid_event_types = message;
            }
            Self::Smoke(failed) => {
                report.ast_report = Some(AstReport::default());
                report.smoke_report = Some(failed.report().clone());
            }
            Self::Plan(_)
            | Self::Policy(_)
            | Self::Fit(_)
            | Self::Render(_)
            | Self::Load(_)
            | Self::Unconfirmed(_)
            | Self::Host(_)
            | Self::Bundle(_)
            | Self::Cancelled { .. } => report.load_error = Some(self.to_string()),
        }
        report
    }
}

impl Coded for PipelineError {
    fn entry(&self) -> Code {
        match self {
            Self::Plan(errors) => errors.first().map_or(codes::INVALID_JSON, Coded::entry),
            Self::Policy(denied) => denied.entry(),
            Self::Render(error) => error.entry(),
            Self::Source(refused) => {
                refused.problems().first().map_or(codes::SOURCE_SYNTAX, Coded::entry)
            }
            Self::Rustc(error) => error.entry(),
            Self::Compile(error) => error.entry(),
            Self::Inspect(rejected) => {
                rejected.problems().first().map_or(codes::INVALID_MODULE, Coded::entry)
            }
            Self::Load(error) => error.entry(),
            Self::Fit(unfit) => unfit.entry(),
            Self::NoSample { .. } => codes::EVENT_TYPE_WITHOUT_SAMPLE,
            Self::Smoke(failed) => {
                failed.problems().first().map_or(codes::NONEMPTY_FLOOR, |problem| problem.code)
            }
            Self::Unconfirmed(error) => error.entry(),
            Self::Host(error) => error.entry(),
            Self::Bundle(error) => error.entry(),
            Self::Cancelled { .. } => codes::GATES_INTERRUPTED,
        }
    }

    fn place(&self) -> Option<String> {
        match self {
            Self::Render(error) => error.place(),
            Self::Compile(CompileError::Syntax { line, column, .. }) => {
                Some(format!("{line}:{column}"))
            }
            Self::Source(refused) => refused.problems().first().and_then(Coded::place),
            Self::Rustc(error) => error.place(),
            Self::Host(error) => error.place(),
            _ => None,
        }
    }

    fn usage(&self) -> Option<(u64, u64)> {
        match self {
            Self::Render(error) => error.usage(),
            Self::Compile(CompileError::TooLarge { used, allowed }) => {
                Some((*used as u64, *allowed as u64))
            }
            Self::Source(refused) => refused.problems().first().and_then(Coded::usage),
            Self::Rustc(error) => error.usage(),
            Self::Load(error) => error.usage(),
            Self::Host(error) => error.usage(),
            _ => None,
        }
    }
}
