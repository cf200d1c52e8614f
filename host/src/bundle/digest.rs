//! SHA-256 digests, as manifests write them.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// A SHA-256 digest. Its text is 64 lowercase hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// One that was computed already.
    pub(super) fn of_sha256(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    pub(super) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// The text is not a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected 64 lowercase hexadecimal digits")]
pub struct InvalidDigest;

impl FromStr for Digest {
    type Err = InvalidDigest;

    /// # Errors
    /// [`InvalidDigest`] unless the text is exactly what [`Display`](fmt::Display) writes.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut bytes = [0; 32];
        if text.len() != 2 * bytes.len() {
            return Err(InvalidDigest);
        }
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Ok(Self(bytes))
    }
}

fn nibble(digit: u8) -> Result<u8, InvalidDigest> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(InvalidDigest),
    }
}

/// Digests bytes that come in pieces.
#[derive(Default)]
pub(super) struct PieceHasher(Sha256);

impl PieceHasher {
    pub(super) fn piece(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(super) fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

/// Digests labelled fields, each with its length before it, so that no two lists of fields run
/// together to the same bytes.
pub(super) struct FieldHasher(Sha256);

impl FieldHasher {
    pub(super) fn new(domain: &str) -> Self {
        let mut hasher = Self(Sha256::new());
        hasher.framed(domain.as_bytes());
        hasher
    }

    pub(super) fn field(&mut self, label: &str, value: &[u8]) {
        self.begin(label, value.len() as u64);
        self.piece(value);
    }

    /// Begins a field whose value of this many bytes follows in [pieces](Self::piece).
    pub(super) fn begin(&mut self, label: &str, bytes: u64) {
        self.framed(label.as_bytes());
        self.0.update(bytes.to_le_bytes());
    }

    /// The next piece of the value that was begun.
    pub(super) fn piece(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    pub(super) fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }

    fn framed(&mut self, bytes: &[u8]) {
        // A usize has at most 64 bits on every target of this crate.
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn text_and_digest_agree() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Digest::of(b"").to_string(), empty);
        assert_eq!(empty.parse::<Digest>().unwrap(), Digest::of(b""));
    }

    #[test]
    fn only_the_one_form_is_read() {
        let text = Digest::of(b"x").to_string();
        for other in [
            text.to_uppercase(),
            text[1..].to_owned(),
            format!("{text}0"),
            format!("0x{}", &text[2..]),
            format!("{}é", &text[2..]),
            String::new(),
        ] {
            assert_eq!(other.parse::<Digest>(), Err(InvalidDigest), "{other}");
        }
    }

    #[test]
    fn pieces_are_the_whole() {
        let (mut pieces, mut fields) = (PieceHasher::default(), FieldHasher::new("test"));
        fields.begin("a", 3);
        for piece in ["x", "", "yz"] {
            pieces.piece(piece.as_bytes());
            fields.piece(piece.as_bytes());
        }
        assert_eq!(pieces.finish(), Digest::of(b"xyz"));
        let mut whole = FieldHasher::new("test");
        whole.field("a", b"xyz");
        assert_eq!(fields.finish(), whole.finish());
    }

    #[test]
    fn fields_do_not_run_together() {
        let digest = |fields: &[(&str, &str)]| {
            let mut hasher = FieldHasher::new("test");
            for (label, value) in fields {
                hasher.field(label, value.as_bytes());
            }
            hasher.finish()
        };
        assert_ne!(digest(&[("a", "bc")]), digest(&[("ab", "c")]));
        assert_ne!(digest(&[("a", "b"), ("c", "")]), digest(&[("a", "bc"), ("", "")]));
        assert_ne!(digest(&[("a", "")]), digest(&[]));
    }
}
