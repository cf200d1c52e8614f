//! Documents in TOML, with the place of what is wrong.

use serde::de::DeserializeOwned;

use crate::diagnostics::untrusted::sanitize;
use crate::diagnostics::wording::expected_first;

/// How much of a message is kept, in characters.
const MESSAGE_CHARS: usize = 400;

/// Why a text isn't TOML of the shape that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TomlError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What was expected and what was found, after the path to it, like `limits.deadline_ms`.
    pub message: String,
}

/// Reads a document.
///
/// # Errors
/// [`TomlError`] for the first thing that is wrong.
pub(crate) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, TomlError> {
    let refused = |error: &toml::de::Error, key: &str| {
        let (line, column) = position(text, error.span().map_or(0, |span| span.start));
        let said = match error.message() {
            "duplicate key" => {
                let found = error.span().and_then(|span| text.get(span)).unwrap_or("one");
                format!("expected each key once, found `{found}` a second time")
            }
            said => expected_first(said),
        };
        TomlError { line, column, message: sanitize(&format!("{key}{said}"), MESSAGE_CHARS) }
    };
    let document = toml::Deserializer::parse(text).map_err(|error| refused(&error, ""))?;
    serde_path_to_error::deserialize(document).map_err(|error| {
        let key = Some(error.path().to_string()).filter(|key| key != ".");
        let key = key.map(|key| format!("{key}: ")).unwrap_or_default();
        refused(error.inner(), &key)
    })
}

/// Line and column of an offset, from 1.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}
