//! Conversions, read from the JSON in which they are written.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::error::ConversionError;
use super::{Conversion, Group, Pattern, PatternBudget};
use crate::diagnostics::codes;
use crate::diagnostics::untrusted::quoted;

/// Most keys of the path of `parse_json`: a text that is taken nests no deeper than an event.
const MAX_KEYS: usize = 256;

impl Conversion {
    /// Reads a step on its own.
    ///
    /// # Errors
    /// [`ConversionError`], the first thing that is wrong.
    pub fn from_json(value: &Value) -> Result<Self, ConversionError> {
        Self::from_json_within(value, &mut PatternBudget::default())
    }

    /// Reads one step of a chain, whose pattern, if it has one, takes from the budget of all patterns.
    ///
    /// # Errors
    /// [`ConversionError`], the first thing that is wrong.
    pub fn from_json_within(
        value: &Value,
        budget: &mut PatternBudget,
    ) -> Result<Self, ConversionError> {
        match value {
            Value::String(name) => simple(name),
            Value::Object(fields)
                if fields.len() == 1
                    && let Some((name, arguments)) = fields.iter().next() =>
            {
                with_arguments(name, arguments, budget)
            }
            _ => {
                let expected =
                    "the name of a conversion, or an object with its name and its arguments";
                Err(ConversionError::wrong_type("", expected))
            }
        }
    }
}

/// The conversions that take no arguments.
const WITHOUT_ARGUMENTS: &[Conversion] = &[
    Conversion::ToString,
    Conversion::ToInt64,
    Conversion::ToDouble,
    Conversion::ToBoolean,
    Conversion::ToJsonText,
    Conversion::Timestamp(None),
    Conversion::Date(None),
    Conversion::Lower,
    Conversion::Upper,
    Conversion::Trim,
    Conversion::Length,
];

fn simple(name: &str) -> Result<Conversion, ConversionError> {
    match WITHOUT_ARGUMENTS.iter().find(|conversion| conversion.name() == name) {
        Some(conversion) => Ok(conversion.clone()),
        None if Conversion::NAMES.contains(&name) => {
            let (expected, observed) =
                (format!("the arguments of {name}"), "its name alone".to_owned());
            Err(ConversionError::new("", codes::MISSING_REQUIRED_FIELD, expected, observed))
        }
        None => Err(unknown(name)),
    }
}

fn unknown(name: &str) -> ConversionError {
    let expected = format!("one of {}", Conversion::NAMES.join(", "));
    ConversionError::new("", codes::INVALID_VALUE, expected, quoted(name))
}

fn with_arguments(
    name: &str,
    arguments: &Value,
    budget: &mut PatternBudget,
) -> Result<Conversion, ConversionError> {
    match name {
        "split" => {
            let arguments = Arguments::of(name, arguments, &["separator", "index"])?;
            let separator = arguments.text("separator")?;
            let index = i32::deserialize(arguments.required("index")?).map_err(|_| {
                ConversionError::wrong_type(".split.index", "an integer of 32 bits")
            })?;
            Ok(Conversion::Split { separator, index })
        }
        "regex" => {
            let arguments = Arguments::of(name, arguments, &["pattern", "group"])?;
            let text = arguments.text("pattern")?;
            let group = arguments.fields.get("group").map(Group::deserialize).transpose();
            let group = group.map_err(|_| {
                let expected = "the number or the name of a group";
                ConversionError::wrong_type(".regex.group", expected)
            })?;
            Pattern::new(text, group, budget).map(Conversion::Regex)
        }
        "parse_json" => Ok(Conversion::ParseJson { path: path(arguments)? }),
        _ if Conversion::NAMES.contains(&name) => {
            let expected = format!("\"{name}\" alone: it takes no arguments");
            Err(ConversionError::wrong_type("", expected))
        }
        _ => Err(unknown(name)),
    }
}

/// The argument of `parse_json`.
fn path(keys: &Value) -> Result<Vec<String>, ConversionError> {
    let at = ".parse_json";
    let no_path = || ConversionError::wrong_type(at, "an array of strings that are not empty");
    let keys = keys.as_array().ok_or_else(no_path)?;
    if keys.len() > MAX_KEYS {
        let (expected, observed) = (format!("at most {MAX_KEYS} keys"), keys.len().to_string());
        return Err(ConversionError::new(at, codes::INVALID_VALUE, expected, observed));
    }
    let key = |key: &Value| key.as_str().filter(|key| !key.is_empty()).map(str::to_owned);
    keys.iter().map(key).collect::<Option<_>>().ok_or_else(no_path)
}

/// The arguments of a conversion that has several.
struct Arguments<'v> {
    /// The conversion's name.
    of: &'v str,
    fields: &'v Map<String, Value>,
}

impl<'v> Arguments<'v> {
    fn of(of: &'v str, value: &'v Value, known: &[&str]) -> Result<Self, ConversionError> {
        let Value::Object(fields) = value else {
            let expected = format!("an object with {}", known.join(", "));
            return Err(ConversionError::wrong_type(format!(".{of}"), expected));
        };
        let arguments = Self { of, fields };
        match fields.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(arguments),
            Some(key) => {
                let (at, code) = (arguments.at(key), codes::UNKNOWN_FIELD);
                Err(ConversionError::new(at, code, known.join(", "), quoted(key)))
            }
        }
    }

    fn at(&self, field: &str) -> String {
        format!(".{}.{field}", self.of)
    }

    fn required(&self, field: &str) -> Result<&'v Value, ConversionError> {
        self.fields.get(field).ok_or_else(|| {
            let observed = "no such field; it has no default".to_owned();
            let code = codes::MISSING_REQUIRED_FIELD;
            ConversionError::new(self.at(field), code, "a value", observed)
        })
    }

    fn text(&self, field: &str) -> Result<String, ConversionError> {
        match self.required(field)? {
            Value::String(text) if !text.is_empty() => Ok(text.clone()),
            Value::String(_) => {
                let expected = "a string that is not empty";
                Err(ConversionError::new(self.at(field), codes::EMPTY_STRING, expected, None))
            }
            _ => Err(ConversionError::wrong_type(self.at(field), "a string")),
        }
    }
}
