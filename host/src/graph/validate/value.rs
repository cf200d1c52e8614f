//! Values against types.

use serde_json::Value;

use crate::graph::spec::PropertyType;

/// How a value fits a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// It is of the type.
    Valid,
    /// It is a scalar of another type.
    Mismatch,
    /// It is an array or object, or no value is of the type.
    Unsupported,
}

pub(crate) fn fit(property_type: &PropertyType, value: &Value) -> Fit {
    let valid = match (property_type, value) {
        (PropertyType::Unsupported(_), _) | (_, Value::Array(_) | Value::Object(_)) => {
            return Fit::Unsupported;
        }
        (PropertyType::String, Value::String(_))
        | (PropertyType::Double | PropertyType::Float64, Value::Number(_))
        | (PropertyType::Boolean | PropertyType::Bool, Value::Bool(_)) => true,
        (PropertyType::Int64, Value::Number(number)) => number.is_i64(),
        (PropertyType::Bytes, Value::String(text)) => is_base64(text.as_bytes()),
        (PropertyType::Date, Value::String(text)) => is_date(text.as_bytes()),
        (PropertyType::Timestamp, Value::String(text)) => is_timestamp(text.as_bytes()),
        _ => false,
    };
    if valid { Fit::Valid } else { Fit::Mismatch }
}

/// Whether a value is of the type, given as valid JSON. False for some that are: the value itself has to be asked then.
pub(crate) fn is_known_to_fit(property_type: &PropertyType, json: &[u8]) -> bool {
    let string = || match json {
        // What isn't written as it is has to be read.
        [b'"', text @ .., b'"'] => (memchr::memchr(b'\\', text).is_none()).then_some(text),
        _ => None,
    };
    let is_number = || matches!(json.first(), Some(b'-' | b'0'..=b'9'));
    match property_type {
        PropertyType::Unsupported(_) => false,
        PropertyType::String => json.first() == Some(&b'"'),
        PropertyType::Double | PropertyType::Float64 => is_number(),
        PropertyType::Boolean | PropertyType::Bool => matches!(json, b"true" | b"false"),
        PropertyType::Int64 => {
            let digits = json.strip_prefix(b"-").unwrap_or(json);
            let is_short = (1..=18).contains(&digits.len());
            // `-0` is read as a fraction.
            is_short && json != b"-0" && digits.iter().all(u8::is_ascii_digit)
        }
        PropertyType::Bytes => string().is_some_and(is_base64),
        PropertyType::Date => string().is_some_and(is_date),
        PropertyType::Timestamp => string().is_some_and(is_timestamp),
    }
}

/// What a value of the type looks like, for a message.
pub(crate) fn expected(property_type: &PropertyType) -> &'static str {
    match property_type {
        PropertyType::String => "a string",
        PropertyType::Bytes => "a string of base64",
        PropertyType::Int64 => "an integer of 64 bits, without fraction or exponent",
        PropertyType::Double | PropertyType::Float64 => "a number",
        PropertyType::Boolean | PropertyType::Bool => "a boolean",
        PropertyType::Date => "a date YYYY-MM-DD",
        PropertyType::Timestamp => "a timestamp YYYY-MM-DDTHH:MM:SS[.ffffff][Z|+HH:MM]",
        PropertyType::Unsupported(_) => "a type that can be checked",
    }
}

/// RFC 4648 section 4, canonical: groups of four, padded, unused bits zero.
fn is_base64(text: &[u8]) -> bool {
    let unpadded = match text {
        [rest @ .., b'=', b'='] => rest,
        [rest @ .., b'='] => rest,
        rest => rest,
    };
    let sextet = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let unused_bits = match text.len() - unpadded.len() {
        0 => 0,
        1 => 0b11,
        _ => 0b1111,
    };
    text.len().is_multiple_of(4)
        && unpadded.iter().all(|&byte| sextet(byte).is_some())
        && unpadded.last().and_then(|&byte| sextet(byte)).is_none_or(|last| last & unused_bits == 0)
}

fn is_date(text: &[u8]) -> bool {
    retort_time::date(text).is_some()
}

fn is_timestamp(text: &[u8]) -> bool {
    retort_time::timestamp(text).is_some()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn int64_has_its_range() {
        for valid in [json!(i64::MIN), json!(i64::MAX), json!(0)] {
            assert_eq!(fit(&PropertyType::Int64, &valid), Fit::Valid, "{valid}");
        }
        for invalid in [json!(u64::MAX), json!(1.0), json!(9.3e18), json!("1")] {
            assert_eq!(fit(&PropertyType::Int64, &invalid), Fit::Mismatch, "{invalid}");
        }
    }

    #[test]
    fn bytes_are_base64() {
        for valid in ["", "AA==", "AAA=", "AAAA", "+/8=", "aGk="] {
            assert_eq!(fit(&PropertyType::Bytes, &json!(valid)), Fit::Valid, "{valid}");
        }
        for invalid in ["A", "AA", "AAA", "=", "====", "A===", "AB==", "AAB=", "a-_=", "AA==\n"] {
            assert_eq!(fit(&PropertyType::Bytes, &json!(invalid)), Fit::Mismatch, "{invalid}");
        }
    }

    #[test]
    fn nothing_is_of_an_unsupported_type() {
        let geography = PropertyType::Unsupported("geography".to_owned());
        for value in [json!("POINT(1 2)"), json!(null), json!([1])] {
            assert_eq!(fit(&geography, &value), Fit::Unsupported, "{value}");
        }
    }

    #[test]
    fn what_is_known_to_fit_from_its_text_does() {
        use PropertyType as T;
        let types = [T::String, T::Bytes, T::Int64, T::Double, T::Boolean, T::Date, T::Timestamp];
        let types = types.into_iter().chain([T::Float64, T::Bool, T::Unsupported("x".to_owned())]);
        for property_type in types {
            let mut known = 0;
            for text in [
                "null",
                "true",
                "false",
                "0",
                "-0",
                "1",
                "-12",
                "1.5",
                "1e3",
                "[]",
                "{}",
                "\"\"",
                "\"AA==\"",
                "\"a\"",
                "\"\\u0041AA=\"",
                "\"2024-02-29\"",
                "\"2023-02-29\"",
                "9223372036854775807",
                "9223372036854775808",
                "-9223372036854775809",
                "\"2024-02-29T01:02:03Z\"",
                "\"2024-02-29T01:02:63Z\"",
            ] {
                let fits = fit(&property_type, &serde_json::from_str(text).unwrap()) == Fit::Valid;
                let is_known = is_known_to_fit(&property_type, text.as_bytes());
                assert!(fits || !is_known, "{text} {property_type:?}");
                known += usize::from(is_known);
            }
            assert_eq!(known > 0, !matches!(property_type, T::Unsupported(_)), "{property_type:?}");
        }
    }
}
