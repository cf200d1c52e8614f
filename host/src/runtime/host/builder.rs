//! How a host is built.

use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::Arc;

use super::Host;
use super::error::HostError;
use super::notice::{Listener, Notice};
use super::shared::Shared;
use crate::bundle::pipeline::Pipeline;

/// How a [`Host`] is built.
#[derive(Debug, Default)]
#[must_use]
pub struct HostBuilder {
    gates: Option<Pipeline>,
    workers: Option<NonZeroUsize>,
    resident_bytes: Option<NonZeroU64>,
    listener: Listener,
}

impl HostBuilder {
    /// The gates that bundles go through, with the limits of all tenants whose policies don't say otherwise. Default: those of
    /// [`Pipeline::builder`].
    pub fn pipeline(mut self, gates: Pipeline) -> Self {
        self.gates = Some(gates);
        self
    }

    /// How many threads serve events that are [submitted](super::TenantHandle::submit), and how many instances of a version are kept at
    /// most. Default: as many as run at one time here.
    pub fn workers(mut self, workers: NonZeroUsize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// How many bytes of native code and instances stay for the next events of all tenants. Beyond that, what was used the longest ago is
    /// given up. Default: without a limit.
    pub fn resident_bytes(mut self, bytes: NonZeroU64) -> Self {
        self.resident_bytes = Some(bytes);
        self
    }

    /// Who is told what happens to versions, on the thread on which it does, which waits for that: it must not serve events by itself.
    pub fn on_notice(mut self, hook: impl Fn(&Notice) + Send + Sync + 'static) -> Self {
        self.listener = Listener(Some(Arc::new(hook)));
        self
    }

    /// Builds the host, and starts its workers.
    ///
    /// # Errors
    /// [`HostError::Policy`] where the system refuses the engine; [`HostError::Worker`] where it has no thread to give.
    pub fn build(self) -> Result<Host, HostError> {
        let Self { gates, workers, resident_bytes, listener } = self;
        let gates = match gates {
            Some(gates) => gates,
            None => Pipeline::builder().build()?,
        };
        let here = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let workers = workers.map_or_else(here, NonZeroUsize::get);
        let most_resident = resident_bytes.map(NonZeroU64::get);
        let shared = Arc::new(Shared::new(gates, listener, workers, most_resident));
        let workers = shared.start(workers)?;
        Ok(Host { shared, workers, lanes: Default::default() })
    }
}
