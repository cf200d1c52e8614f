//! JSON in strings: what a text holds that is JSON itself.

use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::Path;
use super::observe::{SampleEvents, Seen};

/// How long a text may be that is looked into, in bytes.
const MAX_BYTES: usize = 64 << 10;

/// The object or array that a text holds as JSON; `None` where it holds none, or is too long.
pub(crate) fn json_in(text: &str) -> Option<Value> {
    let may_be = text.len() <= MAX_BYTES && text.trim_start().starts_with(['{', '[']);
    may_be.then(|| serde_json::from_str(text).ok()).flatten()
}

impl SampleEvents {
    /// Values that were found somewhere, as samples of their own: what occurs in them.
    #[must_use]
    pub(crate) fn of_values(values: impl IntoIterator<Item = Value>) -> Self {
        let seen = values.into_iter().map(|value| Seen {
            line: 0,
            bytes: 0,
            event: Arc::new(value),
            outer: Vec::new(),
            shown: None,
            root: Path::new(),
            text: OnceLock::new(),
        });
        Self::of_elements(seen)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::json_in;

    #[test]
    fn objects_and_arrays_are_found_in_texts() {
        for (text, found) in [
            (r#" {"a":1}"#, Some(json!({"a": 1}))),
            ("[1]\n", Some(json!([1]))),
            ("{}", Some(json!({}))),
            ("[ ]", Some(json!([]))),
            ("1", None),
            (r#""{\"a\":1}""#, None),
            ("{a:1}", None),
            (r#"{"a":1} trailing"#, None),
            ("", None),
        ] {
            assert_eq!(json_in(text), found, "{text}");
        }
        let long = format!("[\"{}\"]", "a".repeat(64 << 10));
        assert_eq!(json_in(&long), None);
    }
}
