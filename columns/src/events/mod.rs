//! Events that lie in columns.

mod depth;
mod parquet;
mod texts;

use std::io;

use thiserror::Error;

pub use self::parquet::{ParquetEvents, is_parquet};
pub use self::texts::EventTexts;

/// Why there are no events in a column.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EventsError {
    /// The file isn't one of Parquet, or part of it isn't what it should be.
    #[error("expected a file of Parquet: {0}")]
    Invalid(String),
    /// It is larger than what is held in memory.
    #[error("expected {what} of at most {allowed} bytes, found {used}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// How large it is.
        used: u64,
        /// How large it may be.
        allowed: u64,
    },
    /// There is no such column.
    #[error("expected a column {name:?}, found {found}")]
    NoColumn {
        /// Its name.
        name: String,
        /// The columns that there are.
        found: String,
    },
    /// The column holds what no JSON is made of.
    #[error(
        "column {column:?}: expected text, bytes or a struct of what JSON can say, found {found}"
    )]
    Unsupported {
        /// Its name.
        column: String,
        /// A type in it.
        found: String,
    },
    /// The file can't be read.
    #[error(transparent)]
    Read(#[from] io::Error),
}

impl EventsError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Invalid(_) => "parquet_invalid",
            Self::TooLarge { .. } => "parquet_too_large",
            Self::NoColumn { .. } => "column_not_found",
            Self::Unsupported { .. } => "column_unsupported",
            Self::Read(_) => "file_not_readable",
        }
    }
}
