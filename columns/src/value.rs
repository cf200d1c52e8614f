//! Values as JSON has them, as values of columns.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::civil::{Date, Time};

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
        ValueType::Timestamp => match text(json).and_then(|text| timestamp(text.as_bytes())) {
            Some(Moment::In(microseconds)) => Some(Cell::Timestamp(microseconds)),
            Some(Moment::Beyond) => return Err(FaultKind::OutOfRange),
            None => None,
        },
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
    let mut rest = text;
    let day = read_date(&mut rest).filter(|_| rest.is_empty())?;
    i32::try_from(midnight(day) / 86_400).ok().map(Cell::Date)
}

/// A point in time.
enum Moment {
    In(i64),
    /// It isn't in the years 1 to 9999 of UTC, which is what warehouses have.
    Beyond,
}

fn timestamp(text: &[u8]) -> Option<Moment> {
    let mut rest = text;
    let day = read_date(&mut rest)?;
    byte(&mut rest, b'T').or_else(|| byte(&mut rest, b' '))?;
    let hour = digits(&mut rest, 2)?;
    byte(&mut rest, b':')?;
    let minute = digits(&mut rest, 2)?;
    byte(&mut rest, b':')?;
    let second = digits(&mut rest, 2)?;
    let time = Time::new(small(hour)?, small(minute)?, small(second)?, 0).ok()?;
    let mut fraction = 0_i64;
    if byte(&mut rest, b'.').is_some() {
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if !(1..=6).contains(&count) {
            return None;
        }
        let (taken, tail) = rest.split_at_checked(count)?;
        rest = tail;
        let digits = taken.iter().chain(b"000000").take(6);
        fraction = digits.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
    }
    let mut offset = 0_i64;
    if byte(&mut rest, b'Z').is_none()
        && let Some(sign) =
            byte(&mut rest, b'+').map(|()| 1).or_else(|| byte(&mut rest, b'-').map(|()| -1))
    {
        let hours = digits(&mut rest, 2)?;
        byte(&mut rest, b':')?;
        let minutes = digits(&mut rest, 2)?;
        if hours > 23 || minutes > 59 {
            return None;
        }
        offset = sign * (i64::from(hours) * 3_600 + i64::from(minutes) * 60);
    }
    if !rest.is_empty() {
        return None;
    }
    let time =
        i64::from(time.hour()) * 3_600 + i64::from(time.minute()) * 60 + i64::from(time.second())
            - offset;
    let seconds = midnight(day) + time;
    let first = midnight(Date::constant(1, 1, 1));
    let end = midnight(Date::constant(9999, 12, 31)) + 86_400;
    Some(match seconds {
        it if it < first || it >= end => Moment::Beyond,
        it => Moment::In(it * 1_000_000 + fraction),
    })
}

/// Seconds from 1970 to the beginning of a day in UTC.
fn midnight(day: Date) -> i64 {
    day.duration_since(Date::constant(1970, 1, 1)).as_secs()
}

fn read_date(rest: &mut &[u8]) -> Option<Date> {
    let year = digits(rest, 4).filter(|&year| year > 0)?;
    byte(rest, b'-')?;
    let month = digits(rest, 2)?;
    byte(rest, b'-')?;
    let day = digits(rest, 2)?;
    Date::new(year, small(month)?, small(day)?).ok()
}

fn byte(rest: &mut &[u8], wanted: u8) -> Option<()> {
    let (&first, tail) = rest.split_first()?;
    (first == wanted).then(|| *rest = tail)
}

/// Exactly `count` ASCII digits, at most four.
fn digits(rest: &mut &[u8], count: usize) -> Option<i16> {
    let (taken, tail) = rest.split_at_checked(count)?;
    let value = taken.iter().try_fold(0_i16, |value, byte| {
        byte.is_ascii_digit().then(|| value * 10 + i16::from(byte - b'0'))
    })?;
    *rest = tail;
    Some(value)
}

fn small(value: i16) -> Option<i8> {
    i8::try_from(value).ok()
}

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
