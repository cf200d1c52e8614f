//! What a document holds at a path, for messages: looked up without a tree of the rest.

use std::fmt;

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_path_to_error::Segment;

use crate::diagnostics::untrusted::quoted;

/// Follows a path to what it leads to, and describes that. Ends in an error once it is known: the rest isn't read.
pub(super) struct Finder<'a> {
    path: &'a [Segment],
    found: &'a mut Option<String>,
}

impl<'a> Finder<'a> {
    pub(super) fn new(path: &'a [Segment], found: &'a mut Option<String>) -> Self {
        Self { path, found }
    }

    fn note<E: Error>(self, found: String) -> Result<(), E> {
        if self.path.is_empty() {
            *self.found = Some(found);
        }
        Err(E::custom("nothing more is looked for"))
    }
}

impl<'de> DeserializeSeed<'de> for Finder<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Finder<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.note("null".to_owned())
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.note(format!("boolean {value}"))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.note(format!("number {value}"))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.note(format!("number {value}"))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.note(format!("number {value}"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.note(format!("string {}", quoted(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let Some((Segment::Seq { index }, rest)) = self.path.split_first() else {
            return self.note("a list".to_owned());
        };
        for _ in 0..*index {
            if elements.next_element::<IgnoredAny>()?.is_none() {
                break;
            }
        }
        elements.next_element_seed(Finder { path: rest, found: self.found }).map(|_| ())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let Some((Segment::Map { key: wanted }, rest)) = self.path.split_first() else {
            return self.note("an object".to_owned());
        };
        while let Some(Key(key)) = entries.next_key()? {
            if key == *wanted {
                return entries.next_value_seed(Finder { path: rest, found: self.found });
            }
            entries.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

/// A key, as the readers of documents take it.
#[derive(Deserialize)]
struct Key(String);
