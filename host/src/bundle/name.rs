//! The name of an extractor, of which bundles are the versions.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::names::MAX_NAME_BYTES;
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::diagnostics::untrusted::sanitize;

/// The name of an extractor: letters, digits, `_`, `.` and `-` of ASCII, the first of them none of the last two, 200 at most.
///
/// Each name of a function is one, and stands for a bundle that was given no other. A name is never taken for a path, and has no
/// `@`, which stands before a version.
///
/// # Example
/// ```
/// use retort::bundle::ExtractorName;
///
/// let name: ExtractorName = "shop.orders-2".parse()?;
/// assert_eq!(name.as_str(), "shop.orders-2");
/// assert!("../orders".parse::<ExtractorName>().is_err());
/// # Ok::<(), retort::bundle::InvalidName>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ExtractorName(String);

/// The text is not a name of an extractor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a name of at most {MAX_NAME_BYTES} letters, digits, `_`, `.` and `-` of ASCII that begins with none of the last two, found `{found}`"
)]
pub struct InvalidName {
    found: String,
}

impl Coded for InvalidName {
    fn entry(&self) -> Code {
        codes::NAME_INVALID
    }
}

impl ExtractorName {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of what was given none, by the function's name that a manifest was found to hold: each of those is a name.
    pub(super) fn of_function(function: &str) -> Self {
        Self(function.to_owned())
    }
}

/// Whether it is a name.
pub(super) fn is_extractor_name(name: &str) -> bool {
    let is_of_word = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
    name.len() <= MAX_NAME_BYTES
        && name.bytes().next().is_some_and(is_of_word)
        && name.bytes().all(|byte| is_of_word(byte) || matches!(byte, b'.' | b'-'))
}

impl FromStr for ExtractorName {
    type Err = InvalidName;

    /// # Errors
    /// [`InvalidName`] for what isn't a name.
    fn from_str(name: &str) -> Result<Self, InvalidName> {
        Self::try_from(name.to_owned())
    }
}

impl TryFrom<String> for ExtractorName {
    type Error = InvalidName;

    fn try_from(name: String) -> Result<Self, InvalidName> {
        match is_extractor_name(&name) {
            true => Ok(Self(name)),
            false => Err(InvalidName { found: sanitize(&name, 120) }),
        }
    }
}

impl From<ExtractorName> for String {
    fn from(name: ExtractorName) -> Self {
        name.0
    }
}

impl fmt::Display for ExtractorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::names::is_function_name;

    #[test]
    fn names_are_words_with_dots_and_dashes() {
        for name in
            ["a", "_", "9", "fn", "read_order", "shop.orders-2", &"a".repeat(MAX_NAME_BYTES)]
        {
            assert!(name.parse::<ExtractorName>().is_ok(), "{name}");
        }
        let long = "a".repeat(MAX_NAME_BYTES + 1);
        for name in ["", ".", "..", "-a", ".a", "a/b", "a@b", "a b", "a\n", "été", "a\0", &long] {
            let error = name.parse::<ExtractorName>();
            assert_eq!(error.map_err(|it| it.code()), Err("name_invalid"), "{name:?}");
        }
    }

    #[test]
    fn names_of_functions_are_names() {
        for name in ["extract_order", "_", "A9", &"a".repeat(MAX_NAME_BYTES)] {
            assert!(is_function_name(name) && is_extractor_name(name), "{name}");
        }
    }
}
