//! What a host serves for one tenant.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;

use super::breaker::Breaker;
use super::quota::Quotas;
use crate::graph::Extraction;
use crate::runtime::ExtractError;
use crate::sandbox::TenantPolicy;

/// Bytes of events that may wait for a tenant.
const QUEUE_BYTES: usize = 4 << 20;

/// What a host serves for one tenant: its bundles, what its extractors may do, and what they may use. The default is without bundles, as
/// the host's own policy and limits are, without quotas.
///
/// # Example
/// ```
/// use retort::TenantPolicy;
/// use retort::graph::Extraction;
/// use retort::runtime::Tenant;
///
/// let tenant = Tenant::default()
///     .directory("bundles/acme")
///     .policy(TenantPolicy::parse("limits: {deadline_ms: 200}", "acme.yaml")?)
///     .fallback("order_placed", |_event| Ok(Extraction::default()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Tenant {
    pub(super) directories: Vec<PathBuf>,
    pub(super) bundles: Vec<PathBuf>,
    pub(super) policy: TenantPolicy,
    pub(super) quotas: Quotas,
    pub(super) breaker: Breaker,
    pub(super) fallbacks: BTreeMap<String, Fallback>,
    pub(super) weight: NonZeroU32,
    pub(super) queue_bytes: usize,
    pub(super) holds_to_graphs: bool,
}

/// What stands in for the extractor of an event type.
#[derive(Clone, Debug)]
pub(super) enum Fallback {
    Native(Native),
    Bundle(PathBuf),
}

/// A function of the embedding program.
#[derive(Clone)]
pub(super) struct Native(pub(super) Arc<Function>);

type Function = dyn Fn(&[u8]) -> Result<Extraction, ExtractError> + Send + Sync;

impl fmt::Debug for Native {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Native")
    }
}

impl Default for Tenant {
    fn default() -> Self {
        Self {
            directories: Vec::new(),
            bundles: Vec::new(),
            policy: TenantPolicy::default(),
            quotas: Quotas::default(),
            breaker: Breaker::default(),
            fallbacks: BTreeMap::new(),
            weight: NonZeroU32::MIN,
            queue_bytes: QUEUE_BYTES,
            holds_to_graphs: true,
        }
    }
}

impl Tenant {
    /// With the active bundles of a directory, and what is activated there [later](super::TenantHandle::refresh).
    pub fn directory(mut self, root: impl Into<PathBuf>) -> Self {
        self.directories.push(root.into());
        self
    }

    /// With one bundle, by its directory.
    pub fn bundle(mut self, path: impl Into<PathBuf>) -> Self {
        self.bundles.push(path.into());
        self
    }

    /// What its extractors may read and use. It needs the engine of the host: the size of stacks and the allocator are the host's.
    pub fn policy(mut self, policy: TenantPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// What it may use of the host.
    pub fn quotas(mut self, quotas: Quotas) -> Self {
        self.quotas = quotas;
        self
    }

    /// When a version of it is set aside.
    pub fn breaker(mut self, breaker: Breaker) -> Self {
        self.breaker = breaker;
        self
    }

    /// With a function of this program that stands in for the extractor of a type, or of a prefix (`order.*`): where that fails, is set
    /// aside or isn't there. What it gives isn't held to any graph spec. A type that its bundles serve by a prefix is given with it.
    pub fn fallback(
        mut self,
        event_type: impl Into<String>,
        fallback: impl Fn(&[u8]) -> Result<Extraction, ExtractError> + Send + Sync + 'static,
    ) -> Self {
        self.fallbacks.insert(event_type.into(), Fallback::Native(Native(Arc::new(fallback))));
        self
    }

    /// The same with a bundle, by its directory.
    pub fn fallback_bundle(
        mut self,
        event_type: impl Into<String>,
        path: impl Into<PathBuf>,
    ) -> Self {
        self.fallbacks.insert(event_type.into(), Fallback::Bundle(path.into()));
        self
    }

    /// How many shares of the workers' time it has, where that is scarce. Default 1.
    pub fn weight(mut self, weight: NonZeroU32) -> Self {
        self.weight = weight;
        self
    }

    /// How many bytes of events may wait for a worker; one event may in any case. Default 4 MiB. An event counts for a KiB at least.
    pub fn queue_bytes(mut self, bytes: usize) -> Self {
        self.queue_bytes = bytes;
        self
    }

    /// Whether results are held to the graph specs of their bundles. Default true.
    pub fn hold_to_graphs(mut self, holds: bool) -> Self {
        self.holds_to_graphs = holds;
        self
    }
}
