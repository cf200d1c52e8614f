//! Why a stream stops.

use std::io;

use thiserror::Error;

use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;

/// Why a stream stopped before the end of its inputs. What was served before is written, unless it is the writing that failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StreamError {
    /// An input can't be read further.
    #[error("{}the events can't be read after line {line}: {source}", named(file))]
    Read {
        /// What the input is called, if anything.
        file: Option<String>,
        /// The last line that was read; 0 before the first.
        line: u64,
        /// The system's answer.
        source: io::Error,
    },
    /// A result can't be written.
    #[error("the results can't be written: {0}")]
    Results(#[source] io::Error),
    /// A reject can't be written.
    #[error("the rejected events can't be written: {0}")]
    Rejects(#[source] io::Error),
}

fn named(file: &Option<String>) -> String {
    file.as_ref().map(|file| format!("{file}: ")).unwrap_or_default()
}

impl StreamError {
    /// Whether whoever read the output went away.
    #[must_use]
    pub fn is_broken_pipe(&self) -> bool {
        match self {
            Self::Read { .. } => false,
            Self::Results(source) | Self::Rejects(source) => {
                source.kind() == io::ErrorKind::BrokenPipe
            }
        }
    }
}

impl Coded for StreamError {
    fn entry(&self) -> Code {
        match self {
            Self::Read { .. } => codes::STREAM_UNREADABLE,
            Self::Results { .. } | Self::Rejects { .. } => codes::STREAM_UNWRITABLE,
        }
    }
}
