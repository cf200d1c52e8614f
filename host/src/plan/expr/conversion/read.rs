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
        "the name of a conversion, or an object with its name and its arguments",
        None,
    )
}

/// The conversions that take no arguments.
const WITHOUT_ARGUMENTS: &[Conversion] = &[
    Conversion::ToString,
    Conversion::ToInt64,
    Conversion::ToDouble,
    Conversion::ToBoolean,
    Conversion::ToJsonText,
    Conversion::Timestamp,
    Conversion::Date,
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
            Err(ConversionError::new("", ConversionFault::MissingField, expected, observed))
        }
        None => Err(unknown(name)),
    }
}

fn unknown(name: &str) -> ConversionError {
    let expected = format!("one of {}", Conversion::NAMES.join(", "));
    ConversionError::new("", ConversionFault::Value, expected, quoted(name))
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
                ConversionError::new(at, ConversionFault::Type, "an integer of 32 bits", None)
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
            let at = ".parse_json";
            let expected = "an array of strings that are not empty";
            let fault = || ConversionError::new(at, ConversionFault::Type, expected, None);
            let keys = arguments.as_array().ok_or_else(fault)?;
            if keys.len() > MAX_KEYS {
                let (expected, observed) =
                    (format!("at most {MAX_KEYS} keys"), keys.len().to_string());
                return Err(ConversionError::new(at, ConversionFault::Value, expected, observed));
            }
            let keys = keys.iter();
            let key = |key: &Value| key.as_str().filter(|key| !key.is_empty()).map(str::to_owned);
            let path = keys.map(|it| key(it).ok_or_else(fault)).collect::<Result<_, _>>()?;
            Ok(Conversion::ParseJson { path })
        }
        _ if Conversion::NAMES.contains(&name) => {
            let expected = format!("\"{name}\" alone: it takes no arguments");
            Err(ConversionError::new("", ConversionFault::Type, expected, None))
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
        let expected = "the number or the name of a group";
        ConversionError::new(".regex.group", ConversionFault::Type, expected, None)
    })
}

fn object<'v>(
    name: &str,
    value: &'v Value,
    known: &[&str],
) -> Result<&'v Map<String, Value>, ConversionError> {
    let Value::Object(fields) = value else {
        let (at, expected) = (format!(".{name}"), format!("an object with {}", known.join(", ")));
        return Err(ConversionError::new(at, ConversionFault::Type, expected, None));
    };
    match fields.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(fields),
        Some(key) => {
            let (at, expected) = (format!(".{name}.{key}"), known.join(", "));
            Err(ConversionError::new(at, ConversionFault::UnknownField, expected, quoted(key)))
        }
    }
}

fn required<'v>(
    name: &str,
    fields: &'v Map<String, Value>,
    field: &str,
) -> Result<&'v Value, ConversionError> {
    fields.get(field).ok_or_else(|| {
        let (at, fault) = (format!(".{name}.{field}"), ConversionFault::MissingField);
        ConversionError::new(at, fault, "a value", "no such field; it has no default".to_owned())
    })
}

fn text(name: &str, fields: &Map<String, Value>, field: &str) -> Result<String, ConversionError> {
    let at = || format!(".{name}.{field}");
    match required(name, fields, field)? {
        Value::String(text) if !text.is_empty() => Ok(text.clone()),
        Value::String(_) => {
            let expected = "a string that is not empty";
            Err(ConversionError::new(at(), ConversionFault::Empty, expected, None))
        }
        _ => Err(ConversionError::new(at(), ConversionFault::Type, "a string", None)),
    }
}
