//! Who a service has to prove to be.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

/// TLS with the roots that this system trusts, by the cryptography that the process has chosen, or else by ring.
///
/// A service that is reached `in_plain` never speaks it, and needs no roots: a machine may well have none.
///
/// # Errors
/// The roots can't be read.
pub(super) fn config(in_plain: bool) -> Result<ClientConfig, rustls::Error> {
    let provider = CryptoProvider::get_default()
        .cloned()
        .unwrap_or_else(|| Arc::new(ring::default_provider()));
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let builder = if in_plain {
        builder.with_root_certificates(RootCertStore::empty())
    } else {
        builder.with_platform_verifier()?
    };
    Ok(builder.with_no_client_auth())
}
