//! TLS, where a certificate is given.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde::Deserialize;

/// Where a certificate is, and its key.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TlsFiles {
    /// The certificate with those that lead to a root, in PEM.
    pub(super) certificate: PathBuf,
    /// Its private key, in PEM.
    pub(super) key: PathBuf,
}

impl TlsFiles {
    /// The same with paths from where the process is.
    pub(super) fn in_folder(&self, folder: &Path) -> Self {
        Self { certificate: folder.join(&self.certificate), key: folder.join(&self.key) }
    }

    /// What connections are accepted with.
    ///
    /// # Errors
    /// What is wrong, after the key of the configuration. Nothing of the private key is in it.
    pub(super) fn read(&self) -> Result<Arc<ServerConfig>, String> {
        let Self { certificate, key } = self;
        let refused = |name: &str, path: &Path, expected: &str, error: &dyn std::fmt::Display| {
            format!("{name}: {}: expected {expected}: {error}", path.display())
        };
        let chain: Result<Vec<_>, _> = CertificateDer::pem_file_iter(certificate)
            .and_then(|certificates| certificates.collect());
        let chain = chain
            .map_err(|error| refused("certificate", certificate, "certificates in PEM", &error))?;
        let key_der = PrivateKeyDer::from_pem_file(key)
            .map_err(|error| refused("key", key, "a private key in PEM", &error))?;
        let unfit = |error| refused("key", key, "the key of the certificate", &error);
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(unfit)?
            .with_no_client_auth()
            .with_single_cert(chain, key_der)
            .map_err(unfit)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

/// A certificate as it was read, and from where.
#[derive(Clone, Debug)]
pub(super) struct Tls {
    pub(super) files: TlsFiles,
    pub(super) config: Arc<ServerConfig>,
}
