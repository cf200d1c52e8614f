//! What a service serves, and within which limits.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::error::ServiceError;
use super::tls::Tls;
use super::token::TokenHash;
use crate::runtime::{Breaker, Promotion, Quotas, Tenant};
use crate::sandbox::TenantPolicy;

/// The tenant of a service without a configuration.
const ONLY_TENANT: &str = "default";

/// The least that a connection is read by.
const LEAST_HEADER_BYTES: usize = 8 << 10;

/// What a service serves.
#[derive(Clone, Debug)]
pub struct Config {
    pub(super) listen: SocketAddr,
    pub(super) admin: Option<TokenHash>,
    pub(super) workers: Option<NonZeroUsize>,
    pub(super) resident_bytes: Option<NonZeroU64>,
    pub(super) tls: Option<Tls>,
    pub(super) tenants: BTreeMap<String, TenantConfig>,
    pub(super) limits: Limits,
}

/// What a tenant is served with.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TenantConfig {
    pub(super) bundles: Vec<PathBuf>,
    pub(super) policy: TenantPolicy,
    pub(super) policy_path: Option<PathBuf>,
    pub(super) tokens: Vec<TokenHash>,
    pub(super) quotas: Quotas,
    pub(super) breaker: Breaker,
    pub(super) weight: NonZeroU32,
    pub(super) queue_bytes: Option<NonZeroUsize>,
    pub(super) hold_to_graphs: bool,
    /// Requests a second.
    pub(super) requests: Option<NonZeroU32>,
    /// Whether its own token may change what it has and serves.
    pub(super) manage_bundles: bool,
    pub(super) promotion: Promotion,
}

/// What a request may take.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of a body, unpacked.
    pub body_bytes: NonZeroU64,
    /// Bytes of a request's line and headers.
    pub header_bytes: usize,
    /// Seconds in which the headers have to come.
    pub header_seconds: NonZeroU32,
    /// Seconds after which a client is cut off that neither sends nor reads.
    pub idle_seconds: NonZeroU32,
    /// Bytes of an upload, unpacked: a bundle as a tar archive.
    pub upload_bytes: NonZeroU64,
    /// Seconds in which an upload has to come.
    pub upload_seconds: NonZeroU32,
    /// Requests a second of one address, those for `/healthz` and `/readyz` aside.
    pub address_requests: Option<NonZeroU32>,
    /// Requests a second of one address that are told that their token is wrong. More are told that they are too many.
    pub failed_tokens: NonZeroU32,
    /// Connections at one time.
    pub connections: NonZeroU32,
    /// Requests of a tenant for events at one time.
    pub concurrent_requests: NonZeroU32,
    /// Events of a request that are served at one time, or wait for that.
    pub events_in_flight: NonZeroU32,
    /// Seconds that requests have to send the rest once the service is to end, and as many again to read their answers.
    pub grace_seconds: u32,
}

/// A number that isn't zero.
const fn number(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).expect("a constant that isn't zero")
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: const { NonZeroU64::new(1 << 30).expect("not zero") },
            header_bytes: 32 << 10,
            header_seconds: const { number(10) },
            idle_seconds: const { number(60) },
            upload_bytes: const { NonZeroU64::new(64 << 20).expect("not zero") },
            upload_seconds: const { number(60) },
            address_requests: None,
            failed_tokens: const { number(50) },
            connections: const { number(512) },
            concurrent_requests: const { number(64) },
            events_in_flight: const { number(128) },
            grace_seconds: 10,
        }
    }
}

impl Limits {
    pub(super) fn headers(&self) -> Duration {
        Duration::from_secs(self.header_seconds.get().into())
    }

    pub(super) fn idle(&self) -> Duration {
        Duration::from_secs(self.idle_seconds.get().into())
    }

    pub(super) fn upload(&self) -> Duration {
        Duration::from_secs(self.upload_seconds.get().into())
    }

    pub(super) fn grace(&self) -> Duration {
        Duration::from_secs(self.grace_seconds.into())
    }
}

impl Config {
    /// One tenant, `default`, with the bundles of a directory and without tokens.
    #[must_use]
    pub fn of_directory(bundles: PathBuf, listen: SocketAddr) -> Self {
        let tenant = TenantConfig {
            bundles: vec![bundles],
            policy: TenantPolicy::default(),
            policy_path: None,
            tokens: Vec::new(),
            quotas: Quotas::default(),
            breaker: Breaker::default(),
            weight: NonZeroU32::MIN,
            queue_bytes: None,
            hold_to_graphs: true,
            requests: None,
            manage_bundles: false,
            promotion: Promotion::default(),
        };
        Self {
            listen,
            admin: None,
            workers: None,
            resident_bytes: None,
            tls: None,
            tenants: BTreeMap::from([(ONLY_TENANT.to_owned(), tenant)]),
            limits: Limits::default(),
        }
    }

    /// Whether nobody needs a token.
    pub(super) fn is_open(&self) -> bool {
        self.admin.is_none() && self.tenants.values().all(|tenant| tenant.tokens.is_empty())
    }

    /// Refuses what the form lets through and means nothing. `path` is where it was read.
    pub(super) fn check(&self, path: &Path) -> Result<(), ServiceError> {
        let invalid =
            |message| ServiceError::ConfigInvalid { origin: path.display().to_string(), message };
        let found = self.limits.header_bytes;
        if found < LEAST_HEADER_BYTES {
            let message = format!(
                "limits.header_bytes: expected {LEAST_HEADER_BYTES} at least, found {found}"
            );
            return Err(invalid(message));
        }
        let without = |(name, tenant): (&String, &TenantConfig)| {
            tenant.tokens.is_empty().then(|| name.clone())
        };
        match self.tenants.iter().find_map(without).filter(|_| !self.is_open()) {
            Some(name) => Err(invalid(format!(
                "tenants.{name}.token_sha256: expected a hash at least, as there are tokens, found none"
            ))),
            None => Ok(()),
        }
    }

    /// Refuses an address at which anybody could use it.
    pub(super) fn check_address(&self) -> Result<(), ServiceError> {
        match self.listen.ip().is_loopback() || !self.is_open() {
            true => Ok(()),
            false => Err(ServiceError::Open { address: self.listen }),
        }
    }
}

impl TenantConfig {
    /// The same as a host takes it.
    pub(super) fn tenant(&self) -> Tenant {
        let tenant = Tenant::default()
            .policy(self.policy.clone())
            .quotas(self.quotas.clone())
            .breaker(self.breaker.clone())
            .weight(self.weight)
            .hold_to_graphs(self.hold_to_graphs);
        let tenant = match self.queue_bytes {
            Some(bytes) => tenant.queue_bytes(bytes.get()),
            None => tenant,
        };
        self.bundles.iter().fold(tenant, Tenant::directory)
    }
}
