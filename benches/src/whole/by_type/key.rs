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

impl<'a> Key<'a> {
    /// Its text, or its JSON if it has none.
    pub(crate) fn into_text(self) -> Option<Scalar<'a>> {
        match self.text {
            Some(Cow::Borrowed(text)) => Some(Scalar::Text(text)),
            Some(Cow::Owned(text)) => Some(Scalar::Made(text)),
            None => self.json.map(|json| Scalar::Text(json.get())),
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    pub(crate) fn json(&self) -> Option<Scalar<'_>> {
        self.json.map(Scalar::Json)
    }

    pub(crate) fn is_null(&self) -> bool {
        self.json.is_none()
    }

    /// The JSON text of it.
    pub(crate) fn raw(&self) -> Option<&str> {
        self.json.map(RawValue::get)
    }

    /// Whether both are the same JSON, however their strings are written.
    pub(crate) fn is_same(&self, other: &Key<'_>) -> bool {
        let is_string = |key: &Key<'_>| key.raw().is_some_and(|it| it.starts_with('"'));
        let are_strings = is_string(self) && is_string(other);
        self.raw() == other.raw() || (are_strings && self.text == other.text)
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
