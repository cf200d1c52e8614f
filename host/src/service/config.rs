//! What a service serves, and within which limits.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use super::error::ServiceError;
use crate::runtime::Tenant;

/// The tenant of a service without a configuration.
const ONLY_TENANT: &str = "default";

/// What a service serves.
#[derive(Clone, Debug)]
pub struct Config {
    pub(super) listen: SocketAddr,
    pub(super) tenants: BTreeMap<String, TenantConfig>,
    pub(super) limits: Limits,
}

/// What a tenant is served with.
#[derive(Clone, Debug)]
pub(super) struct TenantConfig {
    pub(super) bundles: Vec<PathBuf>,
}

/// What a request may take.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a body, unpacked.
    pub body_bytes: u64,
    /// Bytes of a request's line and headers.
    pub header_bytes: usize,
    /// Seconds in which the headers have to come.
    pub header_seconds: u32,
    /// Seconds after which a client is cut off that neither sends nor reads.
    pub idle_seconds: u32,
    /// Connections at one time.
    pub connections: usize,
    /// Events of a request that are served at one time, or wait for that.
    pub events_in_flight: usize,
    /// Seconds that requests have to send the rest once the service is to end, and as many again to read their answers.
    pub grace_seconds: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 1 << 30,
            header_bytes: 32 << 10,
            header_seconds: 10,
            idle_seconds: 60,
            connections: 512,
            events_in_flight: 128,
            grace_seconds: 10,
        }
    }
}

impl Limits {
    pub(super) fn headers(&self) -> Duration {
        Duration::from_secs(self.header_seconds.into())
    }

    pub(super) fn idle(&self) -> Duration {
        Duration::from_secs(self.idle_seconds.into())
    }

    pub(super) fn grace(&self) -> Duration {
        Duration::from_secs(self.grace_seconds.into())
    }
}

impl Config {
    /// One tenant, `default`, with the bundles of a directory and without tokens.
    #[must_use]
    pub fn of_directory(bundles: PathBuf, listen: SocketAddr) -> Self {
        let tenant = TenantConfig { bundles: vec![bundles] };
        let tenants = BTreeMap::from([(ONLY_TENANT.to_owned(), tenant)]);
        Self { listen, tenants, limits: Limits::default() }
    }

    /// Refuses what would serve anybody.
    pub(super) fn check(&self) -> Result<(), ServiceError> {
        match self.listen.ip().is_loopback() {
            true => Ok(()),
            false => Err(ServiceError::Open { address: self.listen }),
        }
    }
}

impl TenantConfig {
    /// The same as a host takes it.
    pub(super) fn tenant(&self) -> Tenant {
        self.bundles.iter().fold(Tenant::default(), Tenant::directory)
    }
}
