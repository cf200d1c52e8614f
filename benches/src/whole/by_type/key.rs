//! A value as ids and templates have it.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::graph::Scalar;

/// A value, and its text if it is a string, a number or a boolean.
#[derive(Default)]
pub(crate) struct Key<'a> {
    json: Option<&'a RawValue>,
    text: Option<Cow<'a, str>>,
}

impl Key<'_> {
    pub(crate) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    pub(crate) fn json(&self) -> Option<Scalar<'_>> {
        self.json.map(Scalar::Json)
    }

    /// As the id of a span, which isn't empty.
    pub(crate) fn span(&self) -> Option<&str> {
        self.text().filter(|text| !text.is_empty())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Option::<&RawValue>::deserialize(deserializer)?;
        Ok(Self { json, text: json.and_then(as_text) })
    }
}

fn as_text(value: &RawValue) -> Option<Cow<'_, str>> {
    let json = value.get();
    match json.as_bytes() {
        [b'"', inner @ .., b'"'] if !inner.contains(&b'\\') => {
            json.get(1..json.len() - 1).map(Cow::Borrowed)
        }
        [b'"', ..] => serde_json::from_str(json).ok().map(Cow::Owned),
        [b'{' | b'[', ..] => None,
        _ => Some(Cow::Borrowed(json)),
    }
}
