//! How storing and loading fail.

use std::io;
use std::path::{Path, PathBuf};

use super::contents::Part;
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::diagnostics::untrusted::sanitize;

/// Why a bundle was not stored. What was there before is untouched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// The file system refused.
    #[error("{}: cannot {action}: {source}", path.display())]
    Write {
        /// The file or directory.
        path: PathBuf,
        /// What was attempted.
        action: &'static str,
        /// The operating system's answer.
        #[source]
        source: io::Error,
    },
    /// A part is larger than a loader would read.
    #[error("{part:?}: {found} bytes are too many for a bundle: expected at most {allowed}")]
    TooLarge {
        /// Which part.
        part: Part,
        /// Its size in bytes.
        found: u64,
        /// The largest size that a loader reads.
        allowed: u64,
    },
    /// The manifest of these contents would be refused on loading.
    #[error("the bundle's manifest would be refused: {0}")]
    Invalid(#[from] super::ManifestError),
}

impl Coded for BundleError {
    fn entry(&self) -> Code {
        match self {
            Self::Write { .. } => codes::BUNDLE_WRITE_FAILED,
            Self::TooLarge { .. } => codes::BUNDLE_TOO_LARGE,
            Self::Invalid(_) => codes::BUNDLE_INVALID,
        }
    }
}

/// Why one bundle was not loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {detail}", shown(path))]
pub struct BundleLoadError {
    code: Code,
    path: PathBuf,
    detail: String,
}

/// A path for a message: anybody may have named what lies in a directory of bundles.
pub(super) fn shown(path: &Path) -> String {
    /// As long as a path may be on most systems.
    const MAX_CHARS: usize = 4096;
    sanitize(&path.display().to_string(), MAX_CHARS)
}

impl BundleLoadError {
    pub(super) fn new(code: Code, path: &Path, detail: impl Into<String>) -> Self {
        Self { code, path: path.to_owned(), detail: detail.into() }
    }

    /// The bundle's directory, or the file in it that is at fault.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// [`path`](Self::path) for a message: escaped and bounded.
    #[must_use]
    pub fn place(&self) -> String {
        shown(&self.path)
    }

    /// What was expected and what was found. Text of the bundle in it is escaped and bounded.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.detail
    }
}

impl Coded for BundleLoadError {
    fn entry(&self) -> Code {
        self.code
    }
}

/// Why a [`ModuleGate`](super::ModuleGate) does not admit a module, with the reason for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModuleRefusal {
    /// The static gates refuse it.
    Rejected(String),
    /// The sandbox cannot load it.
    LoadFailed(String),
    /// It does not export the manifest's function.
    FunctionNotFound(String),
    /// The function is not of the ABI's type.
    SignatureMismatch(String),
}

impl ModuleRefusal {
    pub(super) fn into_error(self, module: &Path) -> BundleLoadError {
        let (code, detail) = match self {
            Self::Rejected(detail) => (codes::MODULE_REJECTED, detail),
            Self::LoadFailed(detail) => (codes::LOAD_FAILED, detail),
            Self::FunctionNotFound(detail) => (codes::FUNCTION_NOT_FOUND, detail),
            Self::SignatureMismatch(detail) => (codes::FUNCTION_SIGNATURE_MISMATCH, detail),
        };
        BundleLoadError::new(code, module, detail)
    }
}
