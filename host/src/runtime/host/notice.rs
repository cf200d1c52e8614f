//! What a host tells of the versions that it serves.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::bundle::{BundleLoadError, Digest, ExtractorName};

/// What happened to a version of a tenant's extractor.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Notice {
    /// The tenant.
    pub tenant: Arc<str>,
    /// The extractor.
    pub name: ExtractorName,
    /// The version.
    pub version: Digest,
    /// What happened to it.
    pub what: Happened,
}

/// What happened to a version.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Happened {
    /// It failed too often, and something else has its events until it is tried again.
    SetAside {
        /// The version before it; `None` where there is none that can be loaded, so that a fallback has its events, or nobody.
        instead: Option<Digest>,
        /// When it is tried again.
        retry_after: Duration,
    },
    /// It was tried again, did well, and has its events again.
    Restored,
    /// It can't be loaded.
    Refused(BundleLoadError),
    /// It is served from now on.
    Begun,
    /// It is served no more.
    Ended,
    /// It runs beside the version that is served.
    Shadowed,
    /// What it was given up for is needed elsewhere: it is loaded again with its next event.
    Unloaded,
}

impl Happened {
    /// A name of it for logs and metrics.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::SetAside { .. } => "set_aside",
            Self::Restored => "restored",
            Self::Refused(_) => "refused",
            Self::Begun => "begun",
            Self::Ended => "ended",
            Self::Shadowed => "shadowed",
            Self::Unloaded => "unloaded",
        }
    }
}

/// Who is told.
#[derive(Clone, Default)]
pub(super) struct Listener(pub(super) Option<Arc<Hook>>);

type Hook = dyn Fn(&Notice) + Send + Sync;

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Listener").field(&self.0.is_some()).finish()
    }
}
