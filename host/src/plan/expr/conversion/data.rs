//! Values on their way through a chain.

use std::borrow::Cow;
use std::ops::Range;

use crate::json::string;
use crate::plan::expr::JsonType;

/// The JSON of a value: valid, without white space around it, strings in their quotes and possibly with escapes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Json<'e> {
    pub(crate) text: &'e str,
    /// Whether it may be a string with escapes.
    pub(crate) may_escape: bool,
}

impl<'e> From<&'e str> for Json<'e> {
    /// Of which nothing else is known.
    fn from(text: &'e str) -> Self {
        Self { text, may_escape: true }
    }
}

/// A value other than null. Borrowed from the event as long as nothing has to be rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Data<'t> {
    /// A string's text, its escapes resolved.
    String(Cow<'t, str>),
    /// A number, in the digits of the event.
    Number(Cow<'t, str>),
    /// A boolean.
    Boolean(bool),
    /// The JSON of an object.
    Object(Cow<'t, str>),
    /// The JSON of an array.
    Array(Cow<'t, str>),
}

/// What a step gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StepOutcome<'t> {
    /// A value.
    There(Data<'t>),
    /// No value, and nothing wrong with that.
    Absent,
    /// No value, because this one isn't what the step takes.
    Failed,
}

impl<'t> StepOutcome<'t> {
    /// What JSON says. Of text that isn't JSON this finds out no more than it needs: it has failed, or is a value that
    /// conversions fail on.
    pub(crate) fn read(json: impl Into<Cow<'t, str>>) -> Self {
        let json = json.into();
        match json.as_bytes().first() {
            Some(b'"') => text(json).map(Data::String).into(),
            Some(b'{') => Self::There(Data::Object(json)),
            Some(b'[') => Self::There(Data::Array(json)),
            Some(b't') => Self::There(Data::Boolean(true)),
            Some(b'f') => Self::There(Data::Boolean(false)),
            Some(b'n') => Self::Absent,
            Some(b'-' | b'0'..=b'9') => Self::There(Data::Number(json)),
            _ => Self::Failed,
        }
    }

    /// The same of JSON of which it may be known that no string in it is escaped, so that it needn't be searched for that.
    pub(crate) fn read_from(json: Json<'t>) -> Self {
        let inside = json.text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        match inside {
            Some(inside) if !json.may_escape => Self::There(Data::String(inside.into())),
            _ => Self::read(json.text),
        }
    }
}

impl<'t> From<Option<Data<'t>>> for StepOutcome<'t> {
    /// No data means that the step has failed.
    fn from(data: Option<Data<'t>>) -> Self {
        data.map_or(Self::Failed, Self::There)
    }
}

impl Data<'_> {
    /// The bytes that a step is charged for.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::String(text) | Self::Number(text) | Self::Object(text) | Self::Array(text) => {
                text.len()
            }
            Self::Boolean(_) => 1,
        }
    }

    /// The type of JSON.
    pub(crate) fn json_type(&self) -> JsonType {
        match self {
            Self::String(_) => JsonType::String,
            Self::Number(_) => JsonType::Number,
            Self::Boolean(_) => JsonType::Boolean,
            Self::Object(_) => JsonType::Object,
            Self::Array(_) => JsonType::Array,
        }
    }

    /// Appends its JSON: a string canonical, everything else as it is.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::String(text) => string::push_string(out, text),
            Self::Number(json) | Self::Object(json) | Self::Array(json) => {
                out.extend_from_slice(json.as_bytes());
            }
            Self::Boolean(true) => out.extend_from_slice(b"true"),
            Self::Boolean(false) => out.extend_from_slice(b"false"),
        }
    }
}

/// The text of a JSON string; none where it isn't one.
fn text(json: Cow<'_, str>) -> Option<Cow<'_, str>> {
    let content = 1..json.len().checked_sub(1)?;
    if memchr::memchr(b'\\', json.as_bytes()).is_some() {
        return string::unescape(json.get(content)?).map(Cow::Owned);
    }
    part(json, content)
}

/// A part of a text, without a copy where it is borrowed; none where the range isn't one of whole characters.
pub(crate) fn part(text: Cow<'_, str>, range: Range<usize>) -> Option<Cow<'_, str>> {
    match text {
        Cow::Borrowed(text) => text.get(range).map(Cow::Borrowed),
        Cow::Owned(mut text) => {
            text.get(range.clone())?;
            text.truncate(range.end);
            text.drain(..range.start);
            Some(Cow::Owned(text))
        }
    }
}
