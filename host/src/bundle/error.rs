//! How storing and loading fail.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::contents::Part;
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

impl BundleError {
    /// Every code of storing.
    pub const CODES: &[&str] = &["bundle_write_failed", "bundle_too_large", "bundle_invalid"];
}

impl Coded for BundleError {
    fn code(&self) -> &'static str {
        match self {
            Self::Write { .. } => "bundle_write_failed",
            Self::TooLarge { .. } => "bundle_too_large",
            Self::Invalid(_) => "bundle_invalid",
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
    /// Every code of loading.
    pub const CODES: &[&str] = &[
        "manifest_missing",
        "manifest_unreadable",
        "fingerprint_mismatch",
        "event_types_mismatch",
        "module_not_found",
        "digest_mismatch",
        "module_rejected",
        "load_failed",
        "function_not_found",
        "function_signature_mismatch",
        "event_type_collision",
    ];

    /// The stable code.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ManifestMissing => "manifest_missing",
            Self::ManifestUnreadable => "manifest_unreadable",
            Self::FingerprintMismatch => "fingerprint_mismatch",
            Self::EventTypesMismatch => "event_types_mismatch",
            Self::ModuleNotFound => "module_not_found",
            Self::DigestMismatch => "digest_mismatch",
            Self::ModuleRejected => "module_rejected",
            Self::LoadFailed => "load_failed",
            Self::FunctionNotFound => "function_not_found",
            Self::FunctionSignatureMismatch => "function_signature_mismatch",
            Self::EventTypeCollision => "event_type_collision",
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
    fn code(&self) -> &'static str {
        self.code.as_str()
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
