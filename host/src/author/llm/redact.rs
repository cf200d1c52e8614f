//! Keys, taken out of text that is shown or stored.

use std::borrow::Cow;

use secrecy::{ExposeSecret, SecretString};

/// What stands where a key was.
pub(super) const REDACTED: &str = "[redacted]";

/// What is shorter is a placeholder, such as local services want, and may be a part of any word.
const MIN_BYTES: usize = 8;

/// How the names of environment variables end that hold keys.
const VARIABLES: &[&str] = &["_API_KEY", "_ACCESS_KEY", "_SECRET", "_TOKEN"];

/// Keys that must not be shown or stored.
///
/// # Example
/// ```
/// use retort::author::llm::Secrets;
///
/// let secrets = Secrets::default().with("sk-0123456789".into());
/// assert_eq!(secrets.redact("no such key: sk-0123456789"), "no such key: [redacted]");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Secrets(Vec<SecretString>);

impl Secrets {
    /// The values of all environment variables whose names end in `_API_KEY`, `_ACCESS_KEY`, `_SECRET` or `_TOKEN`.
    #[must_use]
    pub fn of_environment() -> Self {
        let mut secrets = Self::default();
        for (name, value) in std::env::vars_os() {
            let Some(name) = name.to_str() else { continue };
            if VARIABLES.iter().any(|ending| name.ends_with(ending))
                && let Ok(value) = value.into_string()
            {
                secrets = secrets.with(value.into());
            }
        }
        secrets
    }

    /// These and one more. A key of fewer than 8 bytes is none.
    #[must_use]
    pub fn with(mut self, key: SecretString) -> Self {
        if key.expose_secret().len() >= MIN_BYTES {
            self.0.push(key);
            // The longest first: a key may hold another one.
            self.0.sort_by_key(|key| std::cmp::Reverse(key.expose_secret().len()));
        }
        self
    }

    /// `text` with `[redacted]` in the place of every key, as it is or as JSON spells it.
    #[must_use]
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for key in &self.0 {
            let key = key.expose_secret();
            let spelled = serde_json::Value::from(key).to_string();
            for key in [key, spelled.trim_matches('"')] {
                if text.contains(key) {
                    text = Cow::Owned(text.replace(key, REDACTED));
                }
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_of_two_keys_goes_first() {
        let secrets = Secrets::default().with("abcdefgh".into()).with("abcdefgh-ijk".into());
        assert_eq!(secrets.redact("abcdefgh-ijk abcdefgh"), "[redacted] [redacted]");
    }

    #[test]
    fn a_key_is_found_as_json_spells_it() {
        let secrets = Secrets::default().with(r#"ab"cd\efgh"#.into());
        assert_eq!(secrets.redact(r#"{"key": "ab\"cd\\efgh"}"#), r#"{"key": "[redacted]"}"#);
    }

    #[test]
    fn placeholders_and_other_text_stay() {
        let secrets = Secrets::default().with("none".into()).with("".into());
        assert!(matches!(secrets.redact("none of it"), Cow::Borrowed("none of it")));
    }

    #[test]
    fn no_key_is_shown() {
        let secrets = Secrets::default().with("sk-0123456789".into());
        assert!(!format!("{secrets:?}").contains("0123"));
    }
}
