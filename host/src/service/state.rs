//! What the requests of a service share.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use tokio::sync::watch;
use tracing::{error, info, warn};

use super::bundles::Turns;
use super::config::Config;
use super::error::{Refusal, ServiceError};
use super::file::Source;
use super::meters::Meters;
use super::rates::{Rates, network};
use super::underway::Underway;
use crate::bundle::pipeline::Pipeline;
use crate::diagnostics::codes::Code;
use crate::diagnostics::problem::Coded;
use crate::runtime::{Host, HostError, TenantHandle};
use crate::sandbox::TenantPolicy;

/// How far a service is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    Serving,
    /// No more connections are taken.
    Ending,
    /// No body is read further.
    Stopping,
}

/// Waits until a service is as far as this, or further.
pub(super) async fn reached(phases: &mut watch::Receiver<Phase>, wanted: Phase) {
    // Whoever told of it is gone where it fails, and the service with it.
    let _ = phases.wait_for(|phase| *phase >= wanted).await;
}

#[derive(Debug)]
pub(super) struct State {
    source: Source,
    gates: Pipeline,
    config: RwLock<Arc<Config>>,
    /// Who changes the configuration has this.
    reloading: Mutex<()>,
    /// What is wrong with the one on disk.
    broken: Mutex<Option<Code>>,
    pub(super) host: Host,
    pub(super) meters: Arc<Meters>,
    pub(super) turns: Turns,
    /// Requests by tenant, by address, and those with a wrong token by address.
    tenants: Rates<String>,
    addresses: Rates<IpAddr>,
    failures: Rates<IpAddr>,
    pub(super) underway: Arc<Underway>,
    phase: watch::Sender<Phase>,
}

impl State {
    pub(super) fn new(source: Source, gates: Pipeline) -> Result<Self, ServiceError> {
        let config = source.read()?;
        config.check_address()?;
        let meters = Arc::new(Meters::default());
        let noted = Arc::clone(&meters);
        let mut host =
            Host::builder().pipeline(gates.clone()).on_notice(move |notice| noted.happened(notice));
        if let Some(workers) = config.workers {
            host = host.workers(workers);
        }
        if let Some(bytes) = config.resident_bytes {
            host = host.resident_bytes(bytes);
        }
        let host = host.build()?;
        for (name, tenant) in &config.tenants {
            tell_failures(&host.add(name, tenant.tenant())?);
        }
        Ok(Self {
            source,
            gates,
            config: RwLock::new(Arc::new(config)),
            reloading: Mutex::default(),
            broken: Mutex::default(),
            host,
            meters,
            turns: Turns::default(),
            tenants: Rates::default(),
            addresses: Rates::default(),
            failures: Rates::default(),
            underway: Arc::default(),
            phase: watch::Sender::new(Phase::Serving),
        })
    }

    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    pub(super) fn config(&self) -> Arc<Config> {
        // Nothing panics while it is locked.
        Arc::clone(&self.config.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// What is wrong with the configuration on disk.
    pub(super) fn broken(&self) -> Option<Code> {
        *self.broken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes up the configuration as it is on disk; where anything is wrong with it, nothing changes.
    pub(super) fn reload(&self) {
        let _reloading = self.reloading.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = self.take_up();
        let broken = taken.as_ref().err().map(Coded::entry);
        *self.broken.lock().unwrap_or_else(PoisonError::into_inner) = broken;
        match taken {
            Ok(()) => info!("the configuration was taken up"),
            Err(error) => {
                error!(code = error.code(), "the configuration stays as it was: {error}");
            }
        }
    }

    fn take_up(&self) -> Result<(), ServiceError> {
        let (before, after) = (self.config(), Arc::new(self.source.read()?));
        // What may be refused is tried before anything is changed.
        after.check_address()?;
        for tenant in after.tenants.values() {
            self.gates.for_tenant(&tenant.policy).map_err(HostError::from)?;
        }
        for (name, tenant) in &after.tenants {
            let handle = match (before.tenants.get(name), self.host.tenant(name)) {
                (Some(same), Ok(handle)) if same == tenant => {
                    handle.refresh()?;
                    handle
                }
                (_, Ok(handle)) => {
                    handle.change(tenant.tenant())?;
                    handle
                }
                (_, Err(_)) => self.host.add(name, tenant.tenant())?,
            };
            tell_failures(&handle);
        }
        if (before.listen, before.workers, before.resident_bytes)
            != (after.listen, after.workers, after.resident_bytes)
            || before.limits.connections != after.limits.connections
        {
            warn!("listen, workers, resident_bytes and connections are taken up with a new start");
        }
        *self.config.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&after);
        for name in before.tenants.keys().filter(|name| !after.tenants.contains_key(*name)) {
            self.host.remove(name)?;
        }
        Ok(())
    }

    pub(super) fn phases(&self) -> watch::Receiver<Phase> {
        self.phase.subscribe()
    }

    pub(super) fn phase(&self) -> Phase {
        *self.phase.borrow()
    }

    pub(super) fn enter(&self, phase: Phase) {
        self.phase.send_replace(phase);
    }

    /// The gates as a tenant's policy has them.
    pub(super) fn gates(&self, policy: &TenantPolicy) -> Result<Pipeline, HostError> {
        Ok(self.gates.for_tenant(policy)?)
    }

    /// Counts a request of a tenant, if one more may be.
    pub(super) fn admit(&self, tenant: &str, rate: Option<NonZeroU32>) -> Result<(), Refusal> {
        let Some(rate) = rate else { return Ok(()) };
        let taken = self.tenants.take(tenant.to_owned(), rate);
        taken.map_err(|wait| Refusal::too_many("requests for this tenant", wait))
    }

    /// Counts a request of an address, if one more may be.
    pub(super) fn admit_address(&self, address: IpAddr) -> Result<(), Refusal> {
        let Some(rate) = self.config().limits.address_requests else { return Ok(()) };
        let taken = self.addresses.take(network(address), rate);
        taken.map_err(|wait| Refusal::too_many("requests from this address", wait))
    }

    /// The refusal of a token that isn't good for what is asked. It says the same for every tenant, be it there or not. Who has a good
    /// one is never refused for what others try from the same address: it may be that of a balancer.
    pub(super) fn unauthorized(&self, address: IpAddr) -> Refusal {
        let rate = self.config().limits.failed_tokens;
        match self.failures.take(network(address), rate) {
            Ok(()) => Refusal::unauthorized(),
            Err(wait) => Refusal::too_many("wrong tokens from this address", wait),
        }
    }
}

/// Tells what of a tenant's bundles isn't served.
pub(super) fn tell_failures(tenant: &TenantHandle) {
    for failure in tenant.failures() {
        let name = tenant.name();
        warn!(tenant = name, code = failure.code(), "not served: {}", failure.error);
    }
}
