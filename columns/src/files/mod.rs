//! Rows of tables as sets of files.
//!
//! A table is a directory of parts: `DIR/Order/part-000000.parquet`. A part is written under a hidden name, and has its own once it is
//! whole and on disk, so that a reader never sees half of one.

mod encode;
mod set;

use std::io;
use std::path::PathBuf;

use thiserror::Error;

pub use self::encode::{FileFormat, RowStream};
pub use self::set::{FileMark, FileOptions, FileSet};

/// Why files of tables can't be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FilesError {
    /// There is something else in the directory already.
    #[error("{}: expected a new directory or an empty one, found {found:?} in it", path.display())]
    NotEmpty {
        /// The directory.
        path: PathBuf,
        /// Something in it.
        found: String,
    },
    /// A part is gone that was there.
    #[error("{}: expected the file that an earlier run has written, found none", path.display())]
    Lost {
        /// The part.
        path: PathBuf,
    },
    /// Another run writes to the directory.
    #[error("{}: expected it for this run alone, found that another one is writing to it", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// The system doesn't let something be written.
    #[error("{}: cannot write it: {source}", path.display())]
    Write {
        /// What it is.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl FilesError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotEmpty { .. } => "out_not_empty",
            Self::Lost { .. } => "state_mismatch",
            Self::InUse { .. } => "state_in_use",
            Self::Write { .. } => "file_not_writable",
        }
    }
}
