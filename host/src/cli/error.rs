//! Why a command could not do its work.

use std::io;
use std::path::PathBuf;

use retort::author::llm::LlmError;
use retort::author::prompt::PromptError;
use retort::author::retry::ArgumentError;
use retort::bundle::smoke::SamplesError;
use retort::bundle::{BundleError, LoadError as BundleLoadError};
use retort::diagnostics::diagnose::{DiagnoseError, sanitize};
use retort::diagnostics::problem::Coded;
use retort::evidence::TaskError;
use retort::graph::GraphSpecError;
use retort::json::document::Kind;
use retort::runtime::{GraphsError, StreamError};
use retort::sandbox::LoadError;
use retort::sandbox::tenant::TenantError;
use retort::selftest::SelftestError;
use thiserror::Error;

/// Wrong usage or wrong input, or something outside that failed: the command ends with 2.
#[derive(Debug, Error)]
pub(super) enum CliError {
    /// There is no such file or directory.
    #[error("{}: expected {expected}, found nothing by that name", path.display())]
    FileNotFound { path: PathBuf, expected: &'static str },
    /// The system doesn't let it be read.
    #[error("{}: cannot read {expected}: {source}", path.display())]
    FileNotReadable { path: PathBuf, expected: &'static str, source: io::Error },
    /// The system doesn't let it be written.
    #[error("{}: cannot write it: {source}", path.display())]
    FileNotWritable { path: PathBuf, source: io::Error },
    #[error("{origin}: expected {} of at most {allowed} {what}, found more", kind.name())]
    FileTooLarge { origin: String, kind: Kind, what: &'static str, allowed: usize },
    #[error("{origin}: expected UTF-8, found a wrong byte at offset {at}")]
    NotUtf8 { origin: String, at: usize },
    #[error("{origin}: expected {expected} as JSON: {message}")]
    NotJson { origin: String, expected: &'static str, message: String },
    /// JSON that isn't a result.
    #[error("{origin}: expected a result{}: {message}", at(path))]
    NotResult { origin: String, path: String, message: String },
    #[error("{origin}: {message}")]
    ProjectInvalid {
        /// The file, with line and column where they are known.
        origin: String,
        message: String,
    },
    #[error("expected {what}, found none: {hint}")]
    ProjectIncomplete { what: &'static str, hint: String },
    #[error("{}: expected a bundle's directory, or a file that ends in .wasm, .wat or .json", .0.display())]
    UnknownArtifact(PathBuf),
    #[error("{}: none of its bundles can be served", .0.display())]
    NoBundles(PathBuf),
    #[error("{path}: it is both read and written: {role} would overwrite what is read")]
    OutputIsInput { path: String, role: &'static str },
    #[error("{}: expected two files, found it as --out and as --rejects", path.display())]
    OutputTwice { path: PathBuf },
    #[error("stdin: expected {expected}, found that it is read already: `-` may be given once")]
    StdinTwice { expected: &'static str },
    #[error("{origin}: expected at least one event, one JSON object a line, found none")]
    NoEvents { origin: String },
    #[error("no code `{found}`{}", did_you_mean(*nearest))]
    UnknownCode { found: String, nearest: Option<&'static str> },
    #[error("stdout: cannot write the output: {0}")]
    Output(io::Error),
    #[error(transparent)]
    Samples(#[from] SamplesError),
    #[error(transparent)]
    Task(#[from] TaskError),
    #[error("{error}{}", .error.path().map(|path| format!(" (at {path})")).unwrap_or_default())]
    GraphSpec { error: GraphSpecError },
    #[error("{origin}: {error}")]
    Diagnose { origin: String, error: DiagnoseError },
    #[error(transparent)]
    Engine(#[from] LoadError),
    #[error(transparent)]
    Bundle(#[from] BundleLoadError),
    #[error(transparent)]
    Store(#[from] BundleError),
    #[error(transparent)]
    Model(#[from] LlmError),
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    #[error(transparent)]
    Prompt(#[from] PromptError),
    #[error(transparent)]
    Policy(#[from] TenantError),
    #[error(transparent)]
    Selftest(#[from] SelftestError),
    #[error(
        "expected a case of the corpus, found none with `{filter}` in its name or attack: `retort selftest --list` prints all of them"
    )]
    NoCases { filter: String },
    #[error("the asynchronous runtime can't be started: {0}")]
    Runtime(io::Error),
    #[error("interrupted: nothing was stored")]
    Interrupted,
    /// What a gate says of input that a command needs whole.
    #[error("{message}")]
    Refused { code: &'static str, message: String },
    #[error("{origin}: {error}")]
    Stream { origin: String, error: StreamError },
}

fn at(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!(" at {}", sanitize(path, 200)) }
}

fn did_you_mean(nearest: Option<&str>) -> String {
    match nearest {
        Some(nearest) => format!(": did you mean `{nearest}`?"),
        None => ": `retort explain --list` prints all of them".to_owned(),
    }
}

impl From<GraphsError> for CliError {
    fn from(error: GraphsError) -> Self {
        match error {
            GraphsError::Load(error) => Self::Bundle(error),
            GraphsError::Spec(error) => Self::GraphSpec { error },
        }
    }
}

impl CliError {
    /// The codes that no other part of Retort gives.
    #[cfg(test)]
    pub(super) const CODES: &[&str] = &[
        "file_not_found",
        "file_not_readable",
        "file_not_writable",
        "file_too_large",
        "file_not_utf8",
        "file_not_json",
        "project_invalid",
        "project_incomplete",
        "unknown_artifact",
        "no_bundles",
        "no_cases",
        super::selftest::NOT_STOPPED,
        "output_is_input",
        "stdin_twice",
        "no_events",
        "interrupted",
        "unknown_code",
    ];

    /// Whether whoever read the output went away.
    pub(super) fn is_broken_pipe(&self) -> bool {
        match self {
            Self::Output(source) => source.kind() == io::ErrorKind::BrokenPipe,
            Self::Stream { error, .. } => error.is_broken_pipe(),
            _ => false,
        }
    }
}

impl Coded for CliError {
    fn code(&self) -> &'static str {
        match self {
            Self::FileNotFound { .. } => "file_not_found",
            Self::FileNotReadable { .. } => "file_not_readable",
            Self::FileNotWritable { .. } | Self::Output(_) => "file_not_writable",
            Self::FileTooLarge { kind, .. } => match kind {
                // These have codes of their own for it.
                Kind::GraphSpec | Kind::Ontology | Kind::Binding => "graph_spec_too_large",
                Kind::Policy => "policy_too_large",
                Kind::Samples => "samples_too_large",
                _ => "file_too_large",
            },
            Self::NotUtf8 { .. } => "file_not_utf8",
            Self::NotJson { .. } => "file_not_json",
            Self::NotResult { .. } => "result_wrong_shape",
            Self::ProjectInvalid { .. } => "project_invalid",
            Self::ProjectIncomplete { .. } => "project_incomplete",
            Self::UnknownArtifact(_) => "unknown_artifact",
            Self::NoBundles(_) => "no_bundles",
            Self::OutputIsInput { .. } | Self::OutputTwice { .. } => "output_is_input",
            Self::StdinTwice { .. } => "stdin_twice",
            Self::NoEvents { .. } => "no_events",
            Self::UnknownCode { .. } => "unknown_code",
            Self::Samples(error) => error.code(),
            Self::Task(error) => error.code(),
            Self::GraphSpec { error } => error.code(),
            Self::Diagnose { error, .. } => error.code(),
            Self::Engine(error) => error.code(),
            Self::Bundle(error) => error.code(),
            Self::Store(error) => error.code(),
            Self::Model(error) => error.code(),
            Self::Argument(error) => error.code(),
            Self::Prompt(error) => error.code(),
            Self::Policy(error) => error.code(),
            Self::Selftest(error) => error.code(),
            Self::NoCases { .. } => "no_cases",
            Self::Runtime(_) => "engine_failed",
            Self::Interrupted => "interrupted",
            Self::Refused { code, .. } => code,
            Self::Stream { error, .. } => error.code(),
        }
    }
}
