//! Types that can be read from JSON.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::{JsonError, Reader};
use crate::number;

/// A type that can be read from JSON. [`record!`](crate::record) implements it for structs.
pub trait FromJson: Sized {
    /// Reads a value.
    ///
    /// # Errors
    /// Where the text has something else.
    fn from_json(reader: &mut Reader<'_>) -> Result<Self, JsonError>;

    /// What stands for a value that isn't there, if anything does.
    #[must_use]
    fn absent() -> Option<Self> {
        None
    }
}

impl FromJson for () {
    fn from_json(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        reader.null()
    }
}

impl FromJson for bool {
    fn from_json(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        reader.bool()
    }
}

impl FromJson for String {
    fn from_json(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        reader.string().map(Into::into)
    }
}

impl FromJson for f64 {
    fn from_json(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let before = reader.clone();
        number::to_f64(reader.number()?).ok_or_else(|| before.expected("a finite number"))
    }
}

impl FromJson for f32 {
    #[allow(clippy::cast_possible_truncation, reason = "to the nearest one is what is asked for")]
    fn from_json(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        f64::from_json(reader).map(|number| number as f32)
    }
}

/// Whole numbers in their range.
macro_rules! whole {
    ($($type:ty),*) => {$(
        impl FromJson for $type {
            fn from_json(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
                let before = reader.clone();
                let text = reader.number()?;
                let number = number::to_i64(text).and_then(|number| Self::try_from(number).ok());
                number
                    .or_else(|| number::to_u64(text).and_then(|number| Self::try_from(number).ok()))
                    .ok_or_else(|| before.expected(concat!("a whole number that fits ", stringify!($type))))
            }
        }
    )*};
}

whole!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

impl<T: FromJson> FromJson for Option<T> {
    fn from_json(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        if reader.peek() == Some(b'n') {
            return reader.null().map(|()| None);
        }
        T::from_json(reader).map(Some)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: FromJson> FromJson for Box<T> {
    fn from_json(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        T::from_json(reader).map(Self::new)
    }
}

impl<T: FromJson> FromJson for Vec<T> {
    fn from_json(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut all = Self::new();
        reader.list(|reader| {
            all.push(T::from_json(reader)?);
            Ok(())
        })?;
        Ok(all)
    }
}

impl<T: FromJson> FromJson for BTreeMap<String, T> {
    fn from_json(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        let mut all = Self::new();
        reader.object(|reader, key| {
            all.insert(key.into_owned(), T::from_json(reader)?);
            Ok(())
        })?;
        Ok(all)
    }
}

/// Arrays of as many elements.
macro_rules! tuple {
    ($count:literal: $($name:ident),*) => {
        impl<$($name: FromJson),*> FromJson for ($($name,)*) {
            fn from_json(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
                let mut first = true;
                let tuple = ($({
                    let expected = concat!("an array of ", $count, " elements");
                    if !reader.has_next(b'[', b']', core::mem::take(&mut first))? {
                        return Err(reader.expected(expected));
                    }
                    $name::from_json(reader)?
                },)*);
                if reader.has_next(b'[', b']', false)? {
                    return Err(reader.expected(concat!("an array of ", $count, " elements")));
                }
                Ok(tuple)
            }
        }
    };
}

tuple!("one": A);
tuple!("two": A, B);
tuple!("three": A, B, C);
tuple!("four": A, B, C, D);
