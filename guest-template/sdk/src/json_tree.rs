//! JSON as a tree.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Index;

use crate::from_json::FromJson;
use crate::json::{JsonError, Reader};
use crate::number;

/// A value of JSON. Numbers keep their digits, objects their order; of equal keys the last one counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Json {
    /// Null.
    #[default]
    Null,
    /// True or false.
    Bool(bool),
    /// A number.
    Number(JsonNumber),
    /// A string.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object.
    Object(Vec<(String, Json)>),
}

/// The digits of a number. It is made by reading one, or from a number of Rust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonNumber(pub(crate) String);

static NULL: Json = Json::Null;

impl Json {
    /// Reads a text.
    ///
    /// # Errors
    /// Where it isn't JSON, or nests more than 128 levels.
    pub fn parse(text: &str) -> Result<Self, JsonError> {
        Reader::new(text).whole()
    }

    /// What an object has at this key; null where there is nothing.
    #[must_use]
    pub fn get(&self, key: &str) -> &Self {
        self.entries().iter().rev().find(|entry| entry.0 == key).map_or(&NULL, |entry| &entry.1)
    }

    /// An array's element; null where there is none.
    #[must_use]
    pub fn at(&self, index: usize) -> &Self {
        self.items().get(index).unwrap_or(&NULL)
    }

    /// The elements of an array; of anything else, none.
    #[must_use]
    pub fn items(&self) -> &[Self] {
        if let Self::Array(items) = self { items } else { &[] }
    }

    /// The keys and values of an object; of anything else, none.
    #[must_use]
    pub fn entries(&self) -> &[(String, Self)] {
        if let Self::Object(entries) = self { entries } else { &[] }
    }

    /// Whether it is null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        *self == Self::Null
    }

    /// A string's content.
    #[must_use]
    pub fn str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// A boolean.
    #[must_use]
    pub fn bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// A number that is whole and in this range.
    #[must_use]
    pub fn i64(&self) -> Option<i64> {
        self.number().and_then(number::to_i64)
    }

    /// A number that is whole and in this range.
    #[must_use]
    pub fn u64(&self) -> Option<u64> {
        self.number().and_then(number::to_u64)
    }

    /// A number, to the nearest double.
    #[must_use]
    pub fn f64(&self) -> Option<f64> {
        self.number().and_then(number::to_f64)
    }

    /// A number's digits.
    #[must_use]
    pub fn number(&self) -> Option<&str> {
        if let Self::Number(number) = self { Some(&number.0) } else { None }
    }
}

impl Index<&str> for Json {
    type Output = Self;

    fn index(&self, key: &str) -> &Self {
        self.get(key)
    }
}

impl Index<usize> for Json {
    type Output = Self;

    fn index(&self, index: usize) -> &Self {
        self.at(index)
    }
}

impl FromJson for Json {
    fn from_json(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        Ok(match reader.peek() {
            Some(b'n') => reader.null().map(|()| Self::Null)?,
            Some(b't' | b'f') => Self::Bool(reader.bool()?),
            Some(b'"') => Self::String(reader.string()?.into()),
            Some(b'[') => Self::Array(FromJson::from_json(reader)?),
            Some(b'{') => {
                let mut entries = Vec::new();
                reader.object(|reader, key| {
                    entries.push((key.into_owned(), Self::from_json(reader)?));
                    Ok(())
                })?;
                Self::Object(entries)
            }
            _ => Self::Number(JsonNumber(reader.number()?.into())),
        })
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::String(text.into())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Json {
    fn from(number: i64) -> Self {
        Self::Number(JsonNumber(alloc::format!("{number}")))
    }
}

impl From<u64> for Json {
    fn from(number: u64) -> Self {
        Self::Number(JsonNumber(alloc::format!("{number}")))
    }
}

/// A number; null where it isn't finite.
impl From<f64> for Json {
    fn from(number: f64) -> Self {
        if number.is_finite() {
            Self::Number(JsonNumber(alloc::format!("{number:?}")))
        } else {
            Self::Null
        }
    }
}

impl<T: Into<Json>> From<Vec<T>> for Json {
    fn from(items: Vec<T>) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }
}
