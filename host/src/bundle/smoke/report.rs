//! What happened when a module ran over the sample events.

use serde::Serialize;

/// How one sample went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SampleRun {
    /// The line that it is on, from 1.
    pub line: usize,
    /// Its event type.
    pub event_type: String,
    /// The first thing that was wrong with it.
    pub failure: Option<SampleFailure>,
}

/// What was wrong with a sample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SampleFailure {
    /// The stable code.
    pub code: &'static str,
    /// What is wrong, for a person; kept where the run's problems are.
    pub message: Option<String>,
    /// What was used, if a limit was exceeded and the figure is known.
    pub used: Option<u64>,
    /// What was allowed, likewise.
    pub allowed: Option<u64>,
}
