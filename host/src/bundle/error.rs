//! How storing and loading fail.

use std::io;
use std::path::{Path, PathBuf};

use super::contents::Part;
use super::name::ExtractorName;
use super::record::RecordError;
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
    /// The directory's activation record isn't one.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// What is asked of a version can't be done.
    #[error(transparent)]
    Version(#[from] VersionError),
    /// The manifest of these contents would be refused on loading.
    #[error("the bundle's manifest would be refused: {0}")]
    Invalid(#[from] super::ManifestError),
}

impl Coded for BundleError {
    fn entry(&self) -> Code {
        match self {
            Self::Write { .. } => codes::BUNDLE_WRITE_FAILED,
            Self::TooLarge { .. } => codes::BUNDLE_TOO_LARGE,
            Self::Record(error) => error.entry(),
            Self::Version(error) => error.entry(),
            Self::Invalid(_) => codes::BUNDLE_INVALID,
        }
    }
}

/// Why what is asked of a version can't be done. The same is served as before.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {}", self.place().display(), self.detail())]
#[non_exhaustive]
pub enum VersionError {
    /// No bundle of the directory is of this name.
    NameUnknown {
        /// The directory.
        root: PathBuf,
        /// The name.
        name: ExtractorName,
        /// The names that there are, the first ten of them.
        known: String,
    },
    /// No version of that name begins so, or several do.
    VersionUnknown {
        /// The directory.
        root: PathBuf,
        /// The name.
        name: ExtractorName,
        /// What was asked for.
        version: String,
        /// How many versions are meant by it.
        found: usize,
    },
    /// Nothing was served of an extractor before.
    NothingBefore {
        /// The directory.
        root: PathBuf,
        /// The name.
        name: ExtractorName,
    },
    /// The record names a version that can't be read.
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// Another extractor serves an event type of it.
    Taken {
        /// The other's bundle.
        path: PathBuf,
        /// The other's name.
        name: ExtractorName,
        /// The event type.
        event_type: String,
    },
    /// Several extractors serve an event type, which they were not to share any more.
    Shared {
        /// The directory.
        root: PathBuf,
        /// Two of the extractors.
        names: [ExtractorName; 2],
        /// The event type.
        event_type: String,
    },
    /// Somebody holds the directory as a whole.
    InUse {
        /// The directory.
        root: PathBuf,
    },
}

impl VersionError {
    /// How many names are told.
    const MAX_TOLD: usize = 10;

    /// That there is no such name among those that are known.
    pub(super) fn unknown<'a>(
        root: &Path,
        name: &ExtractorName,
        known: impl Iterator<Item = &'a ExtractorName>,
    ) -> Self {
        let known: Vec<&str> = known.map(ExtractorName::as_str).take(Self::MAX_TOLD).collect();
        let known = if known.is_empty() { "there is none".to_owned() } else { known.join(", ") };
        Self::NameUnknown { root: root.to_owned(), name: name.clone(), known }
    }

    /// The directory, or the bundle in it.
    fn place(&self) -> &Path {
        match self {
            Self::NameUnknown { root, .. }
            | Self::VersionUnknown { root, .. }
            | Self::NothingBefore { root, .. }
            | Self::Shared { root, .. }
            | Self::InUse { root } => root,
            Self::Missing { path } | Self::Taken { path, .. } => path,
        }
    }

    /// What is wrong, without where: for who isn't to know the host's directories.
    #[must_use]
    pub fn detail(&self) -> String {
        match self {
            Self::NameUnknown { name, known, .. } => {
                format!("expected the name of an extractor ({known}), found `{name}`")
            }
            Self::VersionUnknown { name, version, found, .. } => format!(
                "expected four or more digits that one version of `{name}` begins with, found `{}`, which {found} of them do",
                sanitize(version, 80)
            ),
            Self::NothingBefore { name, .. } => {
                format!("expected a version of `{name}` that was active before, found none")
            }
            Self::Missing { .. } => {
                "expected a version that was active before, found no bundle that can be read"
                    .to_owned()
            }
            Self::Taken { name, event_type, .. } => format!(
                "event type `{}` is served by `{name}`, and neither would be served then",
                sanitize(event_type, 120)
            ),
            Self::Shared { names: [one, other], event_type, .. } => format!(
                "event type `{}` is served by `{one}` and `{other}`, and neither would be served then",
                sanitize(event_type, 120)
            ),
            Self::InUse { .. } => {
                "expected a directory of bundles that nobody holds as a whole, found one that is in use"
                    .to_owned()
            }
        }
    }
}

impl Coded for VersionError {
    fn entry(&self) -> Code {
        match self {
            Self::NameUnknown { .. } => codes::NAME_UNKNOWN,
            Self::VersionUnknown { .. } => codes::VERSION_UNKNOWN,
            Self::NothingBefore { .. } => codes::NO_EARLIER_VERSION,
            Self::Missing { .. } => codes::VERSION_MISSING,
            Self::Taken { .. } => codes::EVENT_TYPE_TAKEN,
            Self::Shared { .. } => codes::EVENT_TYPE_SHARED,
            Self::InUse { .. } => codes::BUNDLES_IN_USE,
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
