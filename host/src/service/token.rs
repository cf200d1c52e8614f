//! Bearer tokens, of which nothing but hashes is known here.

use axum::http::{HeaderMap, header};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};

/// The SHA-256 of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct TokenHash([u8; 32]);

impl TryFrom<String> for TokenHash {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        // What is wrong isn't quoted: it may be the token itself.
        let refused =
            "expected the SHA-256 of a token, 64 hexadecimal digits, found something else";
        let digits = text.as_bytes();
        let mut hash = [0; 32];
        if digits.len() != 64 {
            return Err(refused);
        }
        for (byte, pair) in hash.iter_mut().zip(digits.chunks(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| refused)?;
            if !pair.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                return Err(refused);
            }
            *byte = u8::from_str_radix(pair, 16).map_err(|_| refused)?;
        }
        Ok(Self(hash))
    }
}

/// A hash that no token is known to have, for whoever has none: what isn't there takes as long to compare with as what is.
const NOBODY: [TokenHash; 1] = [TokenHash([0; 32])];

/// The hash of the token that a request brings.
pub(super) fn brought(headers: &HeaderMap) -> Option<TokenHash> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let (scheme, token) = value.as_bytes().split_at_checked(7)?;
    let token = token.trim_ascii();
    let is_bearer = scheme.eq_ignore_ascii_case(b"bearer ") && !token.is_empty();
    is_bearer.then(|| TokenHash(Sha256::digest(token).into()))
}

/// Whether the token is one of `known`, in a time that doesn't depend on what differs.
pub(super) fn is_one_of(brought: Option<TokenHash>, known: Option<&[TokenHash]>) -> bool {
    let hash = brought.unwrap_or(TokenHash([0xff; 32]));
    let compared = known.filter(|known| !known.is_empty()).unwrap_or(&NOBODY);
    let found = compared.iter().fold(Choice::from(0), |found, one| found | one.0.ct_eq(&hash.0));
    // Both of these are known before anything is compared.
    bool::from(found) && brought.is_some() && known.is_some()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use axum::http::HeaderValue;

    use super::*;

    fn hash(token: &[u8]) -> TokenHash {
        TokenHash(Sha256::digest(token).into())
    }

    fn headers(value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(header::AUTHORIZATION, HeaderValue::from_static(value))])
    }

    #[test]
    fn a_token_is_known_by_its_hash_alone() {
        let known = [hash(b"one"), hash(b"two")];
        for (value, is_known) in [
            ("Bearer one", true),
            ("bearer two", true),
            ("Bearer  two ", true),
            ("Bearer three", false),
            ("Bearer ", false),
            ("Bearer", false),
            ("Basic one", false),
            ("", false),
        ] {
            let brought = brought(&headers(value));
            assert_eq!(is_one_of(brought, Some(&known)), is_known, "{value:?}");
            assert!(!is_one_of(brought, None) && !is_one_of(brought, Some(&[])), "{value:?}");
        }
        let mut twice = headers("Bearer one");
        twice.append(header::AUTHORIZATION, HeaderValue::from_static("Bearer one"));
        assert_eq!(brought(&twice), None);
        // The hashes that stand for nobody are nobody's.
        for nobody in [TokenHash([0; 32]), TokenHash([0xff; 32])] {
            assert!(!is_one_of(Some(nobody), None) && !is_one_of(None, Some(&[nobody])));
        }
    }

    #[test]
    fn a_hash_is_64_digits() {
        let digits = "ab".repeat(32);
        assert_eq!(TokenHash::try_from(digits.to_uppercase()).unwrap(), TokenHash([0xab; 32]));
        for wrong in [&digits[1..], &format!("{digits}0"), &"+1".repeat(32), &"é".repeat(32), ""] {
            assert!(TokenHash::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }
}
