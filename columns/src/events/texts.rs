//! The events of an Arrow array as the text of JSON.

use std::fmt::Write as _;
use std::io::Write as _;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type,
    Decimal64Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::SignedDuration;
use jiff::civil::DateTime;

use super::EventsError;

/// How deep types may nest: a struct in a list in a struct, and so on. Events nest no deeper either.
const MAX_DEPTH: usize = 127;

/// The rows of an array, each as the text of an event.
///
/// Strings and bytes are taken for JSON as they are. A struct is rendered: its fields are members, also those that are null; lists are
/// arrays, and maps with strings for keys are objects. Numbers are written with all their digits, decimals too, and floats that are no
/// number as null. Days are `2019-05-15`, times `15:20:57.25`, timestamps both with `T` between, and with `Z` where they have a time
/// zone, and bytes inside of a struct are base64.
#[derive(Debug)]
pub struct EventTexts {
    array: ArrayRef,
    is_text: bool,
}

impl EventTexts {
    /// The rows of this array, which messages call `column`.
    ///
    /// # Errors
    /// [`EventsError::Unsupported`], for what is neither text nor bytes nor a struct of what JSON can say.
    pub fn new(array: ArrayRef, column: &str) -> Result<Self, EventsError> {
        let is_text = check(array.data_type(), column)?;
        Ok(Self { array, is_text })
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.array.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.array.is_empty()
    }

    /// The text of a row: one of the array, or one that is rendered into `buffer`. `None` of a row that is null.
    pub fn get<'t>(&'t self, row: usize, buffer: &'t mut Vec<u8>) -> Option<&'t [u8]> {
        if row >= self.array.len() || self.array.is_null(row) {
            return None;
        }
        if self.is_text {
            return bytes(&*self.array, row);
        }
        buffer.clear();
        render(&*self.array, row, buffer);
        Some(buffer)
    }
}

/// Whether a column of that type holds text, rather than what is rendered to it.
pub(super) fn check(data_type: &DataType, column: &str) -> Result<bool, EventsError> {
    let unsupported = |found: &DataType| EventsError::Unsupported {
        column: column.to_owned(),
        found: found.to_string().chars().take(200).collect(),
    };
    match data_type {
        found if is_bytes(found) => Ok(true),
        DataType::Dictionary(_, value) if is_bytes(value) => Ok(true),
        found @ (DataType::Struct(_) | DataType::Map(..)) => match unrenderable(found, 0) {
            None => Ok(false),
            Some(inside) => Err(unsupported(inside)),
        },
        found => Err(unsupported(found)),
    }
}

fn is_bytes(data_type: &DataType) -> bool {
    is_string(data_type)
        || matches!(
            data_type,
            DataType::Binary
                | DataType::LargeBinary
                | DataType::BinaryView
                | DataType::FixedSizeBinary(_)
        )
}

fn is_string(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// The first type of which there is no JSON.
fn unrenderable(data_type: &DataType, depth: usize) -> Option<&DataType> {
    let inside = |it| unrenderable(it, depth + 1);
    if depth > MAX_DEPTH {
        return Some(data_type);
    }
    match data_type {
        DataType::Null
        | DataType::Boolean
        | DataType::Date32
        | DataType::Date64
        | DataType::Time32(_)
        | DataType::Time64(_)
        | DataType::Timestamp(..)
        | DataType::Float32
        | DataType::Float64
        | DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => None,
        it if it.is_integer() || is_bytes(it) => None,
        DataType::Struct(fields) => fields.iter().find_map(|field| inside(field.data_type())),
        DataType::List(field) | DataType::LargeList(field) | DataType::FixedSizeList(field, _) => {
            inside(field.data_type())
        }
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(fields) => match fields.as_ref() {
                [key, value] if is_string(key.data_type()) => inside(value.data_type()),
                _ => Some(data_type),
            },
            _ => Some(data_type),
        },
        DataType::Dictionary(_, value) => inside(value),
        _ => Some(data_type),
    }
}

/// The bytes of a row of strings or bytes.
fn bytes(array: &dyn Array, row: usize) -> Option<&[u8]> {
    Some(match array.data_type() {
        DataType::Utf8 => array.as_string_opt::<i32>()?.value(row).as_bytes(),
        DataType::LargeUtf8 => array.as_string_opt::<i64>()?.value(row).as_bytes(),
        DataType::Utf8View => array.as_string_view_opt()?.value(row).as_bytes(),
        DataType::Binary => array.as_binary_opt::<i32>()?.value(row),
        DataType::LargeBinary => array.as_binary_opt::<i64>()?.value(row),
        DataType::BinaryView => array.as_binary_view_opt()?.value(row),
        DataType::FixedSizeBinary(_) => array.as_fixed_size_binary_opt()?.value(row),
        DataType::Dictionary(..) => {
            let (values, key) = dictionary_value(array, row)?;
            return bytes(values, key).filter(|_| values.is_valid(key));
        }
        _ => return None,
    })
}

/// The values of a dictionary, and the place of that of a row.
fn dictionary_value(array: &dyn Array, row: usize) -> Option<(&dyn Array, usize)> {
    fn of<K: ArrowDictionaryKeyType>(array: &dyn Array, row: usize) -> Option<usize> {
        array.as_dictionary_opt::<K>()?.key(row)
    }
    let DataType::Dictionary(keys, _) = array.data_type() else { return None };
    let key = match **keys {
        DataType::Int8 => of::<Int8Type>(array, row),
        DataType::Int16 => of::<Int16Type>(array, row),
        DataType::Int32 => of::<Int32Type>(array, row),
        DataType::Int64 => of::<Int64Type>(array, row),
        DataType::UInt8 => of::<UInt8Type>(array, row),
        DataType::UInt16 => of::<UInt16Type>(array, row),
        DataType::UInt32 => of::<UInt32Type>(array, row),
        _ => of::<UInt64Type>(array, row),
    }?;
    Some((&**array.as_any_dictionary_opt()?.values(), key))
}

/// Renders a value. What has no JSON is null; there is none, since types were checked.
fn render(array: &dyn Array, row: usize, out: &mut Vec<u8>) {
    if array.is_null(row) || write_value(array, row, out).is_none() {
        out.extend_from_slice(b"null");
    }
}

fn write_value(array: &dyn Array, row: usize, out: &mut Vec<u8>) -> Option<()> {
    match array.data_type() {
        DataType::Boolean => {
            let value = array.as_boolean_opt()?.value(row);
            out.extend_from_slice(if value { b"true" } else { b"false" });
        }
        DataType::Int8 => number::<Int8Type>(array, row, out)?,
        DataType::Int16 => number::<Int16Type>(array, row, out)?,
        DataType::Int32 => number::<Int32Type>(array, row, out)?,
        DataType::Int64 => number::<Int64Type>(array, row, out)?,
        DataType::UInt8 => number::<UInt8Type>(array, row, out)?,
        DataType::UInt16 => number::<UInt16Type>(array, row, out)?,
        DataType::UInt32 => number::<UInt32Type>(array, row, out)?,
        DataType::UInt64 => number::<UInt64Type>(array, row, out)?,
        // The shortest text that is read as the same number, of a float of 32 bits as well.
        DataType::Float32 => {
            let value = array.as_primitive_opt::<Float32Type>()?.value(row);
            serde_json::to_writer(out, &value).ok()?;
        }
        DataType::Float64 => {
            let value = array.as_primitive_opt::<Float64Type>()?.value(row);
            serde_json::to_writer(out, &value).ok()?;
        }
        DataType::Decimal32(..) => {
            plain(out, &array.as_primitive_opt::<Decimal32Type>()?.value_as_string(row));
        }
        DataType::Decimal64(..) => {
            plain(out, &array.as_primitive_opt::<Decimal64Type>()?.value_as_string(row));
        }
        DataType::Decimal128(..) => {
            plain(out, &array.as_primitive_opt::<Decimal128Type>()?.value_as_string(row));
        }
        DataType::Decimal256(..) => {
            plain(out, &array.as_primitive_opt::<Decimal256Type>()?.value_as_string(row));
        }
        DataType::Date32 => {
            let days = i64::from(array.as_primitive_opt::<Date32Type>()?.value(row));
            quoted(out, &civil(i128::from(days) * 86_400 * NANOSECONDS)?.date());
        }
        DataType::Date64 => {
            let millis = array.as_primitive_opt::<Date64Type>()?.value(row);
            quoted(out, &civil(i128::from(millis) * 1_000_000)?.date());
        }
        DataType::Time32(_) | DataType::Time64(_) => {
            quoted(out, &civil(time_of_day(array, row)?)?.time());
        }
        DataType::Timestamp(unit, zone) => {
            let at = civil(timestamp(array, row, *unit)?)?;
            let end = if zone.is_some() { "Z" } else { "" };
            quoted(out, &format_args!("{at}{end}"));
        }
        it if is_string(it) => {
            let text = std::str::from_utf8(bytes(array, row)?).ok()?;
            serde_json::to_writer(out, text).ok()?;
        }
        it if is_bytes(it) => quoted(out, &STANDARD.encode(bytes(array, row)?)),
        DataType::Dictionary(..) => {
            let (values, key) = dictionary_value(array, row)?;
            render(values, key, out);
        }
        DataType::Struct(fields) => {
            let columns = array.as_struct_opt()?.columns();
            let members = fields.iter().zip(columns);
            write_list(out, b"{}", members, |out, (field, column)| {
                key(out, field.name());
                render(&**column, row, out);
            });
        }
        DataType::List(_) => elements(&*array.as_list_opt::<i32>()?.value(row), out),
        DataType::LargeList(_) => elements(&*array.as_list_opt::<i64>()?.value(row), out),
        DataType::FixedSizeList(..) => {
            elements(&*array.as_fixed_size_list_opt()?.value(row), out);
        }
        DataType::Map(..) => {
            let entries = array.as_map_opt()?.value(row);
            let (keys, values) = (entries.column(0), entries.column(1));
            write_list(out, b"{}", 0..entries.len(), |out, entry| {
                let name = bytes(&**keys, entry).and_then(|name| std::str::from_utf8(name).ok());
                key(out, name.unwrap_or_default());
                render(&**values, entry, out);
            });
        }
        _ => return None,
    }
    Some(())
}

const NANOSECONDS: i128 = 1_000_000_000;

fn timestamp(array: &dyn Array, row: usize, unit: TimeUnit) -> Option<i128> {
    let (value, factor) = match unit {
        TimeUnit::Second => (primitive::<TimestampSecondType>(array, row)?, NANOSECONDS),
        TimeUnit::Millisecond => (primitive::<TimestampMillisecondType>(array, row)?, 1_000_000),
        TimeUnit::Microsecond => (primitive::<TimestampMicrosecondType>(array, row)?, 1_000),
        TimeUnit::Nanosecond => (primitive::<TimestampNanosecondType>(array, row)?, 1),
    };
    Some(i128::from(value) * factor)
}

fn time_of_day(array: &dyn Array, row: usize) -> Option<i128> {
    let (value, factor) = match array.data_type() {
        DataType::Time32(TimeUnit::Second) => {
            (i64::from(primitive::<Time32SecondType>(array, row)?), NANOSECONDS)
        }
        DataType::Time32(_) => {
            (i64::from(primitive::<Time32MillisecondType>(array, row)?), 1_000_000)
        }
        DataType::Time64(TimeUnit::Microsecond) => {
            (primitive::<Time64MicrosecondType>(array, row)?, 1_000)
        }
        _ => (primitive::<Time64NanosecondType>(array, row)?, 1),
    };
    Some(i128::from(value) * factor)
}

fn primitive<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> Option<T::Native> {
    Some(array.as_primitive_opt::<T>()?.value(row))
}

/// The time of a calendar that is so many nanoseconds from 1970 in UTC.
fn civil(nanoseconds: i128) -> Option<DateTime> {
    let duration = SignedDuration::try_from_nanos_i128(nanoseconds)?;
    DateTime::constant(1970, 1, 1, 0, 0, 0, 0).checked_add(duration).ok()
}

fn number<T: ArrowPrimitiveType>(array: &dyn Array, row: usize, out: &mut Vec<u8>) -> Option<()>
where
    T::Native: std::fmt::Display,
{
    // A vector takes all that is written.
    write!(out, "{}", primitive::<T>(array, row)?).ok()
}

fn plain(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

/// Writes in quotes what has nothing to be escaped in it.
fn quoted(out: &mut Vec<u8>, shown: &dyn std::fmt::Display) {
    let mut text = String::new();
    // A string takes all that is written.
    let _ = write!(text, "\"{shown}\"");
    plain(out, &text);
}

fn key(out: &mut Vec<u8>, name: &str) {
    // Text always becomes JSON.
    let _ = serde_json::to_writer(&mut *out, name);
    out.push(b':');
}

fn elements(list: &dyn Array, out: &mut Vec<u8>) {
    write_list(out, b"[]", 0..list.len(), |out, element| render(list, element, out));
}

fn write_list<T>(
    out: &mut Vec<u8>,
    brackets: &[u8; 2],
    items: impl Iterator<Item = T>,
    mut write: impl FnMut(&mut Vec<u8>, T),
) {
    out.push(brackets[0]);
    for (place, item) in items.enumerate() {
        if place > 0 {
            out.push(b',');
        }
        write(out, item);
    }
    out.push(brackets[1]);
}
