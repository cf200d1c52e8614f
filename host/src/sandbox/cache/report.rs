//! What a cache has to say.

use std::path::PathBuf;

use thiserror::Error;

use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;

/// How many warnings are kept.
const MAX_WARNINGS: usize = 32;

/// How a cache has served since its sandbox was built, over all tenants of the engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CacheReport {
    /// Modules whose native code came from the cache.
    pub hits: u64,
    /// Modules that had no entry, or none fit for use, and were compiled.
    pub misses: u64,
    /// Bundles that the gates had admitted before, byte for byte, so that they weren't judged again.
    pub readmitted: u64,
    /// The first 32 things that were not as they should be.
    pub warnings: Vec<CacheWarning>,
    /// How many warnings there were beyond those.
    pub more_warnings: u64,
}

impl CacheReport {
    pub(super) fn warn(&mut self, warning: CacheWarning) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(warning);
        } else {
            self.more_warnings += 1;
        }
    }
}

/// Something about a cache that isn't as it should be. Modules are compiled and served all the same.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CacheWarning {
    /// The directory isn't used: it can't be opened, or others than this user have a hand in it.
    #[error("the cache in {} is not used: {reason}", path.display())]
    Unusable {
        /// The directory.
        path: PathBuf,
        /// What was expected and what was found.
        reason: String,
    },
    /// The key was not fit for use, so there is a new one, and no earlier entry counts.
    #[error("{} was replaced by a new key: {reason}", path.display())]
    KeyReplaced {
        /// The file.
        path: PathBuf,
        /// What was expected and what was found.
        reason: String,
    },
    /// An entry was not used: this host did not write it, or it was changed since. The module was compiled.
    #[error("{} was not used, the module was compiled anew: {reason}", path.display())]
    EntryRefused {
        /// The file.
        path: PathBuf,
        /// What was expected and what was found.
        reason: String,
    },
    /// A verdict was not used: this host did not write it, or it was changed since. The bundle went through the gates.
    #[error("{} was not used, the bundle was judged anew: {reason}", path.display())]
    VerdictRefused {
        /// The file.
        path: PathBuf,
        /// What was expected and what was found.
        reason: String,
    },
    /// What was compiled could not be kept.
    #[error("{} could not be kept: {reason}", path.display())]
    NotKept {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
}

impl Coded for CacheWarning {
    fn entry(&self) -> Code {
        match self {
            Self::Unusable { .. } => codes::CACHE_UNUSABLE,
            Self::KeyReplaced { .. } => codes::CACHE_KEY_REPLACED,
            Self::EntryRefused { .. } | Self::VerdictRefused { .. } => codes::CACHE_ENTRY_REFUSED,
            Self::NotKept { .. } => codes::CACHE_ENTRY_NOT_KEPT,
        }
    }
}
