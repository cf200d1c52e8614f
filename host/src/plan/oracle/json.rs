//! An event, parsed, beside the text that it was parsed from: numbers in ids are text.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::query::Tree;
use crate::json::scan::MAX_DEPTH;

/// A value and its text.
pub(super) struct EventJson<'e> {
    pub(super) text: Cow<'e, str>,
    pub(super) data: EventData<'e>,
}

/// What a value is.
pub(super) enum EventData<'e> {
    Null,
    Boolean(bool),
    Number,
    String(String),
    Array(Vec<Rc<EventJson<'e>>>),
    /// Each key once, in the order in which they come first, with the last of its values.
    Object(Vec<(String, Rc<EventJson<'e>>)>),
}

impl<'e> EventJson<'e> {
    /// Reads what is known to be JSON, without white space around it.
    pub(super) fn read(text: &'e str) -> Result<Self, serde_json::Error> {
        let data = match text.as_bytes().first() {
            Some(b'{') => {
                let EventFields(fields) = serde_json::from_str(text)?;
                let mut object: Vec<(String, Rc<EventJson<'e>>)> = Vec::new();
                let mut places = HashMap::new();
                for (key, value) in fields {
                    let value = Rc::new(Self::read(value.get())?);
                    let place = *places.entry(key.clone()).or_insert(object.len());
                    match object.get_mut(place) {
                        Some((_, earlier)) => *earlier = value,
                        None => object.push((key, value)),
                    }
                }
                EventData::Object(object)
            }
            Some(b'[') => {
                let items: Vec<&RawValue> = serde_json::from_str(text)?;
                let items = items.into_iter().map(|item| Self::read(item.get()).map(Rc::new));
                EventData::Array(items.collect::<Result<_, _>>()?)
            }
            Some(b'"') => EventData::String(serde_json::from_str(text)?),
            Some(b't' | b'f') => EventData::Boolean(serde_json::from_str(text)?),
            Some(b'n') => EventData::Null,
            _ => EventData::Number,
        };
        Ok(Self { text: Cow::Borrowed(text), data })
    }

    /// An entry of an object, as an object.
    pub(super) fn entry(key: &str, value: &Rc<Self>) -> Self {
        let key_text = serde_json::Value::from(key).to_string();
        let text = format!(r#"{{"key":{key_text},"value":{}}}"#, value.text);
        let key = Self { text: Cow::Owned(key_text), data: EventData::String(key.to_owned()) };
        let fields = vec![("key".to_owned(), Rc::new(key)), ("value".to_owned(), Rc::clone(value))];
        Self { text: Cow::Owned(text), data: EventData::Object(fields) }
    }

    /// What an expression has made, around which there are so many levels; `None` where there are more than an event may have.
    pub(super) fn made(tree: &Tree, around: usize) -> Option<Self> {
        let inside = |tree: &Tree| Self::made(tree, around + 1).map(Rc::new);
        let nests = matches!(tree, Tree::Array(_) | Tree::Object(_));
        if nests && around >= MAX_DEPTH {
            return None;
        }
        let data = match tree {
            Tree::Null => EventData::Null,
            Tree::Boolean(truth) => EventData::Boolean(*truth),
            Tree::Number(_) => EventData::Number,
            Tree::Text(text) => EventData::String(text.clone()),
            Tree::Array(items) => {
                EventData::Array(items.iter().map(inside).collect::<Option<_>>()?)
            }
            Tree::Object(fields) => {
                let field = |(key, value): &(String, Tree)| Some((key.clone(), inside(value)?));
                EventData::Object(fields.iter().map(field).collect::<Option<_>>()?)
            }
        };
        Some(Self { text: Cow::Owned(tree.to_json()), data })
    }

    /// What an object has under this key.
    pub(super) fn field(&self, key: &str) -> Option<&Rc<Self>> {
        let EventData::Object(fields) = &self.data else { return None };
        fields.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// What represents the value in an id or in a template; `None` where it isn't a scalar.
    pub(super) fn scalar(&self) -> Option<String> {
        match &self.data {
            EventData::String(text) => Some(text.clone()),
            EventData::Boolean(_) | EventData::Number => Some(self.text.to_string()),
            EventData::Null | EventData::Array(_) | EventData::Object(_) => None,
        }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self.data, EventData::Null)
    }

    /// Whether it is something other than null, `false`, zero, and an empty string, array or
    /// object.
    pub(super) fn is_truthy(&self) -> bool {
        match &self.data {
            EventData::Null => false,
            EventData::Boolean(truth) => *truth,
            EventData::Number => !is_zero(&self.text),
            EventData::String(text) => !text.is_empty(),
            EventData::Array(items) => !items.is_empty(),
            EventData::Object(fields) => !fields.is_empty(),
        }
    }
}

/// Whether a JSON number is zero. Exactly: `1e-400`, which a double can't tell from zero, isn't.
fn is_zero(number: &str) -> bool {
    let mantissa = number.split(['e', 'E']).next().unwrap_or(number);
    !mantissa.bytes().any(|byte| (b'1'..=b'9').contains(&byte))
}

/// The fields of an object, all of them, in their order.
struct EventFields<'e>(Vec<(String, &'e RawValue)>);

impl<'de> Deserialize<'de> for EventFields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = EventFields<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(EventFields(fields))
    }
}
