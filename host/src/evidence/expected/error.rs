//! Why expected results can't be used.

use thiserror::Error;

use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;

/// Why expected results can't be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ExpectedError {
    /// There are none.
    #[error("{origin}: expected at least one expected result, one JSON object a line, found none")]
    Empty {
        /// Where they were looked for.
        origin: String,
    },
    /// They hold more than is held in memory.
    #[error("{origin}: expected at most {allowed} {what}, found more")]
    TooLarge {
        /// Where they are.
        origin: String,
        /// What is counted: `bytes` or `JSON values`.
        what: &'static str,
        /// How many there may be.
        allowed: usize,
    },
    /// A line isn't one.
    #[error("{origin} line {line}: {}{message}", at(path))]
    Invalid {
        /// Where the line is.
        origin: String,
        /// The line, from 1.
        line: usize,
        /// Where in it, as `nodes[0].entity`; empty for all of it.
        path: String,
        /// What was expected and what was found.
        message: String,
    },
    /// A line is about a sample that there isn't.
    #[error("{origin} line {line}: {message}")]
    UnknownSample {
        /// Where the line is.
        origin: String,
        /// The line, from 1.
        line: usize,
        /// How the sample is named, and what is there.
        message: String,
    },
    /// Two lines are about one sample.
    #[error(
        "{origin} line {line}: expected each sample once, found the one on line {sample} again, which line {first} is about"
    )]
    SampleTwice {
        /// Where the line is.
        origin: String,
        /// The second line, from 1.
        line: usize,
        /// The first.
        first: usize,
        /// The line of the sample.
        sample: usize,
    },
    /// A line names what the graph spec doesn't declare.
    #[error("{origin} line {line}: {}{message}", at(path))]
    UnknownName {
        /// Where the line is.
        origin: String,
        /// The line, from 1.
        line: usize,
        /// Where in it.
        path: String,
        /// What was expected and what was found.
        message: String,
    },
}

fn at(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{path}: ") }
}

impl Coded for ExpectedError {
    fn entry(&self) -> Code {
        match self {
            Self::Empty { .. } => codes::EXPECTED_EMPTY,
            Self::TooLarge { .. } => codes::EXPECTED_TOO_LARGE,
            Self::Invalid { .. } => codes::EXPECTED_INVALID,
            Self::UnknownSample { .. } => codes::EXPECTED_UNKNOWN_SAMPLE,
            Self::SampleTwice { .. } => codes::EXPECTED_SAMPLE_TWICE,
            Self::UnknownName { .. } => codes::EXPECTED_UNKNOWN_NAME,
        }
    }
}
