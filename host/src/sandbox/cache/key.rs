//! The secret that distinguishes this host's entries from all others.

use hmac::{Hmac, Mac as _};
use sha2::Sha256;

use super::directory::{PrivateDir, UnfitDirectory};

/// The key's file name.
pub(super) const FILE: &str = "key";

const KEY_BYTES: usize = 32;

/// Bytes of an authentication code.
pub(super) const TAG_BYTES: usize = 32;

/// A key of HMAC-SHA256. It never leaves this process but into the file that it was read from.
pub(super) struct CacheKey([u8; KEY_BYTES]);

impl std::fmt::Debug for CacheKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(..)")
    }
}

impl CacheKey {
    /// The directory's key, which is made where there is none. Where there was one that isn't fit for use, a new one takes its
    /// place, and the second value says what was wrong with it.
    pub(super) fn of(dir: &PrivateDir) -> Result<(Self, Option<UnfitDirectory>), UnfitDirectory> {
        if let Ok(key) = Self::read(dir) {
            return Ok((key, None));
        }
        let lock = dir.lock()?;
        // Another process may have been quicker.
        let unfit = match Self::read(dir) {
            Ok(key) => return Ok((key, None)),
            Err(unfit) => unfit,
        };
        let mut bytes = [0; KEY_BYTES];
        getrandom::fill(&mut bytes).map_err(|error| {
            UnfitDirectory::Content(format!("the system gives no randomness: {error}"))
        })?;
        lock.replace(FILE, &[&bytes])?;
        Ok((Self(bytes), (!matches!(unfit, UnfitDirectory::Missing)).then_some(unfit)))
    }

    fn read(dir: &PrivateDir) -> Result<Self, UnfitDirectory> {
        let bytes = dir.read(FILE, KEY_BYTES as u64)?;
        <[u8; KEY_BYTES]>::try_from(bytes).map(Self).map_err(|bytes| {
            UnfitDirectory::Content(format!("expected {KEY_BYTES} bytes, found {}", bytes.len()))
        })
    }

    /// The code of these fields, in this order.
    pub(super) fn tag(&self, fields: &[&[u8]]) -> [u8; TAG_BYTES] {
        self.mac(fields).finalize().into_bytes().into()
    }

    /// Whether `tag` is the code of these fields. Takes as long for one tag as for any other.
    pub(super) fn verifies(&self, fields: &[&[u8]], tag: &[u8]) -> bool {
        self.mac(fields).verify_slice(tag).is_ok()
    }

    fn mac(&self, fields: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        for field in fields {
            // Lengths keep one list of fields from running together with another.
            mac.update(&(field.len() as u64).to_le_bytes());
            mac.update(field);
        }
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_of_one_key_and_one_list_of_fields() {
        let key = CacheKey([1; KEY_BYTES]);
        let tag = key.tag(&[b"ab", b"c"]);
        assert!(key.verifies(&[b"ab", b"c"], &tag));
        assert!(!key.verifies(&[b"a", b"bc"], &tag));
        assert!(!key.verifies(&[b"ab", b"c", b""], &tag));
        assert!(!key.verifies(&[b"ab", b"c"], &tag[1..]));
        assert!(!key.verifies(&[b"ab", b"c"], &[]));
        assert!(!CacheKey([2; KEY_BYTES]).verifies(&[b"ab", b"c"], &tag));
        assert_eq!(format!("{key:?}"), "Key(..)");
    }
}
