//! Conditions, tested on the JSON of the event.

use std::slice;

use serde_json::{Number, Value};

use super::Lookup;
use crate::json::string::{self, inside, strip};
use crate::plan::expr::fuel::{self, OutOfFuel};
use crate::plan::expr::query::CompiledQuery;
use crate::plan::expr::{Condition, Json, JsonType, Reference, Test};

/// A condition whose references are numbers, made ready to be tested for event after event.
#[derive(Clone, Debug)]
pub(crate) enum CompiledCondition {
    /// A test of what is at the reference with this number.
    Test(usize, CompiledTest),
    /// All of these.
    All(Vec<CompiledCondition>),
    /// One of these.
    Any(Vec<CompiledCondition>),
    /// Not this.
    Not(Box<CompiledCondition>),
    /// That an expression gives something true.
    Query(CompiledQuery),
}

impl CompiledCondition {
    /// Makes a condition ready. `resolve` gives each reference the number under which it is looked up.
    #[must_use]
    pub(crate) fn new(condition: &Condition, resolve: &mut dyn FnMut(&Reference) -> usize) -> Self {
        // No deeper than Condition::MAX_DEPTH, which readers hold to.
        match condition {
            Condition::Test(reference, test) => {
                Self::Test(resolve(reference), CompiledTest::new(test))
            }
            Condition::All(all) => Self::All(all.iter().map(|it| Self::new(it, resolve)).collect()),
            Condition::Any(any) => Self::Any(any.iter().map(|it| Self::new(it, resolve)).collect()),
            Condition::Not(inner) => Self::Not(Box::new(Self::new(inner, resolve))),
            Condition::Query(query) => Self::Query(CompiledQuery::new(query, resolve)),
        }
    }

    /// Hands out the expressions in it.
    pub(crate) fn each_query(&mut self, each: &mut dyn FnMut(&mut CompiledQuery)) {
        match self {
            Self::Test(..) => {}
            Self::All(all) | Self::Any(all) => all.iter_mut().for_each(|it| it.each_query(each)),
            Self::Not(inner) => inner.each_query(each),
            Self::Query(query) => each(query),
        }
    }

    /// Whether it holds. What is decided early isn't looked at further: neither are its values, nor does it cost.
    ///
    /// # Errors
    /// [`OutOfFuel`], as soon as something costs more than is left.
    #[inline]
    pub(crate) fn holds(&self, event: &impl Lookup, fuel: &mut u64) -> Result<bool, OutOfFuel> {
        match self {
            // Most parts of larger ones are a test, and so are most conditions of rows.
            Self::Test(index, test) => test.holds(event.json(*index), fuel),
            _ => self.combined(event, fuel),
        }
    }

    /// The same for what is made of others, and for what a test isn't.
    fn combined(&self, event: &impl Lookup, fuel: &mut u64) -> Result<bool, OutOfFuel> {
        match self {
            Self::Test(..) => self.holds(event, fuel),
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
            Self::Query(query) => query.holds(event, fuel),
        }
    }
}

/// A test, made ready.
#[derive(Clone, Debug)]
pub(crate) enum CompiledTest {
    Exists,
    Truthy,
    /// This string. Most tests are for one.
    Is(String),
    /// One of these strings, numbers and booleans.
    OneOf {
        texts: Vec<String>,
        /// Bytes of all of them together.
        text_bytes: usize,
        numbers: Vec<Number>,
        /// Whether `false` and `true` are among them.
        booleans: [bool; 2],
    },
    StartsWith(String),
    IsType(JsonType),
}

impl CompiledTest {
    fn new(test: &Test) -> Self {
        match test {
            Test::Exists => Self::Exists,
            Test::Truthy => Self::Truthy,
            Test::Equals(wanted) => Self::one_of(slice::from_ref(wanted)),
            Test::OneOf(wanted) => Self::one_of(wanted),
            Test::StartsWith(prefix) => Self::StartsWith(prefix.clone()),
            Test::IsType(wanted) => Self::IsType(*wanted),
        }
    }

    fn one_of(wanted: &[Value]) -> Self {
        if let [Value::String(text)] = wanted {
            return Self::Is(text.clone());
        }
        let texts: Vec<String> =
            wanted.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        Self::OneOf {
            text_bytes: texts.iter().map(String::len).sum(),
            texts,
            numbers: wanted.iter().filter_map(Value::as_number).cloned().collect(),
            booleans: [false, true].map(|it| wanted.contains(&Value::Bool(it))),
        }
    }

    /// Whether it holds for a value, if there is one. Fuel is spent by the bytes that may be read of it: of a string no more than it
    /// is compared with.
    ///
    /// # Errors
    /// [`OutOfFuel`], when that costs more than is left.
    pub(crate) fn holds(&self, found: Option<Json<'_>>, fuel: &mut u64) -> Result<bool, OutOfFuel> {
        let Some(Json { text, may_escape }) = found else {
            return fuel::spend(fuel, fuel::TEST.of(0)).map(|()| false);
        };
        let json = text.as_bytes();
        let found = JsonType::of(json);
        let mut read = |bytes| fuel::spend(fuel, fuel::TEST.of(bytes));
        match (self, found) {
            (Self::Is(wanted), JsonType::String) => {
                read(wanted.len())?;
                Ok(is_text(json, may_escape, wanted))
            }
            (Self::OneOf { texts, text_bytes, .. }, JsonType::String) => {
                read(*text_bytes)?;
                Ok(texts.iter().any(|wanted| is_text(json, may_escape, wanted)))
            }
            (Self::Is(_), JsonType::Number) => read(json.len()).map(|()| false),
            (Self::OneOf { numbers, .. }, JsonType::Number) => {
                read(json.len())?;
                Ok(serde_json::from_slice(json).is_ok_and(|found: Number| {
                    numbers.iter().any(|wanted| is_number(&found, wanted))
                }))
            }
            (Self::StartsWith(prefix), JsonType::String) => {
                read(prefix.len())?;
                let inside = inside(json).unwrap_or_default();
                Ok(match may_escape {
                    true => strip(inside, prefix).is_some(),
                    false => inside.starts_with(prefix.as_bytes()),
                })
            }
            (Self::Truthy, JsonType::Number | JsonType::Object | JsonType::Array) => {
                read(json.len())?;
                Ok(is_truthy(json))
            }
            (_, _) => {
                read(0)?;
                Ok(match self {
                    Self::Exists => found != JsonType::Null,
                    Self::Truthy => is_truthy(json),
                    Self::OneOf { booleans, .. } => {
                        found == JsonType::Boolean
                            && booleans[usize::from(json.first() == Some(&b't'))]
                    }
                    Self::Is(_) | Self::StartsWith(_) => false,
                    Self::IsType(wanted) => found == *wanted,
                })
            }
        }
    }
}

impl JsonType {
    /// The type of a value, given as valid JSON without white space around it.
    pub(crate) fn of(json: &[u8]) -> Self {
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
/// valid JSON without white space around it. Zero is recognised by its digits, so that no rounding decides: `1e-400` is true.
#[must_use]
pub(crate) fn is_truthy(json: &[u8]) -> bool {
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

/// Whether a string has this text.
#[inline]
fn is_text(json: &[u8], may_escape: bool, wanted: &str) -> bool {
    let inside = inside(json).unwrap_or_default();
    if may_escape { string::is(inside, wanted) } else { inside == wanted.as_bytes() }
}

/// Integers of 64 bits are the same where they are; other numbers where their doubles are.
fn is_number(found: &Number, wanted: &Number) -> bool {
    match (found.as_i128(), wanted.as_i128()) {
        (Some(found), Some(wanted)) => found == wanted,
        _ => found.as_f64() == wanted.as_f64(),
    }
}
