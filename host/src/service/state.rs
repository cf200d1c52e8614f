//! What the requests of a service share.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use axum::http::HeaderMap;
use tokio::sync::watch;
use tracing::{error, info, warn};

use super::access;
use super::config::Config;
use super::error::{Refusal, ServiceError};
use super::file::Source;
use super::meters::Meters;
use super::token;
use super::underway::Underway;
use crate::bundle::pipeline::Pipeline;
use crate::diagnostics::codes;
use crate::diagnostics::codes::Code;
use crate::diagnostics::problem::Coded;
use crate::runtime::{Host, HostError, TenantHandle};

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

    /// The tenant whose events a request has, if it may. Who may not learns nothing of which tenants there are.
    pub(super) fn tenant(&self, name: &str, headers: &HeaderMap) -> Result<TenantHandle, Refusal> {
        let config = self.config();
        if config.is_open() {
            access::require_local(headers)?;
            let unknown = |_| Refusal::new(codes::TENANT_UNKNOWN, "there is no such tenant");
            return self.host.tenant(name).map_err(unknown);
        }
        let brought = token::brought(headers);
        let known = config.tenants.get(name).map(|tenant| &*tenant.tokens);
        let is_allowed = token::is_one_of(brought, known);
        let tenant = self.host.tenant(name).ok().filter(|_| is_allowed);
        tenant.ok_or_else(Refusal::unauthorized)
    }

    /// Whether a request may see what is of all tenants.
    pub(super) fn require_admin(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let config = self.config();
        if config.is_open() {
            return access::require_local(headers);
        }
        let admin = config.admin.as_ref().map(std::slice::from_ref);
        match token::is_one_of(token::brought(headers), admin) {
            true => Ok(()),
            false => Err(Refusal::unauthorized()),
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
