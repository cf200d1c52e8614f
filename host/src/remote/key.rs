//! Keys that publishers sign with, and that hosts trust.

use std::fmt;
use std::path::Path;

use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{PrivatePkcs8KeyDer, SubjectPublicKeyInfoDer};

use super::error::RemoteError;

/// What the DER of an Ed25519 public key begins with (RFC 8410, section 4); the key's 32 bytes follow.
const SPKI_START: [u8; 12] =
    [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// A private key of Ed25519, as `openssl genpkey -algorithm ed25519` writes it.
pub struct SigningKey(Ed25519KeyPair);

impl SigningKey {
    /// Reads a key in PEM (PKCS #8).
    ///
    /// # Errors
    /// [`RemoteError::Key`], which tells nothing of what is in the file.
    pub fn read(path: &Path) -> Result<Self, RemoteError> {
        let expected = "a private key of Ed25519 in PEM (PKCS #8)";
        let der = PrivatePkcs8KeyDer::from_pem_file(path)
            .map_err(|error| refused(path, expected, &error))?;
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der.secret_pkcs8_der());
        pair.map(Self).map_err(|error| refused(path, expected, &error))
    }

    /// The key by which signatures of this one are known.
    #[must_use]
    pub fn public(&self) -> TrustedKey {
        let mut public = [0; 32];
        public.copy_from_slice(self.0.public_key().as_ref());
        TrustedKey(public)
    }

    pub(super) fn sign(&self, message: &[u8]) -> String {
        hex(self.0.sign(message).as_ref())
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SigningKey").field(&self.public()).finish()
    }
}

/// A public key of Ed25519, whose signatures are trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrustedKey([u8; 32]);

impl TrustedKey {
    /// Reads a key in PEM, as `openssl pkey -pubout` writes it.
    ///
    /// # Errors
    /// [`RemoteError::Key`].
    pub fn read(path: &Path) -> Result<Self, RemoteError> {
        let expected = "a public key of Ed25519 in PEM";
        let der = SubjectPublicKeyInfoDer::from_pem_file(path)
            .map_err(|error| refused(path, expected, &error))?;
        let key = der.strip_prefix(&SPKI_START).and_then(|key| key.try_into().ok());
        key.map(Self).ok_or_else(|| refused(path, expected, &"found a key of another kind"))
    }

    pub(super) fn is_signed(&self, message: &[u8], signature: &str) -> bool {
        let Some(signature) = bytes(signature) else { return false };
        UnparsedPublicKey::new(&ED25519, self.0).verify(message, &signature).is_ok()
    }
}

impl fmt::Display for TrustedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

fn refused(path: &Path, expected: &'static str, error: &dyn fmt::Display) -> RemoteError {
    let path = path.display().to_string();
    RemoteError::Key { path, expected, message: error.to_string() }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        hex.chars().map(|digit| digit.to_digit(16).and_then(|it| u8::try_from(it).ok())).collect();
    let (pairs, rest) = digits.as_deref()?.as_chunks::<2>();
    rest.is_empty().then(|| pairs.iter().map(|[high, low]| high << 4 | low).collect())
}
