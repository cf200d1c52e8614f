//! What every gate reports: a problem with a stable code.

pub use super::stage::Stage;
use crate::diagnostics::codes::Code;
use serde::Serialize;

/// A value that carries one of the stable codes that `retort explain` lists.
///
/// Codes are part of the public contract: they are never renamed and never reused.
pub trait Coded: std::fmt::Display {
    /// The code with all that is known of it.
    fn entry(&self) -> Code;

    /// The stable code, in `snake_case`.
    fn code(&self) -> &'static str {
        self.entry().name
    }

    /// Where: a path, or `line:column` of a text. `None`, or empty, where it is about the whole.
    fn place(&self) -> Option<String> {
        None
    }

    /// What was used of a limit and what was allowed, in the limit's unit, where this error is about a limit.
    fn usage(&self) -> Option<(u64, u64)> {
        None
    }

    /// What is wrong, without the place where that is known by itself.
    fn message(&self) -> String {
        self.to_string()
    }

    /// This error as data.
    fn problem(&self) -> Problem {
        let code = self.entry();
        let problem =
            Problem::new(code.stage, code, self.message()).at(self.place().unwrap_or_default());
        match self.usage() {
            Some((used, allowed)) => problem.limit(used, allowed),
            None => problem,
        }
    }
}

/// One thing that a stage rejected, as data: what `retort check --json` prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The stage that found it.
    pub stage: Stage,
    /// The stable code.
    pub code: Code,
    /// Where: a plan path, a file with line and column, a JSON path in a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What is wrong, for a person.
    pub message: String,
    /// How much of a limited resource was used, in the limit's unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<u64>,
    /// How much of it was allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<u64>,
}

impl Problem {
    /// A problem with neither a path nor figures.
    #[must_use]
    pub fn new(stage: Stage, code: Code, message: impl Into<String>) -> Self {
        Self { stage, code, path: None, message: message.into(), used: None, allowed: None }
    }

    /// The same problem, found at `path`. An empty path means the root and is left out.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        let path = path.into();
        self.path = (!path.is_empty()).then_some(path);
        self
    }

    /// The same problem, with what was used of the limit and what was allowed.
    #[must_use]
    pub fn limit(mut self, used: u64, allowed: u64) -> Self {
        self.used = Some(used);
        self.allowed = Some(allowed);
        self
    }
}
