//! What can be the value of a property, and what can be part of an id.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use crate::draft::KeyHead;
use crate::json_tree::Json;
use crate::list::Head;
use crate::out::Out;
use crate::value::{Kind, Value};

/// A value of a property.
pub trait Property {
    /// Writes it as JSON. `false` where there is no value, so that there is no property; then nothing is written.
    #[doc(hidden)]
    fn write(&self, out: &mut Out) -> bool;

    /// Ends a property with it.
    #[doc(hidden)]
    #[inline(always)]
    fn put(&self, head: Head<'_>) {
        head.value(self);
    }
}

/// A value that has a text: part of an id.
pub trait Scalar: Property {
    /// Writes its text, inside a string, and tells what has one. `None` where it isn't a string, a number or a boolean; then nothing
    /// is written.
    #[doc(hidden)]
    fn write_text(&self, out: &mut Out) -> Option<Quoted>;

    /// Ends a part of a key with it.
    #[doc(hidden)]
    #[inline(always)]
    fn put_key(&self, head: KeyHead<'_>) {
        head.value(self);
    }
}

/// Whether a text is JSON in quotes, or as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quoted {
    /// The text of a string.
    Yes,
    /// That of a number or a boolean.
    No,
}

/// Null as a value that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Null;

/// A value of the event that is written where it is null, too: [`Value::keep_null`].
#[derive(Clone, Copy, Debug)]
pub struct KeepNull<'a>(Value<'a>);

impl<'a> Value<'a> {
    /// The value as a property that null isn't left out of.
    #[must_use]
    pub fn keep_null(self) -> KeepNull<'a> {
        KeepNull(self)
    }
}

/// Absent and null are no value.
impl Property for Value<'_> {
    #[inline]
    fn write(&self, out: &mut Out) -> bool {
        if !self.is_some() {
            return false;
        }
        write_value(*self, out);
        true
    }

    #[inline(always)]
    fn put(&self, head: Head<'_>) {
        head.record(self.record_kind(), self.raw());
    }
}

fn write_value(value: Value<'_>, out: &mut Out) {
    match value.kind() {
        Kind::Array | Kind::Object => out.nested(value.raw()),
        _ => out.raw(value.raw()),
    }
}

impl Scalar for Value<'_> {
    #[inline(always)]
    fn put_key(&self, head: KeyHead<'_>) {
        head.record(self.record_kind(), self.raw());
    }

    #[inline]
    fn write_text(&self, out: &mut Out) -> Option<Quoted> {
        match self.kind() {
            Kind::Bool | Kind::Number => {
                out.raw(self.raw());
                Some(Quoted::No)
            }
            // What is between the quotes can stand in another string.
            Kind::String => {
                out.raw(self.quoted());
                Some(Quoted::Yes)
            }
            _ => None,
        }
    }
}

impl Property for KeepNull<'_> {
    #[inline]
    fn write(&self, out: &mut Out) -> bool {
        if self.0.is_absent() {
            return false;
        }
        write_value(self.0, out);
        true
    }
}

impl Property for Null {
    fn write(&self, out: &mut Out) -> bool {
        out.raw("null");
        true
    }
}

impl Property for bool {
    fn write(&self, out: &mut Out) -> bool {
        out.raw(if *self { "true" } else { "false" });
        true
    }
}

impl Scalar for bool {
    fn write_text(&self, out: &mut Out) -> Option<Quoted> {
        self.write(out).then_some(Quoted::No)
    }
}

/// Whole numbers, which are the same in a string.
macro_rules! whole {
    ($method:ident as $wide:ty: $($type:ty),*) => {$(
        impl Property for $type {
            fn write(&self, out: &mut Out) -> bool {
                out.$method(*self as $wide);
                true
            }
        }

        impl Scalar for $type {
            fn write_text(&self, out: &mut Out) -> Option<Quoted> {
                self.write(out).then_some(Quoted::No)
            }
        }
    )*};
}

whole!(signed as i64: i8, i16, i32, i64, isize);
whole!(unsigned as u64: u8, u16, u32, u64, usize);

/// What isn't finite is no value.
impl Property for f64 {
    fn write(&self, out: &mut Out) -> bool {
        // Digits and an exponent have nothing to be escaped; writing to a buffer can't fail.
        self.is_finite() && write!(out, "{self:?}").is_ok()
    }
}

impl Scalar for f64 {
    fn write_text(&self, out: &mut Out) -> Option<Quoted> {
        self.write(out).then_some(Quoted::No)
    }
}

impl Property for f32 {
    fn write(&self, out: &mut Out) -> bool {
        self.is_finite() && write!(out, "{self:?}").is_ok()
    }
}

impl Scalar for f32 {
    fn write_text(&self, out: &mut Out) -> Option<Quoted> {
        self.write(out).then_some(Quoted::No)
    }
}

impl Property for str {
    fn write(&self, out: &mut Out) -> bool {
        out.string(self);
        true
    }
}

impl Scalar for str {
    fn write_text(&self, out: &mut Out) -> Option<Quoted> {
        out.escaped(self);
        Some(Quoted::Yes)
    }
}

impl Property for char {
    fn write(&self, out: &mut Out) -> bool {
        self.encode_utf8(&mut [0; 4]).write(out)
    }
}

impl Scalar for char {
    fn write_text(&self, out: &mut Out) -> Option<Quoted> {
        self.encode_utf8(&mut [0; 4]).write_text(out)
    }
}

/// What is as what it leads to.
macro_rules! through {
    ($([$($property:tt)*] [$($scalar:tt)*] $type:ty),* $(,)?) => {$(
        impl<$($property)*> Property for $type {
            #[inline]
            fn write(&self, out: &mut Out) -> bool {
                (**self).write(out)
            }

            #[inline(always)]
            fn put(&self, head: Head<'_>) {
                (**self).put(head);
            }
        }

        impl<$($scalar)*> Scalar for $type {
            #[inline]
            fn write_text(&self, out: &mut Out) -> Option<Quoted> {
                (**self).write_text(out)
            }

            #[inline(always)]
            fn put_key(&self, head: KeyHead<'_>) {
                (**self).put_key(head);
            }
        }
    )*};
}

through!(
    [T: Property + ?Sized] [T: Scalar + ?Sized] &T,
    [T: Property + ?Sized] [T: Scalar + ?Sized] Box<T>,
    [] [] String,
    [] [] Cow<'_, str>,
);

impl<T: Property> Property for Option<T> {
    fn write(&self, out: &mut Out) -> bool {
        self.as_ref().is_some_and(|value| value.write(out))
    }
}

impl<T: Scalar> Scalar for Option<T> {
    fn write_text(&self, out: &mut Out) -> Option<Quoted> {
        self.as_ref()?.write_text(out)
    }
}

/// An element that is no value is null.
impl<T: Property> Property for [T] {
    fn write(&self, out: &mut Out) -> bool {
        out.open(b'[');
        for (index, item) in self.iter().enumerate() {
            if index > 0 {
                out.byte(b',');
            }
            if !item.write(out) {
                out.raw("null");
            }
        }
        out.close(b']');
        true
    }
}

impl<T: Property> Property for Vec<T> {
    fn write(&self, out: &mut Out) -> bool {
        self.as_slice().write(out)
    }
}

impl<T: Property, const N: usize> Property for [T; N] {
    fn write(&self, out: &mut Out) -> bool {
        self.as_slice().write(out)
    }
}

/// What is no value has no key.
impl<K: AsRef<str>, T: Property> Property for BTreeMap<K, T> {
    fn write(&self, out: &mut Out) -> bool {
        members(out, self.iter().map(|(key, value)| (key.as_ref(), value)));
        true
    }
}

fn members<'a, T: Property + 'a>(out: &mut Out, members: impl Iterator<Item = (&'a str, &'a T)>) {
    out.open(b'{');
    let mut comma = false;
    for (key, value) in members {
        let before = out.len();
        if comma {
            out.byte(b',');
        }
        out.string(key);
        out.byte(b':');
        if value.write(out) {
            comma = true;
        } else {
            out.truncate(before);
        }
    }
    out.close(b'}');
}

impl Property for Json {
    fn write(&self, out: &mut Out) -> bool {
        write_tree(self, out);
        true
    }
}

impl Scalar for Json {
    fn write_text(&self, out: &mut Out) -> Option<Quoted> {
        match self {
            Self::Bool(value) => value.write_text(out),
            Self::Number(number) => {
                out.raw(&number.0);
                Some(Quoted::No)
            }
            Self::String(text) => text.write_text(out),
            Self::Null | Self::Array(_) | Self::Object(_) => None,
        }
    }
}

fn write_tree(json: &Json, out: &mut Out) {
    match json {
        Json::Null => out.raw("null"),
        Json::Bool(value) => out.raw(if *value { "true" } else { "false" }),
        Json::Number(number) => out.raw(&number.0),
        Json::String(text) => out.string(text),
        Json::Array(items) => {
            out.open(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.byte(b',');
                }
                write_tree(item, out);
            }
            out.close(b']');
        }
        Json::Object(entries) => {
            out.open(b'{');
            for (index, (key, value)) in entries.iter().enumerate() {
                if index > 0 {
                    out.byte(b',');
                }
                out.string(key);
                out.byte(b':');
                write_tree(value, out);
            }
            out.close(b'}');
        }
    }
}
