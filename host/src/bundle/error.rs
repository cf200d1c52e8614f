//! How storing and loading fail.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::contents::Part;
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::diagnostics::untrusted::sanitize;

/// Why a bundle was not stored. What was there before is untouched.
#[derive(Debug, thiserror::Error)]
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

/// Why a bundle was not loaded, in the order in which a loader looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LoadCode {
    /// There is no regular `manifest.json`, or no directory to look in.
    ManifestMissing,
    /// The manifest is not what a manifest has to be.
    ManifestUnreadable,
    /// The fingerprint is not the expected one, or not that of the content.
    FingerprintMismatch,
    /// An expected event type is not declared.
    EventTypesMismatch,
    /// The named module is not a regular file.
    ModuleNotFound,
    /// A file is not the one whose digest the manifest holds, or there is one that it holds no digest of.
    DigestMismatch,
    /// The static gates refuse the module.
    ModuleRejected,
    /// A file cannot be read, or the sandbox cannot load the module.
    LoadFailed,
    /// The module does not export the named function.
    FunctionNotFound,
    /// The named function is not of the ABI's type.
    FunctionSignatureMismatch,
    /// Two bundles claim one event type.
    EventTypeCollision,
}

impl LoadCode {
    /// The stable code.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.entry().name
    }

    /// Its entry in the registry.
    pub(super) fn entry(self) -> Code {
        match self {
            Self::ManifestMissing => codes::MANIFEST_MISSING,
            Self::ManifestUnreadable => codes::MANIFEST_UNREADABLE,
            Self::FingerprintMismatch => codes::FINGERPRINT_MISMATCH,
            Self::EventTypesMismatch => codes::EVENT_TYPES_MISMATCH,
            Self::ModuleNotFound => codes::MODULE_NOT_FOUND,
            Self::DigestMismatch => codes::DIGEST_MISMATCH,
            Self::ModuleRejected => codes::MODULE_REJECTED,
            Self::LoadFailed => codes::LOAD_FAILED,
            Self::FunctionNotFound => codes::FUNCTION_NOT_FOUND,
            Self::FunctionSignatureMismatch => codes::FUNCTION_SIGNATURE_MISMATCH,
            Self::EventTypeCollision => codes::EVENT_TYPE_COLLISION,
        }
    }
}

impl fmt::Display for LoadCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why one bundle was not loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {detail}", shown(path))]
pub struct LoadError {
    code: LoadCode,
    path: PathBuf,
    detail: String,
}

/// A path for a message: anybody may have named what lies in a directory of bundles.
pub(super) fn shown(path: &Path) -> String {
    /// As long as a path may be on most systems.
    const MAX_CHARS: usize = 4096;
    sanitize(&path.display().to_string(), MAX_CHARS)
}

impl LoadError {
    pub(super) fn new(code: LoadCode, path: &Path, detail: impl Into<String>) -> Self {
        Self { code, path: path.to_owned(), detail: detail.into() }
    }

    /// What was found.
    #[must_use]
    pub fn load_code(&self) -> LoadCode {
        self.code
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

impl Coded for LoadError {
    fn entry(&self) -> Code {
        self.code.entry()
    }
}

/// Why a [`ModuleGate`](super::ModuleGate) does not admit a module, with the reason for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    pub(super) fn into_error(self, module: &Path) -> LoadError {
        let (code, detail) = match self {
            Self::Rejected(detail) => (LoadCode::ModuleRejected, detail),
            Self::LoadFailed(detail) => (LoadCode::LoadFailed, detail),
            Self::FunctionNotFound(detail) => (LoadCode::FunctionNotFound, detail),
            Self::SignatureMismatch(detail) => (LoadCode::FunctionSignatureMismatch, detail),
        };
        LoadError::new(code, module, detail)
    }
}
