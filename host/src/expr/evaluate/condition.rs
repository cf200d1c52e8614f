//! Conditions, tested on the JSON of the event.

use serde_json::{Number, Value};

use super::Lookup;
use crate::expr::fuel::{self, OutOfFuel};
use crate::expr::{Condition, JsonType, Reference, Test};

/// A condition whose references are numbers.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Test(usize, Test),
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
}

impl Node {
    pub(super) fn new(condition: &Condition, resolve: &mut dyn FnMut(&Reference) -> usize) -> Self {
        // No deeper than Condition::MAX_DEPTH, which readers hold to.
        match condition {
            Condition::Test(reference, test) => Self::Test(resolve(reference), test.clone()),
            Condition::All(all) => Self::All(all.iter().map(|it| Self::new(it, resolve)).collect()),
            Condition::Any(any) => Self::Any(any.iter().map(|it| Self::new(it, resolve)).collect()),
            Condition::Not(inner) => Self::Not(Box::new(Self::new(inner, resolve))),
        }
    }

    pub(super) fn holds(&self, event: &impl Lookup, fuel: &mut u64) -> Result<bool, OutOfFuel> {
        match self {
            Self::Test(index, test) => {
                let json = event.value(*index);
                fuel::spend(fuel, fuel::TEST.of(json.map_or(0, bytes)))?;
                Ok(json.is_some_and(|json| test.holds(json)))
            }
            Self::All(all) => {
                for node in all {
                    if !node.holds(event, fuel)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Self::Any(any) => {
                for node in any {
                    if node.holds(event, fuel)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Self::Not(inner) => Ok(!inner.holds(event, fuel)?),
        }
    }
}

/// The bytes that a test may have to read of a value. A string is read only as far as it is what it is compared with.
fn bytes(json: &[u8]) -> usize {
    if JsonType::of(json) == JsonType::String { 0 } else { json.len() }
}

impl Test {
    /// Whether it holds for a value, given as valid JSON without white space around it.
    #[must_use]
    pub fn holds(&self, json: &[u8]) -> bool {
        match self {
            Self::Exists => JsonType::of(json) != JsonType::Null,
            Self::Truthy => is_truthy(json),
            Self::Equals(value) => is(json, value),
            Self::OneOf(values) => values.iter().any(|value| is(json, value)),
            Self::StartsWith(prefix) => {
                inside(json).is_some_and(|inside| strip(inside, prefix).is_some())
            }
            Self::IsType(wanted) => JsonType::of(json) == *wanted,
        }
    }
}

impl JsonType {
    /// The type of a value, given as valid JSON without white space around it.
    #[must_use]
    pub fn of(json: &[u8]) -> Self {
        match json.first() {
            Some(b'"') => Self::String,
            Some(b'{') => Self::Object,
            Some(b'[') => Self::Array,
            Some(b't' | b'f') => Self::Boolean,
            Some(b'n') => Self::Null,
            _ => Self::Number,
        }
    }
}

/// Whether a value counts as true: everything but null, `false`, a number that is zero, and what is empty. It is given as
/// valid JSON without white space around it. Zero is told by its digits, so that no rounding decides: `1e-400` is true.
#[must_use]
pub fn is_truthy(json: &[u8]) -> bool {
    match JsonType::of(json) {
        JsonType::Null => false,
        JsonType::Boolean => json.first() == Some(&b't'),
        JsonType::Number => json
            .iter()
            .take_while(|byte| **byte | 0x20 != b'e')
            .any(|byte| matches!(byte, b'1'..=b'9')),
        JsonType::String => json.len() > 2,
        JsonType::Object | JsonType::Array => {
            let inside = json.get(1..json.len().saturating_sub(1)).unwrap_or_default();
            inside.iter().any(|byte| !byte.is_ascii_whitespace())
        }
    }
}

/// What stands between the quotes of a string.
fn inside(json: &[u8]) -> Option<&[u8]> {
    json.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

/// Whether a value is this string, number or boolean. Nothing is null, an array or an object.
fn is(json: &[u8], wanted: &Value) -> bool {
    match wanted {
        Value::String(wanted) => {
            inside(json).is_some_and(|inside| strip(inside, wanted).is_some_and(<[u8]>::is_empty))
        }
        Value::Number(wanted) => {
            JsonType::of(json) == JsonType::Number
                && serde_json::from_slice(json).is_ok_and(|found| is_number(&found, wanted))
        }
        Value::Bool(true) => json == b"true",
        Value::Bool(false) => json == b"false",
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}

/// Integers of 64 bits are the same where they are; other numbers where their doubles are.
fn is_number(found: &Number, wanted: &Number) -> bool {
    let integer = |number: &Number| {
        number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
    };
    match (integer(found), integer(wanted)) {
        (Some(found), Some(wanted)) => found == wanted,
        _ => found.as_f64() == wanted.as_f64(),
    }
}

/// What is left of the inside of a JSON string behind a text that it begins with. No more is read than that text takes.
fn strip<'j>(mut inside: &'j [u8], text: &str) -> Option<&'j [u8]> {
    for wanted in text.chars() {
        let length = if inside.first() == Some(&b'\\') {
            let (found, length) = escape(inside)?;
            (found == wanted).then_some(length)?
        } else {
            let mut buffer = [0; 4];
            let wanted = wanted.encode_utf8(&mut buffer).as_bytes();
            inside.starts_with(wanted).then_some(wanted.len())?
        };
        inside = inside.get(length..)?;
    }
    Some(inside)
}

/// The character that an escape stands for, and the bytes that it takes.
fn escape(text: &[u8]) -> Option<(char, usize)> {
    let found = match text.get(1)? {
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let units = [unit(text, 2), unit(text, 8)];
            let units = units.into_iter().map_while(|unit| unit);
            let found = char::decode_utf16(units).next()?.ok()?;
            return Some((found, 6 * found.len_utf16()));
        }
        quote_or_slash => char::from(*quote_or_slash),
    };
    Some((found, 2))
}

/// Four hexadecimal digits behind `\u`.
fn unit(text: &[u8], at: usize) -> Option<u16> {
    let before = text.get(at.checked_sub(2)?..at)?;
    let digits = std::str::from_utf8(text.get(at..at + 4)?).ok()?;
    (before == b"\\u").then(|| u16::from_str_radix(digits, 16).ok())?
}
