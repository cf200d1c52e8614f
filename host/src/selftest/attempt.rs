//! How a case went, before it is judged.

use super::{Case, CaseError};
use crate::bundle::BundleLoadError;
use crate::bundle::pipeline::PipelineError;
use crate::diagnostics::problem::{Coded, Problem, Stage};
use crate::sandbox::ModuleLoadError;

/// How a case went.
#[derive(Debug, Default)]
pub(super) struct CaseAttempt {
    /// What stopped it; `None` where nothing did.
    pub(super) problem: Option<Box<Problem>>,
    /// What else isn't as it has to be.
    pub(super) faults: Vec<String>,
}

impl CaseAttempt {
    /// Nothing stopped it.
    pub(super) fn passed() -> Self {
        Self::default()
    }

    /// This stopped it.
    pub(super) fn stopped(problem: Problem) -> Self {
        Self { problem: Some(Box::new(problem)), faults: Vec::new() }
    }

    /// Several things stopped it: what was expected is among them, or the first one counts.
    pub(super) fn stopped_by_one(problems: Vec<Problem>, case: &Case) -> Self {
        let is_expected = |problem: &Problem| problem.code == case.expect();
        let index = problems
            .iter()
            .position(|problem| is_expected(problem) && unsaid(case, problem).is_none())
            .or_else(|| problems.iter().position(is_expected))
            .unwrap_or(0);
        Self { problem: problems.into_iter().nth(index).map(Box::new), faults: Vec::new() }
    }

    /// A candidate was rejected.
    pub(super) fn rejected(error: &PipelineError, case: &Case) -> Self {
        Self::stopped_by_one(error.problems(), case)
    }

    /// The end of a case that was to be stopped by its last step.
    pub(super) fn ended<T>(last: Result<T, impl Into<Self>>) -> Result<Self, Self> {
        last.map(|_| Self::passed()).map_err(Into::into)
    }

    /// The case couldn't be tried at all.
    pub(super) fn failed(fault: impl Into<String>) -> Self {
        Self { problem: None, faults: vec![fault.into()] }
    }

    /// The same attack on two extractors. What stopped it is what stopped it first; a second code is a fault.
    pub(super) fn and(mut self, other: Self) -> Self {
        let (first, second) = (self.code(), other.code());
        if other.problem.is_some() && self.problem.is_some() && first != second {
            self.faults.push(format!("{first} from one extractor, {second} from another"));
        }
        self.problem = self.problem.or(other.problem);
        self.faults.extend(other.faults);
        self
    }

    /// The code that it ended in.
    pub(super) fn code(&self) -> &'static str {
        self.problem.as_ref().map_or("ok", |problem| problem.code.name)
    }
}

impl From<CaseError> for CaseAttempt {
    fn from(error: CaseError) -> Self {
        Self::failed(error.to_string())
    }
}

impl From<std::io::Error> for CaseAttempt {
    fn from(error: std::io::Error) -> Self {
        Self::failed(error.to_string())
    }
}

impl From<BundleLoadError> for CaseAttempt {
    fn from(error: BundleLoadError) -> Self {
        Self::stopped(Problem::new(Stage::Bundle, error.entry(), error.to_string()))
    }
}

impl From<ModuleLoadError> for CaseAttempt {
    fn from(error: ModuleLoadError) -> Self {
        Self::stopped(Problem { stage: Stage::Load, ..error.problem() })
    }
}

/// What the head says of the report and the report doesn't.
pub(super) fn unsaid(case: &Case, problem: &Problem) -> Option<String> {
    if case.path().is_some_and(|path| problem.path.as_deref() != Some(path)) {
        return Some(format!("found at {:?}, not at {:?}", problem.path, case.path()));
    }
    let said = match &problem.path {
        Some(path) => format!("{path}: {}", problem.message),
        None => problem.message.clone(),
    };
    let silent = case.says().iter().find(|part| !said.contains(*part))?;
    Some(format!("`{said}` doesn't say `{silent}`"))
}
