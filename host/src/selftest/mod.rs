//! The hostile corpus, and what runs it against this machine and configuration.
//!
//! [`corpus`] gives the cases, which are built into the library: one file is one attack, and says in its head which stable
//! code stops it. [`run`] sets each of them off, on a thread of its own, beside the extractors of an honest tenant on the
//! same engine. A case is stopped when
//!
//! - it ends in the code that its head names, every time, and what is said about it is one line of plain text,
//! - the events that are meant to work do, before it and after it, with the same results,
//! - the honest tenant's results are what they were, byte for byte,
//! - it ended in time, nothing panicked, and the process has given back the memory that it took.
//!
//! It knows everything but the command line, which is one of its users.
//!
//! # Example
//! ```
//! use retort::sandbox::ForeignModules;
//! use retort::selftest::{self, Config};
//!
//! let mut config = Config::default();
//! config.options.foreign = ForeignModules::InProcess;
//! config.filter = Some("stall/loop".to_owned());
//! let report = selftest::run(&selftest::corpus()?, &config, |_| {})?;
//! assert_eq!(report.cases[0].observed, "out_of_fuel");
//! assert!(report.ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod attempt;
mod bundle;
mod case;
mod corpus;
mod event;
mod expand;
mod good_bundle;
mod guest;
mod honest;
mod manifest;
mod memory;
mod plan;
mod report;
mod result;
mod run;
mod setting;
mod step;
mod stopped;

use std::path::PathBuf;

use thiserror::Error;

pub use case::{Case, CaseError, CaseKind};
pub use corpus::corpus;
pub use report::{CaseReport, CorpusReport, Skipped};
pub use run::run;

use crate::bundle::pipeline::PipelineError;
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::gate::inspect::{Grant, StructuralLimits};
use crate::sandbox::{ForeignModules, Limits, ModuleLoadError, Options, RunError};

/// What the corpus is run against.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Config {
    /// The sandbox. Its limits are those of a case that sets none. Directories that it grants aren't granted to cases.
    pub options: Options,
    /// How modules may be built, in a case that says nothing of it.
    pub structure: StructuralLimits,
    /// Runs only cases whose name or attack contains this text. Default all.
    pub filter: Option<String>,
    /// A `rustc` with the target `wasm32-wasip1`. Without one, sources of extractors that the source gate lets pass are skipped.
    pub rustc: Option<PathBuf>,
    /// Whether the resident memory of this process is checked against what it was before. For a process that does nothing else at
    /// the time; where the system doesn't say, nothing is checked against anything. Default no.
    pub watch_memory: bool,
}

impl Config {
    /// Whether a case is run.
    #[must_use]
    pub fn selects(&self, case: &Case) -> bool {
        let Some(filter) = &self.filter else { return true };
        case.name().contains(filter.as_str()) || case.attack().contains(filter.as_str())
    }

    /// Whether each case has to end in the very code that it names. The codes are those under the default limits, or with more
    /// time; under others an attack may run into another limit first, and any code stops it.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        let default = Limits::default();
        let deadline_ms = self.options.limits.deadline_ms.max(default.deadline_ms);
        self.options.limits == Limits { deadline_ms, ..default }
            && self.structure == StructuralLimits::default()
            && self.options.foreign != ForeignModules::Refuse
            && self.options.wasi.grant != Grant::None
    }
}

/// Why the corpus couldn't be run. What a single case does is never such an error.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SelftestError {
    /// A case can't be read.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// The sandbox can't be built as configured.
    #[error(transparent)]
    Sandbox(#[from] ModuleLoadError),
    /// The honest tenant's plan doesn't pass the gates as configured.
    #[error("the honest tenant's extractor doesn't pass under this configuration: {}", first_of(.0))]
    HonestExtractor(Box<PipelineError>),
    /// An honest event fails as configured.
    #[error("the honest tenant's events fail under this configuration: {0}")]
    HonestEvent(#[from] RunError),
    /// A thread or a directory for the cases can't be made.
    #[error("the system refused what the cases need: {0}")]
    System(#[from] std::io::Error),
}

impl Coded for SelftestError {
    fn entry(&self) -> Code {
        match self {
            Self::Case(_) => codes::CASE_INVALID,
            Self::Sandbox(error) => error.entry(),
            Self::HonestExtractor(_) => codes::HONEST_EXTRACTOR_FAILED,
            Self::HonestEvent(_) => codes::HONEST_EVENT_FAILED,
            Self::System(_) => codes::SELFTEST_FAILED,
        }
    }
}

/// The first thing that is wrong, with its code and its figures.
fn first_of(error: &PipelineError) -> String {
    match error.problems().first() {
        Some(problem) => format!("{}: {}", problem.code, problem.message),
        None => error.to_string(),
    }
}

impl From<PipelineError> for SelftestError {
    fn from(error: PipelineError) -> Self {
        Self::HonestExtractor(Box::new(error))
    }
}
