//! Why something can't be published, or taken from a store.

use thiserror::Error;

use crate::bundle::{BundleError, BundleLoadError, ReceiveError};
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;

/// Why something can't be published, or taken from a store.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// The place isn't one.
    #[error("{url}: expected a directory, or a URL of an object store: {message}")]
    Url {
        /// What was given.
        url: String,
        /// What is wrong with it.
        message: String,
    },
    /// The store doesn't do what it is asked.
    #[error("{place}: cannot {action}: {source}")]
    Failed {
        /// The object.
        place: String,
        /// What was to be done.
        action: &'static str,
        /// What the store says.
        #[source]
        source: Box<object_store::Error>,
    },
    /// An object isn't what is published.
    #[error("{place}: {message}")]
    Invalid {
        /// The object.
        place: String,
        /// What was expected and what was found.
        message: String,
    },
    /// An activation isn't signed by anybody who is trusted.
    #[error("{place}: expected a signature of a trusted key, found {found}")]
    Signature {
        /// The object.
        place: String,
        /// What is there.
        found: &'static str,
    },
    /// A key can't be used.
    #[error("{path}: expected {expected}: {message}")]
    Key {
        /// The file.
        path: String,
        /// What kind of key.
        expected: &'static str,
        /// What is wrong with it.
        message: String,
    },
    /// A bundle isn't what it should be, or a gate refuses it.
    #[error(transparent)]
    Load(#[from] BundleLoadError),
    /// A directory of bundles can't be read or written, or nothing is to be changed in it.
    #[error(transparent)]
    Bundles(#[from] BundleError),
}

impl From<ReceiveError> for RemoteError {
    fn from(error: ReceiveError) -> Self {
        match error {
            ReceiveError::Load(error) => Self::Load(error),
            ReceiveError::Store(error) => Self::Bundles(error),
        }
    }
}

impl Coded for RemoteError {
    fn entry(&self) -> Code {
        match self {
            Self::Url { .. } => codes::REMOTE_URL_INVALID,
            Self::Failed { .. } => codes::REMOTE_FAILED,
            Self::Invalid { .. } => codes::PUBLISHED_INVALID,
            Self::Signature { .. } => codes::SIGNATURE_NOT_TRUSTED,
            Self::Key { .. } => codes::KEY_INVALID,
            Self::Load(error) => error.entry(),
            Self::Bundles(error) => error.entry(),
        }
    }
}
