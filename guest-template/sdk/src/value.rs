//! The value of an input.

use alloc::borrow::Cow;
use core::fmt;

use crate::from_json::FromJson;
use crate::json::{JsonError, Reader};
use crate::json_tree::Json;
use crate::number;
use crate::scan;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// There is none: the event hasn't it, a conversion failed, or its `if` doesn't hold.
    Absent,
    /// Null.
    Null,
    /// True or false.
    Bool,
    /// A number, in the digits of the event.
    Number,
    /// A string.
    String,
    /// An object.
    Object,
    /// An array.
    Array,
    /// An object or array that a policy withholds. To be treated as absent.
    Denied = 8,
}

impl Kind {
    /// The kind that a record of the block has; a column has none.
    #[inline]
    pub(crate) const fn of_record(kind: u32) -> Self {
        match kind {
            1 => Self::Null,
            2 => Self::Bool,
            3 => Self::Number,
            4 => Self::String,
            5 => Self::Object,
            6 => Self::Array,
            8 => Self::Denied,
            _ => Self::Absent,
        }
    }

    /// The kind of a value of JSON, by its first byte.
    pub(crate) fn of_text(text: &str) -> Self {
        match text.as_bytes().first() {
            None => Self::Absent,
            Some(b'n') => Self::Null,
            Some(b't' | b'f') => Self::Bool,
            Some(b'"') => Self::String,
            Some(b'{') => Self::Object,
            Some(b'[') => Self::Array,
            Some(_) => Self::Number,
        }
    }
}

/// Whether a record of this kind has a value that isn't null.
#[inline]
pub(crate) fn is_some(kind: u32) -> bool {
    const SOME: core::ops::RangeInclusive<u32> = Kind::Bool as u32..=Kind::Array as u32;
    SOME.contains(&kind)
}

/// A value of an event: an input, or something within one. It is a piece of text, and copied at no cost.
#[derive(Clone, Copy)]
pub struct Value<'a> {
    /// As a record of the block has it: most values are handed on without a look at it.
    kind: u32,
    text: &'a str,
}

impl<'a> Value<'a> {
    /// No value.
    pub const ABSENT: Self = Self { kind: Kind::Absent as u32, text: "" };

    #[cfg_attr(
        target_family = "wasm",
        allow(unsafe_code, reason = "the host vouches for the text")
    )]
    #[inline]
    pub(crate) fn of_record(kind: u32, text: &'a [u8]) -> Self {
        #[cfg(target_family = "wasm")]
        // SAFETY: texts of a block are JSON in UTF-8: the host has validated the event they come from.
        let text = unsafe { core::str::from_utf8_unchecked(text) };
        #[cfg(not(target_family = "wasm"))]
        let text = core::str::from_utf8(text).unwrap_or_default();
        Self { kind, text }
    }

    /// A value of a text that is JSON, without white space around it.
    pub(crate) fn of_text(text: &'a str) -> Self {
        Self { kind: Kind::of_text(text) as u32, text }
    }

    /// What it is.
    #[must_use]
    #[inline]
    pub fn kind(self) -> Kind {
        Kind::of_record(self.kind)
    }

    /// What it is, as a record of the block has it.
    #[inline]
    pub(crate) fn record_kind(self) -> u32 {
        self.kind
    }

    #[inline]
    fn is(self, kind: Kind) -> bool {
        self.kind == kind as u32
    }

    /// Whether there is no such value, be it that a policy withholds it.
    #[must_use]
    pub fn is_absent(self) -> bool {
        matches!(self.kind(), Kind::Absent | Kind::Denied)
    }

    /// Whether it is null.
    #[must_use]
    pub fn is_null(self) -> bool {
        self.is(Kind::Null)
    }

    /// Whether a policy withholds it.
    #[must_use]
    pub fn is_denied(self) -> bool {
        self.is(Kind::Denied)
    }

    /// Whether it is there and not null.
    #[must_use]
    #[inline]
    pub fn is_some(self) -> bool {
        is_some(self.kind)
    }

    /// Whether it is a string, a number or a boolean.
    #[must_use]
    pub fn is_scalar(self) -> bool {
        matches!(self.kind(), Kind::Bool | Kind::Number | Kind::String)
    }

    /// Whether it is `true`: what an input `truthy` or `when` is where that holds.
    #[must_use]
    #[inline]
    pub fn is_true(self) -> bool {
        self.is(Kind::Bool) && self.text.len() == "true".len()
    }

    /// It as JSON, as the event has it; empty where there is none.
    #[must_use]
    #[inline]
    pub fn raw(self) -> &'a str {
        self.text
    }

    /// What is between a string's quotes.
    #[inline]
    pub(crate) fn quoted(self) -> &'a str {
        self.text.get(1..self.text.len().wrapping_sub(1)).unwrap_or_default()
    }

    /// A string's content.
    #[must_use]
    pub fn str(self) -> Option<Cow<'a, str>> {
        if !self.is(Kind::String) {
            return None;
        }
        let quoted = self.quoted();
        if scan::plain(quoted.as_bytes()) == quoted.len() {
            return Some(Cow::Borrowed(quoted));
        }
        Reader::new(self.text).string().ok()
    }

    /// The text of a string, a number or a boolean.
    #[must_use]
    pub fn text(self) -> Option<Cow<'a, str>> {
        match self.kind() {
            Kind::String => self.str(),
            Kind::Number | Kind::Bool => Some(Cow::Borrowed(self.text)),
            _ => None,
        }
    }

    /// A boolean.
    #[must_use]
    pub fn bool(self) -> Option<bool> {
        self.is(Kind::Bool).then(|| self.is_true())
    }

    /// A number that is whole and in this range. `1.0` and `1e3` are whole.
    #[must_use]
    pub fn i64(self) -> Option<i64> {
        self.number().and_then(number::to_i64)
    }

    /// A number that is whole and in this range.
    #[must_use]
    pub fn u64(self) -> Option<u64> {
        self.number().and_then(number::to_u64)
    }

    /// A number, to the nearest double.
    #[must_use]
    pub fn f64(self) -> Option<f64> {
        self.number().and_then(number::to_f64)
    }

    /// A number, in the digits of the event.
    #[must_use]
    pub fn number(self) -> Option<&'a str> {
        self.is(Kind::Number).then_some(self.text)
    }

    /// The value as any type that can be read from JSON. An absent value is an error, but for an `Option`.
    ///
    /// # Errors
    /// Where the value isn't what the type expects.
    pub fn parse<T: FromJson>(self) -> Result<T, JsonError> {
        if self.is_absent() {
            return T::absent().ok_or_else(JsonError::absent);
        }
        Reader::new(self.text).whole()
    }

    /// The value as a tree; an absent one is null.
    #[must_use]
    pub fn json(self) -> Json {
        self.parse().unwrap_or_default()
    }

    /// The value as any type that serde can read.
    ///
    /// # Errors
    /// Where the value isn't what the type expects. An absent one is as null.
    #[cfg(feature = "serde")]
    pub fn deserialize<T: serde::Deserialize<'a>>(self) -> Result<T, serde_json::Error> {
        serde_json::from_str(if self.is_absent() { "null" } else { self.text })
    }

    /// What an object has at this key: the last one, where it is there more than once.
    #[must_use]
    pub fn get(self, key: &str) -> Value<'a> {
        self.entries().filter(|(found, _)| found == key).last().map_or(Self::ABSENT, |it| it.1)
    }

    /// An array's element.
    #[must_use]
    pub fn at(self, index: usize) -> Value<'a> {
        self.items().nth(index).unwrap_or(Self::ABSENT)
    }

    /// The elements of an array; of anything else, none.
    pub fn items(self) -> impl Iterator<Item = Value<'a>> + Clone + use<'a> {
        let mut reader = self.is(Kind::Array).then(|| Reader::new(self.text));
        let mut first = true;
        core::iter::from_fn(move || {
            let reader = reader.as_mut()?;
            if !reader.has_next(b'[', b']', core::mem::take(&mut first)).ok()? {
                return None;
            }
            Some(Value::of_text(reader.skip().ok()?))
        })
    }

    /// The keys and values of an object, in its order; of anything else, none.
    pub fn entries(self) -> impl Iterator<Item = (Cow<'a, str>, Value<'a>)> + Clone + use<'a> {
        let mut reader = self.is(Kind::Object).then(|| Reader::new(self.text));
        let mut first = true;
        core::iter::from_fn(move || {
            let reader = reader.as_mut()?;
            if !reader.has_next(b'{', b'}', core::mem::take(&mut first)).ok()? {
                return None;
            }
            let key = reader.key().ok()?;
            Some((key, Value::of_text(reader.skip().ok()?)))
        })
    }
}

impl Default for Value<'_> {
    fn default() -> Self {
        Self::ABSENT
    }
}

impl fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            Kind::Absent => f.write_str("absent"),
            Kind::Denied => f.write_str("denied"),
            _ => f.write_str(self.text),
        }
    }
}

impl Value<'_> {
    /// Whether it is this string, in which there is nothing to escape.
    #[inline]
    fn is_plain(self, other: &str) -> bool {
        if !self.is(Kind::String) {
            return false;
        }
        let length = self.text.len().wrapping_sub(2);
        if length == other.len() {
            return self.quoted() == other;
        }
        // What is escaped is longer than what it stands for.
        length > other.len() && self.is_escaped(other)
    }

    #[inline(never)]
    fn is_escaped(self, other: &str) -> bool {
        self.str().is_some_and(|text| text == other)
    }
}

/// Whether it is this string.
impl PartialEq<str> for Value<'_> {
    #[inline(always)]
    fn eq(&self, other: &str) -> bool {
        // Of a literal it is known whether there is anything to escape.
        if scan::is_plain_name(other) { self.is_plain(other) } else { self.is_escaped(other) }
    }
}

impl PartialEq<&str> for Value<'_> {
    #[inline(always)]
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}
