//! Values as JSON has them, as values of columns.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::fault::FaultKind;
use crate::graph::ValueType;

/// A value of a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    Null,
    Text(Cow<'a, str>),
    Bytes(Vec<u8>),
    Integer(i64),
    Double(f64),
    Boolean(bool),
    /// Days since 1970.
    Date(i32),
    /// Microseconds since 1970 in UTC.
    Timestamp(i64),
}

/// The value of a type that is given as JSON.
pub(crate) fn cell(value_type: ValueType, json: &str) -> Result<Cell<'_>, FaultKind> {
    if json == "null" {
        return Ok(Cell::Null);
    }
    let cell = match value_type {
        ValueType::Json => Some(Cell::Text(Cow::Borrowed(json))),
        ValueType::Text => text(json).map(Cell::Text),
        ValueType::Boolean => match json {
            "true" => Some(Cell::Boolean(true)),
            "false" => Some(Cell::Boolean(false)),
            _ => None,
        },
        ValueType::Integer => return integer(json),
        ValueType::Double => return double(json),
        ValueType::Bytes => {
            text(json).and_then(|text| STANDARD.decode(text.as_bytes()).ok()).map(Cell::Bytes)
        }
        ValueType::Date => text(json).and_then(|text| date(text.as_bytes())),
        ValueType::Timestamp => {
            text(json).and_then(|text| timestamp(text.as_bytes())).transpose()?
        }
    };
    cell.ok_or(FaultKind::TypeMismatch)
}

/// The text of a JSON string.
pub(crate) fn text(json: &str) -> Option<Cow<'_, str>> {
    let inside = json.strip_prefix('"')?.strip_suffix('"')?;
    if inside.contains('\\') {
        return serde_json::from_str(json).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inside))
}

pub(crate) fn is_number(json: &str) -> bool {
    json.starts_with(|first: char| first == '-' || first.is_ascii_digit())
}

fn integer(json: &str) -> Result<Cell<'_>, FaultKind> {
    if !is_number(json) || !is_whole(json) {
        return Err(FaultKind::TypeMismatch);
    }
    json.parse().map(Cell::Integer).map_err(|_| FaultKind::OutOfRange)
}

fn double(json: &str) -> Result<Cell<'_>, FaultKind> {
    let number: f64 =
        json.parse().ok().filter(|_| is_number(json)).ok_or(FaultKind::TypeMismatch)?;
    if !number.is_finite() {
        return Err(FaultKind::OutOfRange);
    }
    // Of an integer each digit is meant: it may be an id. Up to 15 digits are exact in any case.
    if json.len() > 15 && is_whole(json) && json != format!("{number:.0}") {
        return Err(FaultKind::Inexact);
    }
    Ok(Cell::Double(number))
}

/// Whether a number is written without fraction and exponent.
fn is_whole(json: &str) -> bool {
    !json.contains(['.', 'e', 'E'])
}

fn date(text: &[u8]) -> Option<Cell<'static>> {
    i32::try_from(retort_time::date(text)?.days()).ok().map(Cell::Date)
}

/// A point in time that is in the years 1 to 9999 of UTC, which is what warehouses have.
fn timestamp(text: &[u8]) -> Option<Result<Cell<'static>, FaultKind>> {
    let at = retort_time::timestamp(text)?.microseconds();
    let is_in_range = (FIRST_MICROSECOND..=LAST_MICROSECOND).contains(&at);
    Some(if is_in_range { Ok(Cell::Timestamp(at)) } else { Err(FaultKind::OutOfRange) })
}

/// 0001-01-01T00:00:00Z.
const FIRST_MICROSECOND: i64 = -62_135_596_800_000_000;

/// 9999-12-31T23:59:59.999999Z.
const LAST_MICROSECOND: i64 = 253_402_300_799_999_999;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value_type: ValueType, json: &str) -> Result<Cell<'_>, FaultKind> {
        cell(value_type, json)
    }

    #[test]
    fn integers_are_whole_and_of_64_bits() {
        for (json, value) in [
            ("0", 0),
            ("-0", 0),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775808", i64::MIN),
        ] {
            assert_eq!(of(ValueType::Integer, json), Ok(Cell::Integer(value)));
        }
        for json in ["9223372036854775808", "-9223372036854775809", "99999999999999999999999"] {
            assert_eq!(of(ValueType::Integer, json), Err(FaultKind::OutOfRange), "{json}");
        }
        for json in ["1.0", "1e3", "\"1\"", "true", "[]"] {
            assert_eq!(of(ValueType::Integer, json), Err(FaultKind::TypeMismatch), "{json}");
        }
    }

    #[test]
    fn a_double_is_the_nearest_and_an_integer_in_it_exact() {
        for (json, value) in [
            ("0.1", 0.1),
            ("-1.5e300", -1.5e300),
            ("9007199254740992", 9_007_199_254_740_992.0),
            ("100000000000000000000", 1e20),
        ] {
            assert_eq!(of(ValueType::Double, json), Ok(Cell::Double(value)));
        }
        for json in [
            "9007199254740993",
            "-9007199254740993",
            "18446744073709551615",
            "100000000000000000001",
        ] {
            assert_eq!(of(ValueType::Double, json), Err(FaultKind::Inexact), "{json}");
        }
        assert_eq!(of(ValueType::Double, "1e400"), Err(FaultKind::OutOfRange));
        for json in ["\"inf\"", "\"1\"", "false", "{}"] {
            assert_eq!(of(ValueType::Double, json), Err(FaultKind::TypeMismatch), "{json}");
        }
    }

    #[test]
    fn timestamps_are_microseconds_in_utc() {
        for (text, at) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01 00:00:01.5", 1_500_000),
            ("1970-01-01T02:00:00+02:00", 0),
            ("1969-12-31T23:59:59.999999Z", -1),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000_000),
            ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
        ] {
            assert_eq!(
                of(ValueType::Timestamp, &format!("{text:?}")),
                Ok(Cell::Timestamp(at)),
                "{text}"
            );
        }
        for text in ["0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"] {
            assert_eq!(
                of(ValueType::Timestamp, &format!("{text:?}")),
                Err(FaultKind::OutOfRange),
                "{text}"
            );
        }
        for text in [
            "2024-02-30T00:00:00Z",
            "2024-01-01T24:00:00Z",
            "2024-01-01T00:00:00.1234567Z",
            "2024-01-01",
            "2024-01-01T00:00:00Zx",
        ] {
            assert_eq!(
                of(ValueType::Timestamp, &format!("{text:?}")),
                Err(FaultKind::TypeMismatch),
                "{text}"
            );
        }
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for (text, days) in [
            ("1970-01-02", 1),
            ("1969-12-31", -1),
            ("9999-12-31", 2_932_896),
            ("0001-01-01", -719_162),
        ] {
            assert_eq!(of(ValueType::Date, &format!("{text:?}")), Ok(Cell::Date(days)), "{text}");
        }
        assert_eq!(of(ValueType::Date, "\"2023-02-29\""), Err(FaultKind::TypeMismatch));
    }

    #[test]
    fn texts_are_unescaped_and_bytes_decoded() {
        assert_eq!(of(ValueType::Text, r#""a\u0041\n""#), Ok(Cell::Text("aA\n".into())));
        assert_eq!(of(ValueType::Bytes, "\"aGk=\""), Ok(Cell::Bytes(b"hi".to_vec())));
        assert_eq!(of(ValueType::Bytes, "\"aGk\""), Err(FaultKind::TypeMismatch));
        assert_eq!(of(ValueType::Json, r#"{"a":[1]}"#), Ok(Cell::Text(r#"{"a":[1]}"#.into())));
        assert_eq!(of(ValueType::Text, "1"), Err(FaultKind::TypeMismatch));
        assert_eq!(of(ValueType::Text, "null"), Ok(Cell::Null));
    }
}
