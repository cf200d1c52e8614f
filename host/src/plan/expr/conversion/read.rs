//! Conversions, read from the JSON in which they are written.

use serde_json::{Map, Value};

use super::error::{ConversionError, ConversionFault};
use super::{Conversion, Group, Pattern, PatternBudget};
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
            Value::Object(fields) if fields.len() == 1 => match fields.iter().next() {
                Some((name, arguments)) => with_arguments(name, arguments, budget),
                None => Err(no_step()),
            },
            _ => Err(no_step()),
        }
    }
}

fn no_step() -> ConversionError {
    ConversionError::new(
        "",
        ConversionFault::Type,
        "expected the name of a conversion, or an object with its name and its arguments",
    )
}

fn simple(name: &str) -> Result<Conversion, ConversionError> {
    Ok(match name {
        "to_string" => Conversion::ToString,
        "to_int64" => Conversion::ToInt64,
        "to_double" => Conversion::ToDouble,
        "to_boolean" => Conversion::ToBoolean,
        "to_json_text" => Conversion::ToJsonText,
        "timestamp" => Conversion::Timestamp,
        "date" => Conversion::Date,
        "lower" => Conversion::Lower,
        "upper" => Conversion::Upper,
        "trim" => Conversion::Trim,
        "length" => Conversion::Length,
        "split" | "regex" | "parse_json" => {
            let message = format!("expected the arguments of {name}, found its name alone");
            return Err(ConversionError::new("", ConversionFault::MissingField, message));
        }
        _ => return Err(unknown(name)),
    })
}

fn unknown(name: &str) -> ConversionError {
    let message =
        format!("expected one of {}, found {}", Conversion::NAMES.join(", "), quoted(name));
    ConversionError::new("", ConversionFault::Value, message)
}

fn with_arguments(
    name: &str,
    arguments: &Value,
    budget: &mut PatternBudget,
) -> Result<Conversion, ConversionError> {
    match name {
        "split" => {
            let fields = object(name, arguments, &["separator", "index"])?;
            let separator = text(name, fields, "separator")?;
            let at = ".split.index";
            let index = required(name, fields, "index")?.as_i64();
            let index = index.and_then(|index| i32::try_from(index).ok());
            let index = index.ok_or_else(|| {
                ConversionError::new(at, ConversionFault::Type, "expected an integer of 32 bits")
            })?;
            Ok(Conversion::Split { separator, index })
        }
        "regex" => {
            let fields = object(name, arguments, &["pattern", "group"])?;
            let text = text(name, fields, "pattern")?;
            let group = fields.get("group").map(group).transpose()?;
            Pattern::new(text, group, budget).map(Conversion::Regex)
        }
        "parse_json" => {
            let expected = "expected an array of strings that are not empty";
            let fault = || ConversionError::new(".parse_json", ConversionFault::Type, expected);
            let keys = arguments.as_array().ok_or_else(fault)?;
            if keys.len() > MAX_KEYS {
                let message = format!("expected at most {MAX_KEYS} keys, found {}", keys.len());
                return Err(ConversionError::new(".parse_json", ConversionFault::Value, message));
            }
            let keys = keys.iter();
            let key = |key: &Value| key.as_str().filter(|key| !key.is_empty()).map(str::to_owned);
            let path = keys.map(|it| key(it).ok_or_else(fault)).collect::<Result<_, _>>()?;
            Ok(Conversion::ParseJson { path })
        }
        _ if Conversion::NAMES.contains(&name) => {
            let message = format!("expected \"{name}\" alone: it takes no arguments");
            Err(ConversionError::new("", ConversionFault::Type, message))
        }
        _ => Err(unknown(name)),
    }
}

fn group(value: &Value) -> Result<Group, ConversionError> {
    if let Some(name) = value.as_str() {
        return Ok(Group::Name(name.to_owned()));
    }
    let number = value.as_u64().and_then(|number| u16::try_from(number).ok());
    number.map(Group::Number).ok_or_else(|| {
        let message = "expected the number or the name of a group";
        ConversionError::new(".regex.group", ConversionFault::Type, message)
    })
}

fn object<'v>(
    name: &str,
    value: &'v Value,
    known: &[&str],
) -> Result<&'v Map<String, Value>, ConversionError> {
    let Value::Object(fields) = value else {
        let message = format!("expected an object with {}", known.join(", "));
        return Err(ConversionError::new(format!(".{name}"), ConversionFault::Type, message));
    };
    match fields.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(fields),
        Some(key) => {
            let message = format!("expected {}, found {}", known.join(", "), quoted(key));
            let at = format!(".{name}.{key}");
            Err(ConversionError::new(at, ConversionFault::UnknownField, message))
        }
    }
}

fn required<'v>(
    name: &str,
    fields: &'v Map<String, Value>,
    field: &str,
) -> Result<&'v Value, ConversionError> {
    fields.get(field).ok_or_else(|| {
        let message = "expected a value, found no such field; it has no default";
        ConversionError::new(format!(".{name}.{field}"), ConversionFault::MissingField, message)
    })
}

fn text(name: &str, fields: &Map<String, Value>, field: &str) -> Result<String, ConversionError> {
    let at = || format!(".{name}.{field}");
    match required(name, fields, field)? {
        Value::String(text) if !text.is_empty() => Ok(text.clone()),
        Value::String(_) => {
            let message = "expected a string that is not empty";
            Err(ConversionError::new(at(), ConversionFault::Empty, message))
        }
        _ => Err(ConversionError::new(at(), ConversionFault::Type, "expected a string")),
    }
}
