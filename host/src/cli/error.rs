//! Why a command could not do its work.

use retort::diagnostics::Code;
use retort::internal::codes::{self, UnknownCode};
use std::io;
use std::path::PathBuf;

use retort::Coded;
use retort::columns::{EventsError, FilesError};
use retort::diagnostics::sanitize;
use retort::internal::document::DocumentKind;
use retort::runtime::StreamError;
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
    /// An earlier report of a bench that isn't one.
    #[error("{origin}: expected a report of `retort bench --json`{}: {message}", at(path))]
    BaselineInvalid { origin: String, path: String, message: String },
    #[error(
        "{origin}: expected a report of these bundles in these modes, found nothing that is measured here"
    )]
    BaselineUnrelated { origin: String },
    /// The system doesn't let it be written.
    #[error("{}: cannot write it: {source}", path.display())]
    FileNotWritable { path: PathBuf, source: io::Error },
    #[error("{}: expected a directory of bundles, found {found}", path.display())]
    NoDirectory { path: PathBuf, found: String },
    #[error("{origin}: expected {} of at most {allowed} {what}, found more", kind.name())]
    FileTooLarge { origin: String, kind: DocumentKind, what: &'static str, allowed: usize },
    #[error("{origin}: expected UTF-8, found a wrong byte at offset {at}")]
    NotUtf8 { origin: String, at: usize },
    #[error("{origin}: expected {expected} as JSON: {message}")]
    NotJson { origin: String, expected: &'static str, message: String },
    /// JSON that isn't a result.
    #[error("{origin}: expected a result{}: {message}", at(path))]
    NotResult { origin: String, path: String, message: String },
    /// Recorded results that aren't those of the events.
    #[error("{origin}: {message}")]
    RecordedInvalid { origin: String, message: String },
    #[error("{origin}: {message}")]
    ProjectInvalid {
        /// The file, with line and column where they are known.
        origin: String,
        message: String,
    },
    #[error(
        "expected a rule, which a model writes Rust for, found a plan: `retort render --backend rust` prints a plan as Rust"
    )]
    PlanInRust,
    #[error(
        "expected a model that writes Rust, found `draft`, which writes plans alone: name another one by --model, or leave --backend out"
    )]
    DraftInRust,
    #[error("expected {what}, found none: {hint}")]
    ProjectIncomplete { what: &'static str, hint: String },
    #[error("{}: expected {expected}", path.display())]
    UnknownArtifact { path: PathBuf, expected: &'static str },
    #[error("{}: expected the name of a folder that isn't there: {reason}", path.display())]
    NotNew { path: PathBuf, reason: &'static str },
    #[error("{}: none of its bundles can be served", .0.display())]
    NoBundles(PathBuf),
    #[error("{path}: it is both read and written: {role} would overwrite what is read")]
    OutputIsInput { path: String, role: &'static str },
    #[error("{}: expected two files, found it as {} and as {}", path.display(), roles[0], roles[1])]
    OutputTwice { path: PathBuf, roles: [&'static str; 2] },
    #[error("stdin: expected {expected}, found that it is read already: `-` may be given once")]
    StdinTwice { expected: &'static str },
    #[error("{origin}: expected the line of a sample, found {line}, where there is none")]
    NoSample { origin: String, line: usize },
    #[error("{origin}: expected at least one event, one JSON object a line, found none")]
    NoEvents { origin: String },
    #[error("{}{error}", role.map(|role| format!("{role}: ")).unwrap_or_default())]
    UnknownCode {
        /// Where it was given, if more than one thing was.
        role: Option<&'static str>,
        error: UnknownCode,
    },
    #[error("stdout: cannot write the output: {0}")]
    Output(io::Error),
    #[error(
        "expected a case of the corpus, found none with `{filter}` in its name or attack: `retort selftest --list` prints all of them"
    )]
    NoCases { filter: String },
    #[error("the asynchronous runtime can't be started: {0}")]
    Runtime(io::Error),
    #[error("a thread can't be started: {0}")]
    Threads(io::Error),
    #[error("interrupted: nothing was stored")]
    Interrupted,
    /// What the library says of input that a command needs whole, or of what it can't do.
    #[error("{message}")]
    Refused { code: Code, message: String },
    #[error("{}{error}", origin.as_ref().map(|origin| format!("{origin}: ")).unwrap_or_default())]
    Stream {
        /// What was read or written, where the error doesn't say.
        origin: Option<String>,
        error: StreamError,
    },
    /// What is said of files of columns, which name themselves.
    #[error(transparent)]
    Files(#[from] FilesError),
    #[error("{origin}: {error}")]
    Events { origin: String, error: EventsError },
    #[error(
        "{origin}: expected --column with the column that holds the events, as it is a file of Parquet"
    )]
    ColumnNeeded { origin: String },
    #[error("expected a file of Parquet among the events, as --column is given, found none")]
    ColumnUnneeded,
    #[error("expected a table by the name {name:?}, found {found}")]
    NoTable { name: String, found: String },
    #[error("expected {expected}, found {found}")]
    OutputOptions { expected: &'static str, found: &'static str },
    #[error("{}: expected a state that `retort run --resume` wrote: {message}", path.display())]
    StateInvalid { path: PathBuf, message: String },
    #[error("{}: it is the state of another run: {message}", path.display())]
    StateMismatch { path: PathBuf, message: String },
    #[error("{}: expected it for this run alone, found that another one is writing to it", path.display())]
    StateInUse { path: PathBuf },
    #[error("{}: expected a file, as --resume needs, found what can't be gone back to", path.display())]
    ResumeNeedsFile { path: PathBuf },
}

fn at(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!(" at {}", sanitize(path, 200)) }
}

impl CliError {
    /// What the library says, as it says it.
    pub(super) fn refused(error: impl Coded) -> Self {
        Self::Refused { code: error.entry(), message: error.to_string() }
    }

    /// The same, of what messages call `origin`.
    pub(super) fn refused_in(origin: &str, error: impl Coded) -> Self {
        Self::Refused { code: error.entry(), message: format!("{origin}: {error}") }
    }

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
    fn entry(&self) -> Code {
        match self {
            Self::FileNotFound { .. } => codes::FILE_NOT_FOUND,
            Self::FileNotReadable { .. } => codes::FILE_NOT_READABLE,
            Self::FileNotWritable { .. } | Self::Output(_) => codes::FILE_NOT_WRITABLE,
            Self::NoDirectory { .. } => codes::BUNDLE_WRITE_FAILED,
            Self::FileTooLarge { kind, .. } => match kind {
                // These have codes of their own for it.
                DocumentKind::GraphSpec | DocumentKind::Ontology | DocumentKind::Binding => {
                    codes::GRAPH_SPEC_TOO_LARGE
                }
                DocumentKind::Policy => codes::POLICY_TOO_LARGE,
                DocumentKind::Samples => codes::SAMPLES_TOO_LARGE,
                DocumentKind::Expected => codes::EXPECTED_TOO_LARGE,
                _ => codes::FILE_TOO_LARGE,
            },
            Self::NotUtf8 { .. } => codes::FILE_NOT_UTF8,
            Self::NotJson { .. } => codes::FILE_NOT_JSON,
            Self::NotResult { .. } => codes::RESULT_WRONG_SHAPE,
            Self::RecordedInvalid { .. } => codes::RECORDED_INVALID,
            Self::BaselineInvalid { .. } => codes::BASELINE_INVALID,
            Self::BaselineUnrelated { .. } => codes::BASELINE_UNRELATED,
            Self::ProjectInvalid { .. } | Self::PlanInRust | Self::DraftInRust => {
                codes::PROJECT_INVALID
            }
            Self::ProjectIncomplete { .. } => codes::PROJECT_INCOMPLETE,
            Self::UnknownArtifact { .. } => codes::UNKNOWN_ARTIFACT,
            Self::NotNew { .. } => codes::PROJECT_EXISTS,
            Self::NoBundles(_) => codes::NO_BUNDLES,
            Self::OutputIsInput { .. } | Self::OutputTwice { .. } => codes::OUTPUT_IS_INPUT,
            Self::StdinTwice { .. } => codes::STDIN_TWICE,
            Self::NoSample { .. } => codes::EXPECTED_UNKNOWN_SAMPLE,
            Self::NoEvents { .. } => codes::NO_EVENTS,
            Self::UnknownCode { .. } => codes::UNKNOWN_CODE,
            Self::NoCases { .. } => codes::NO_CASES,
            Self::Runtime(_) | Self::Threads(_) => codes::ENGINE_FAILED,
            Self::Interrupted => codes::INTERRUPTED,
            Self::Refused { code, .. } => *code,
            Self::Stream { error, .. } => error.entry(),
            Self::Files(error) => error.entry(),
            Self::Events { error, .. } => error.entry(),
            Self::ColumnNeeded { .. } | Self::ColumnUnneeded => codes::COLUMN_NOT_FOUND,
            Self::NoTable { .. } => codes::TABLE_NOT_FOUND,
            Self::OutputOptions { .. } => codes::OUTPUT_OPTIONS,
            Self::StateInvalid { .. } => codes::STATE_INVALID,
            Self::StateMismatch { .. } => codes::STATE_MISMATCH,
            Self::StateInUse { .. } => codes::STATE_IN_USE,
            Self::ResumeNeedsFile { .. } => codes::RESUME_NEEDS_FILE,
        }
    }
}
