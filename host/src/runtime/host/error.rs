//! Why a host has no answer to an event, or can't do what it is asked.

use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use super::quota::Quota;
use crate::bundle::{BundleError, BundleLoadError, Digest, ExtractorName};
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::{Coded, Problem};
use crate::runtime::{ExtractError, GraphsError};
use crate::sandbox::{Blame, ModuleLoadError, RunError};

/// Why a host has no answer to an event.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The tenant has used up a quota, so that the event wasn't begun.
    #[error("tenant `{tenant}` has used up its quota: {allowed} {quota} are allowed")]
    Quota {
        /// Who.
        tenant: String,
        /// Which one.
        quota: Quota,
        /// How much it allows.
        allowed: u64,
        /// When something is left again; `None` where that is when another event ends.
        retry_after: Option<Duration>,
    },
    /// As many events of the tenant wait as may, so that the event wasn't taken.
    #[error("as many events of tenant `{tenant}` wait as may")]
    QueueFull {
        /// Who.
        tenant: String,
    },
    /// The tenant was removed before the event was begun, or the host is gone.
    #[error("tenant `{tenant}` is served no more")]
    Gone {
        /// Who.
        tenant: String,
    },
    /// The version of its type is set aside, and nothing stands in for it.
    #[error("version {version} of `{name}` is set aside, and nothing stands in for it")]
    SetAside {
        /// The extractor.
        name: ExtractorName,
        /// The version.
        version: Digest,
        /// When it is tried again.
        retry_after: Duration,
    },
    /// The extractor failed, or the event isn't one.
    #[error("{error}")]
    Run {
        /// The event's type, where it was read to its end.
        event_type: Option<Arc<str>>,
        /// What happened.
        #[source]
        error: RunError,
    },
    /// The bundle of its type can't be loaded.
    #[error(transparent)]
    Load(#[from] BundleLoadError),
    /// The graph spec that its result is held to can't be read; or nothing of its result fits it.
    #[error("{}", problem.message)]
    Graph {
        /// What is wrong.
        problem: Box<Problem>,
        /// Whose fault it is.
        blame: Blame,
    },
    /// What stands in for the extractor failed as well.
    #[error("the fallback failed: {0}")]
    Fallback(ExtractError),
    /// The host has panicked on the event, by a defect of its own.
    #[error("the host has panicked on this event, which is a defect of its own")]
    Panicked,
}

impl ServeError {
    pub(super) fn graphs(error: &GraphsError) -> Self {
        Self::Graph { problem: Box::new(error.problem()), blame: Blame::Host }
    }

    /// The same of an event of this type.
    pub(super) fn of_type(self, event_type: impl FnOnce() -> Arc<str>) -> Self {
        match self {
            Self::Run { error, .. } => Self::Run { event_type: Some(event_type()), error },
            error => error,
        }
    }

    /// Whose fault it is.
    #[must_use]
    pub fn blame(&self) -> Blame {
        match self {
            Self::Quota { .. } | Self::QueueFull { .. } | Self::Gone { .. } => Blame::Event,
            Self::SetAside { .. } | Self::Load(_) | Self::Fallback(_) => Blame::Extractor,
            Self::Run { error, .. } => error.blame(),
            Self::Graph { blame, .. } => *blame,
            Self::Panicked => Blame::Host,
        }
    }

    /// Whether the event wasn't begun, so that the same may go well later.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Quota { .. } | Self::QueueFull { .. } | Self::Gone { .. })
    }
}

impl Coded for ServeError {
    fn entry(&self) -> Code {
        match self {
            Self::Quota { .. } => codes::QUOTA_EXCEEDED,
            Self::QueueFull { .. } => codes::QUEUE_FULL,
            Self::Gone { .. } => codes::TENANT_GONE,
            Self::SetAside { .. } => codes::VERSION_SET_ASIDE,
            Self::Run { error, .. } => error.entry(),
            Self::Load(error) => error.entry(),
            Self::Graph { problem, .. } => problem.code,
            Self::Fallback(error) => error.entry(),
            Self::Panicked => codes::HOST_PANICKED,
        }
    }
}

/// Why a host can't be built, or a tenant not be added or changed. Whatever was served is served as before.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HostError {
    /// The gates can't be made for the tenant's policy.
    #[error(transparent)]
    Policy(#[from] ModuleLoadError),
    /// There is a tenant of this name.
    #[error("there is a tenant `{0}`: change it, or choose another name")]
    Exists(String),
    /// There is no tenant of this name.
    #[error("there is no tenant `{0}`")]
    Unknown(String),
    /// The system has no thread to give.
    #[error("cannot start a worker: {0}")]
    Worker(#[source] std::io::Error),
    /// A directory of bundles can't be read or written.
    #[error(transparent)]
    Bundles(#[from] BundleError),
    /// A bundle can't be loaded.
    #[error(transparent)]
    Load(#[from] BundleLoadError),
    /// The new version isn't known to be as good as the one that is served.
    #[error("version {version} of `{name}` isn't promoted: {reason}")]
    NotPromoted {
        /// The extractor.
        name: ExtractorName,
        /// The version.
        version: Digest,
        /// Why not.
        reason: String,
    },
    /// No version of this extractor runs in the shadow of another.
    #[error("no version of `{0}` runs beside the one that is served")]
    NoShadow(ExtractorName),
    /// No version of this extractor is served.
    #[error("no extractor `{0}` is served")]
    NotServed(ExtractorName),
}

impl Coded for HostError {
    fn entry(&self) -> Code {
        match self {
            Self::Policy(error) => error.entry(),
            Self::Exists(_) => codes::TENANT_EXISTS,
            Self::Unknown(_) => codes::TENANT_UNKNOWN,
            Self::Worker(_) => codes::WORKER_FAILED,
            Self::Bundles(error) => error.entry(),
            Self::Load(error) => error.entry(),
            Self::NotPromoted { .. } => codes::VERSION_NOT_PROMOTED,
            Self::NoShadow(_) | Self::NotServed(_) => codes::NOT_SERVED,
        }
    }
}
