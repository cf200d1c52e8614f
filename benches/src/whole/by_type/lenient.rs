//! What a field of real events holds, or nothing where it holds something of another kind: one odd field of an event must not
//! cost the rest of it, and `Option` is about null alone.
//!
//! `Text` is a type of its own for another reason as well: an `Option<Cow<str>>` never borrows.

use std::borrow::Cow;
use std::fmt::{self, Formatter};
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A string, borrowed from the event where it has no escapes.
#[derive(Default)]
pub(crate) struct Text<'a>(Option<Cow<'a, str>>);

/// An object.
pub(crate) struct Object<T>(Option<T>);

/// The elements of an array.
pub(crate) struct List<T>(pub(crate) Vec<T>);

impl Text<'_> {
    pub(crate) fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }

    pub(crate) fn is(&self, text: &str) -> bool {
        self.get() == Some(text)
    }
}

impl<T> Object<T> {
    pub(crate) fn get(&self) -> Option<&T> {
        self.0.as_ref()
    }
}

impl<T> List<Object<T>> {
    /// Those elements that are objects.
    pub(crate) fn objects(&self) -> impl Iterator<Item = &T> {
        self.0.iter().filter_map(Object::get)
    }
}

impl<T> Default for Object<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// What is of another kind gives the default.
macro_rules! passed_by {
    (array) => {
        fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
            while elements.next_element::<IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
    (object) => {
        fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
            while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
    (string) => {
        fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
    };
    (rest) => {
        fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
            f.write_str("any JSON")
        }

        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }
    };
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Text(Some(Cow::Borrowed(text))))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Text(Some(Cow::Owned(text.to_owned()))))
    }

    passed_by!(array);
    passed_by!(object);
    passed_by!(rest);
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(entries)).map(|found| Object(Some(found)))
    }

    passed_by!(array);
    passed_by!(string);
    passed_by!(rest);
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ObjectVisitor(PhantomData))
    }
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = List<T>;

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut found = Vec::new();
        while let Some(element) = elements.next_element()? {
            found.push(element);
        }
        Ok(List(found))
    }

    passed_by!(object);
    passed_by!(string);
    passed_by!(rest);
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListVisitor(PhantomData))
    }
}
