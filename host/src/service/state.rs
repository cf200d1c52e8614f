//! What the requests of a service share.

use std::sync::Arc;

use axum::http::HeaderMap;
use tokio::sync::watch;
use tracing::warn;

use super::access;
use super::config::Config;
use super::error::{Refusal, ServiceError};
use super::meters::Meters;
use crate::bundle::pipeline::Pipeline;
use crate::diagnostics::codes;
use crate::diagnostics::problem::Coded;
use crate::runtime::{Host, TenantHandle};

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
    config: Arc<Config>,
    pub(super) host: Host,
    pub(super) meters: Arc<Meters>,
    phase: watch::Sender<Phase>,
}

impl State {
    pub(super) fn new(config: Config, gates: Pipeline) -> Result<Self, ServiceError> {
        let meters = Arc::new(Meters::default());
        let noted = Arc::clone(&meters);
        let host = Host::builder()
            .pipeline(gates)
            .on_notice(move |notice| noted.happened(notice))
            .build()?;
        for (name, tenant) in &config.tenants {
            tell_failures(&host.add(name, tenant.tenant())?);
        }
        let phase = watch::Sender::new(Phase::Serving);
        Ok(Self { config: Arc::new(config), host, meters, phase })
    }

    pub(super) fn config(&self) -> Arc<Config> {
        Arc::clone(&self.config)
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

    /// The tenant whose events a request has, if it may.
    pub(super) fn tenant(&self, name: &str, headers: &HeaderMap) -> Result<TenantHandle, Refusal> {
        access::require_local(headers)?;
        let unknown = |_| Refusal::new(codes::TENANT_UNKNOWN, "there is no such tenant");
        self.host.tenant(name).map_err(unknown)
    }
}

/// Tells what of a tenant's bundles isn't served.
pub(super) fn tell_failures(tenant: &TenantHandle) {
    for failure in tenant.failures() {
        let name = tenant.name();
        warn!(tenant = name, code = failure.code(), "not served: {}", failure.error);
    }
}
