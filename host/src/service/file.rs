//! The configuration, as it is written: TOML.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::config::{Config, Limits, TenantConfig};
use super::error::ServiceError;
use super::tls::{Tls, TlsFiles};
use super::token::TokenHash;
use crate::json::toml;
use crate::runtime::{Breaker, Promotion, Quotas};
use crate::sandbox::TenantPolicy;

/// How large it may be. Ten thousand tenants take two.
const MAX_BYTES: u64 = 16 << 20;

/// How large a policy may be.
const MAX_POLICY_BYTES: u64 = 1 << 20;

/// Where a service listens where nothing is said.
pub const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

/// Where a configuration comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// One tenant, `default`, with the bundles of a directory.
    Directory {
        /// Which one.
        bundles: PathBuf,
        /// The address.
        listen: SocketAddr,
    },
    /// A file.
    File {
        /// Which one.
        path: PathBuf,
        /// The address, in the place of that in the file.
        listen: Option<SocketAddr>,
    },
}

impl Source {
    /// The configuration as it is now.
    ///
    /// # Errors
    /// [`ServiceError::ConfigUnreadable`] and [`ServiceError::ConfigInvalid`].
    pub fn read(&self) -> Result<Config, ServiceError> {
        match self {
            Self::Directory { bundles, listen } => {
                Ok(Config::of_directory(bundles.clone(), *listen))
            }
            Self::File { path, listen } => {
                let mut config = read(path)?;
                config.listen = listen.unwrap_or(config.listen);
                config.check(path)?;
                Ok(config)
            }
        }
    }
}

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    listen: Option<SocketAddr>,
    admin_token_sha256: Option<TokenHash>,
    workers: Option<NonZeroUsize>,
    resident_bytes: Option<NonZeroU64>,
    tls: Option<TlsFiles>,
    #[serde(default)]
    limits: Limits,
    tenants: BTreeMap<TenantName, WrittenTenant>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTenant {
    bundles: Vec<PathBuf>,
    policy: Option<PathBuf>,
    #[serde(default)]
    token_sha256: Vec<TokenHash>,
    #[serde(default)]
    quotas: Quotas,
    #[serde(default)]
    breaker: Breaker,
    weight: Option<NonZeroU32>,
    queue_bytes: Option<NonZeroUsize>,
    #[serde(default = "yes")]
    hold_to_graphs: bool,
    requests: Option<NonZeroU32>,
    #[serde(default)]
    manage_bundles: bool,
    #[serde(default)]
    promotion: Promotion,
}

fn yes() -> bool {
    true
}

/// What a tenant may be called: it is a part of paths and of metrics.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
struct TenantName(String);

impl TryFrom<String> for TenantName {
    type Error = &'static str;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        let is_fine = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.');
        let is_path = name.bytes().all(|it| it == b'.');
        match (1..=64).contains(&name.len()) && name.bytes().all(is_fine) && !is_path {
            true => Ok(Self(name)),
            false => Err(
                "expected a name of up to 64 letters, digits, hyphens, underscores and dots, found another one",
            ),
        }
    }
}

fn read(path: &Path) -> Result<Config, ServiceError> {
    let text = read_text(path, MAX_BYTES)?;
    let written: Written = toml::parse(&text).map_err(|error| {
        let origin = format!("{}:{}:{}", path.display(), error.line, error.column);
        ServiceError::ConfigInvalid { origin, message: error.message }
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let tls = written.tls.map(|tls| {
        let files = tls.in_folder(folder);
        let config = files.read().map_err(|message| ServiceError::ConfigInvalid {
            origin: path.display().to_string(),
            message: format!("tls.{message}"),
        })?;
        Ok::<_, ServiceError>(Tls { files, config })
    });
    let tenants = written.tenants.into_iter();
    let tenants = tenants.map(|(name, tenant)| {
        let read = tenant.read(folder).map_err(|message| ServiceError::ConfigInvalid {
            origin: path.display().to_string(),
            message: format!("tenants.{}.{message}", name.0),
        })?;
        Ok((name.0, read))
    });
    Ok(Config {
        listen: written.listen.unwrap_or(DEFAULT_LISTEN),
        admin: written.admin_token_sha256,
        workers: written.workers,
        resident_bytes: written.resident_bytes,
        limits: written.limits,
        tls: tls.transpose()?,
        tenants: tenants.collect::<Result<_, ServiceError>>()?,
    })
}

impl WrittenTenant {
    /// With paths as the process can use them.
    fn read(self, folder: &Path) -> Result<TenantConfig, String> {
        if self.bundles.is_empty() || self.bundles.iter().any(|path| path.as_os_str().is_empty()) {
            return Err("bundles: expected a directory at least, found none".to_owned());
        }
        let policy_path = self.policy.map(|policy| folder.join(policy));
        let policy = match &policy_path {
            None => TenantPolicy::default(),
            Some(path) => {
                let text =
                    read_text(path, MAX_POLICY_BYTES).map_err(|it| format!("policy: {it}"))?;
                let policy = TenantPolicy::parse(&text, &path.display().to_string());
                let policy = policy.map_err(|error| format!("policy: {error}"))?;
                policy.in_folder(path.parent().unwrap_or(Path::new("")))
            }
        };
        Ok(TenantConfig {
            bundles: self.bundles.iter().map(|path| folder.join(path)).collect(),
            policy,
            policy_path,
            tokens: self.token_sha256,
            quotas: self.quotas,
            breaker: self.breaker,
            weight: self.weight.unwrap_or(NonZeroU32::MIN),
            queue_bytes: self.queue_bytes,
            hold_to_graphs: self.hold_to_graphs,
            requests: self.requests,
            manage_bundles: self.manage_bundles,
            promotion: self.promotion,
        })
    }
}

fn read_text(path: &Path, most: u64) -> Result<String, ServiceError> {
    let refused = |source| ServiceError::ConfigUnreadable { path: path.to_owned(), source };
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(refused)?;
    file.take(most + 1).read_to_string(&mut text).map_err(refused)?;
    match text.len() as u64 <= most {
        true => Ok(text),
        false => Err(refused(io::ErrorKind::FileTooLarge.into())),
    }
}
