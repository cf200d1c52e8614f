//! A name that no code has.

use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::{Code, all, lookup};
use crate::diagnostics::nearest::nearest;
use crate::diagnostics::untrusted::sanitize;

/// How much of the name is repeated, in characters.
const NAME_CHARS: usize = 80;

/// There is no code of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no code `{found}`{}", did_you_mean(*nearest))]
pub struct UnknownCode {
    /// The name, made safe to print.
    found: String,
    /// The code that is most like it, if one is like enough.
    nearest: Option<&'static str>,
}

fn did_you_mean(nearest: Option<&str>) -> String {
    match nearest {
        Some(nearest) => format!(": did you mean `{nearest}`?"),
        None => ": `retort explain --list` prints all of them".to_owned(),
    }
}

impl FromStr for Code {
    type Err = UnknownCode;

    /// # Errors
    /// [`UnknownCode`], with the nearest one there is.
    fn from_str(name: &str) -> Result<Self, UnknownCode> {
        lookup(name).copied().ok_or_else(|| UnknownCode {
            found: sanitize(name, NAME_CHARS),
            nearest: nearest(name, all().map(|code| code.name)),
        })
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use crate::diagnostics::codes::Code;

    #[test]
    fn codes_are_read_by_their_names_and_others_refused_with_the_nearest() {
        let read = serde_json::from_str::<Code>;
        assert_eq!(read("\"out_of_fuel\"").expect("a code"), "out_of_fuel");
        let error = read("\"out_of_full\"").expect_err("no code").to_string();
        assert!(error.starts_with("no code `out_of_full`: did you mean `out_of_fuel`?"), "{error}");
        let error = "\u{1b}[2J".repeat(500).parse::<Code>().expect_err("no code").to_string();
        assert!(!error.contains('\u{1b}') && error.len() < 500, "{error}");
    }
}
