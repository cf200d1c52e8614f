//! Who may ask for what.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};

use super::error::Refusal;
use super::state::State;
use super::token::{self, TokenHash};
use crate::diagnostics::codes;
use crate::runtime::{Promotion, TenantHandle};
use crate::sandbox::TenantPolicy;

/// The address at the other end of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub(super) IpAddr);

/// Who asks, as far as a request shows it.
#[derive(Debug)]
pub(super) struct Caller {
    address: IpAddr,
    token: Option<TokenHash>,
    /// Whether it is a program of this machine, and no web page.
    local: Result<(), Refusal>,
}

impl FromRequestParts<Arc<State>> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<State>) -> Result<Self, Infallible> {
        let peer = parts.extensions.get::<Peer>();
        Ok(Self {
            // Each connection notes where it leads.
            address: peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0),
            token: token::brought(&parts.headers),
            local: require_local(&parts.headers),
        })
    }
}

/// By what right a request is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// By the tenant's own token.
    Tenant,
    /// By the administrator's.
    Administrator,
    /// By that of whoever is on this machine, where there are no tokens.
    Local,
}

impl Role {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Tenant => "tenant",
            Self::Administrator => "administrator",
            Self::Local => "local",
        }
    }
}

/// What is wanted of a tenant's bundles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// To know which there are.
    Look,
    /// To change something about them.
    Manage,
}

/// A tenant whose bundles somebody may ask for.
#[derive(Debug)]
pub(super) struct Granted {
    pub(super) tenant: TenantHandle,
    pub(super) role: Role,
    /// The directory that is managed: the first one of the tenant.
    pub(super) root: PathBuf,
    pub(super) policy: TenantPolicy,
    pub(super) promotion: Promotion,
}

impl State {
    /// The tenant whose events a request has, if it may. Who may not learns nothing of which tenants there are.
    pub(super) fn tenant_of_events(
        &self,
        name: &str,
        caller: Caller,
    ) -> Result<TenantHandle, Refusal> {
        let config = self.config();
        let known = config.tenants.get(name);
        let tenant = if config.is_open() {
            caller.local?;
            self.host.tenant(name).map_err(|_| unknown())?
        } else {
            let is_own = token::is_one_of(caller.token, known.map(|it| &*it.tokens));
            let tenant = self.host.tenant(name).ok().filter(|_| is_own);
            tenant.ok_or_else(|| self.unauthorized(caller.address))?
        };
        self.admit(name, known.and_then(|it| it.requests))?;
        Ok(tenant)
    }

    /// The tenant whose bundles a request is about, if it may: by the tenant's own token, which changes something only where the
    /// configuration says so, or by the administrator's, who may know which tenants there are.
    pub(super) fn tenant_of_bundles(
        &self,
        name: &str,
        caller: Caller,
        wanted: Wanted,
    ) -> Result<Granted, Refusal> {
        let config = self.config();
        let known = config.tenants.get(name);
        let role = if config.is_open() {
            caller.local?;
            Role::Local
        } else {
            // Both are compared, whatever comes of the first.
            let is_own = token::is_one_of(caller.token, known.map(|it| &*it.tokens));
            let admin = config.admin.as_ref().map(std::slice::from_ref);
            match (token::is_one_of(caller.token, admin), is_own) {
                (true, _) => Role::Administrator,
                (false, true) => Role::Tenant,
                (false, false) => return Err(self.unauthorized(caller.address)),
            }
        };
        let (Some(known), Ok(tenant)) = (known, self.host.tenant(name)) else {
            return Err(if role == Role::Tenant { Refusal::unauthorized() } else { unknown() });
        };
        self.admit(name, known.requests)?;
        if wanted == Wanted::Manage && role != Role::Administrator && !known.manage_bundles {
            let message = "the configuration lets the administrator alone manage these bundles";
            return Err(Refusal::new(codes::MANAGEMENT_OFF, message));
        }
        Ok(Granted {
            tenant,
            role,
            root: known.bundles.first().cloned().unwrap_or_default(),
            policy: known.policy.clone(),
            promotion: known.promotion,
        })
    }

    /// Refuses who may not see what is of all tenants.
    pub(super) fn require_admin(&self, caller: Caller) -> Result<(), Refusal> {
        let config = self.config();
        if config.is_open() {
            return caller.local;
        }
        let admin = config.admin.as_ref().map(std::slice::from_ref);
        match token::is_one_of(caller.token, admin) {
            true => Ok(()),
            false => Err(self.unauthorized(caller.address)),
        }
    }
}

fn unknown() -> Refusal {
    Refusal::new(codes::TENANT_UNKNOWN, "there is no such tenant")
}

/// Refuses what a web page could have a browser ask of a service without tokens: requests of other origins, and those by a name that
/// only leads to this machine.
fn require_local(headers: &HeaderMap) -> Result<(), Refusal> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let is_local = host.is_some_and(|host| is_loopback(name_of(host)));
    if is_local && !headers.contains_key(header::ORIGIN) {
        return Ok(());
    }
    let message = "expected a request to the loopback address that comes from no web page";
    Err(Refusal::new(codes::CROSS_ORIGIN, message))
}
/// A host without its port.
fn name_of(host: &str) -> &str {
    let end = match host.starts_with('[') {
        true => host.find(']').map(|at| at + 1),
        false => host.find(':'),
    };
    end.and_then(|end| host.get(..end)).unwrap_or(host)
}

fn is_loopback(name: &str) -> bool {
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    match address {
        Ok(address) => address.is_loopback(),
        Err(_) => name.eq_ignore_ascii_case("localhost"),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn only_this_machine_is_local() {
        for (host, origin, is_local) in [
            (Some("127.0.0.1:8080"), None, true),
            (Some("localhost"), None, true),
            (Some("LOCALHOST:1"), None, true),
            (Some("[::1]:8080"), None, true),
            (Some("127.8.0.1"), None, true),
            (Some("localhost:1"), Some("http://localhost:1"), false),
            (Some("evil.example:8080"), None, false),
            (Some("127.0.0.1.evil.example"), None, false),
            (Some("10.0.0.1"), None, false),
            (Some("[::2]"), None, false),
            (Some(""), None, false),
            (None, None, false),
        ] {
            let mut headers = HeaderMap::new();
            headers.extend(host.map(|it| (header::HOST, HeaderValue::from_static(it))));
            headers.extend(origin.map(|it| (header::ORIGIN, HeaderValue::from_static(it))));
            assert_eq!(require_local(&headers).is_ok(), is_local, "{host:?} {origin:?}");
        }
    }
}
