//! The JSON of an input, read. Strict: unknown keys, missing keys and values of another type are refused.

use std::fmt;

use serde::de::{DeserializeSeed, Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::strict::Strict;
use super::{Input, Rows, What};
use crate::plan::expr::conversion::PatternBudget;
use crate::plan::expr::{
    Condition, Conversion, Expression, Iteration, JsonType, Level, OnError, Over, Piece, Reference,
    Source, Template, Test,
};

/// What is wrong. The reader of the section escapes and bounds it, and the reader of the JSON adds where.
type Read<T> = Result<T, String>;

/// Reads the inputs of a section. Their patterns share one budget, or a section of a few kilobytes would take minutes to
/// read.
pub(in crate::abi) fn inputs<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Input>, D::Error> {
    deserializer.deserialize_seq(Inputs)
}

struct Inputs;

impl<'de> Visitor<'de> for Inputs {
    type Value = Vec<Input>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of inputs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Vec<Input>, A::Error> {
        let mut patterns = PatternBudget::of_section();
        let mut inputs = Vec::new();
        while let Some(input) = elements.next_element_seed(One(&mut patterns))? {
            inputs.push(input);
        }
        Ok(inputs)
    }
}

/// One input, within what is left for patterns.
struct One<'b>(&'b mut PatternBudget);

impl<'de> DeserializeSeed<'de> for One<'_> {
    type Value = Input;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Input, D::Error> {
        let Strict(value) = Strict::deserialize(deserializer)?;
        input(&value, self.0).map_err(Error::custom)
    }
}

impl<'de> Deserialize<'de> for Rows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Strict(value) = Strict::deserialize(deserializer)?;
        rows(&value).map_err(Error::custom)
    }
}

/// The keys one of which says where a value comes from.
const SOURCES: &[&str] = &["path", "template", "coalesce", "constant"];

fn input(value: &Value, patterns: &mut PatternBudget) -> Read<Input> {
    const ALL: &[&str] = &["path", "template", "coalesce", "constant", "when"];
    const OTHERS: &[&str] = &["level", "as", "rows", "if", "on_error"];
    let fields = object(value, &[ALL, OTHERS])?;
    let what = match one_of(fields, ALL)? {
        ("when", tested) => {
            without(fields, &["level", "as", "on_error"], "a condition")?;
            What::When(condition(tested)?)
        }
        ("path", keys) if fields.get("as").and_then(Value::as_str) == Some("truthy") => {
            without(fields, &["on_error"], "a condition")?;
            What::Truthy(reference(fields, keys)?)
        }
        (name, of) => What::Value(expression(fields, name, of, patterns)?),
    };
    Ok(Input {
        what,
        rows: place(fields, "rows")?,
        only_if: place(fields, "if")?,
        on_error: match fields.get("on_error").map(|value| (value, value.as_str())) {
            None | Some((_, Some("omit"))) => OnError::Omit,
            Some((_, Some("reject"))) => OnError::Reject,
            Some((found, _)) => return Err(expected("on_error", "omit or reject", found)),
        },
    })
}

fn rows(value: &Value) -> Read<Rows> {
    const OVER: &[&str] = &["array", "entries"];
    let fields = object(value, &[OVER, &["within", "if"]])?;
    let (name, keys) = one_of(fields, OVER)?;
    let over = if name == "array" { Over::Array } else { Over::Entries };
    Ok(Rows {
        iteration: Iteration { over, path: path(name, keys)? },
        within: place(fields, "within")?,
        only_if: place(fields, "if")?,
    })
}

/// A value whose source is under the key `name`.
fn expression(
    fields: &Map<String, Value>,
    name: &str,
    source: &Value,
    patterns: &mut PatternBudget,
) -> Read<Expression> {
    if name != "path" {
        without(fields, &["level"], name)?;
    }
    let source = match (name, source) {
        ("path", keys) => Source::Path(reference(fields, keys)?),
        ("template", Value::Array(pieces)) => {
            let pieces = pieces.iter().map(piece).collect::<Read<_>>()?;
            Source::Template(Template::of(pieces))
        }
        // As deep as the reader of JSON lets them nest; a section lets them nest less.
        ("coalesce", Value::Array(values)) => {
            let alternatives = values.iter().map(|value| alternative(value, patterns));
            Source::Coalesce(alternatives.collect::<Read<_>>()?)
        }
        ("constant", constant) if is_scalar(constant) => Source::Constant(constant.clone()),
        ("constant", found) => return Err(expected(name, "a string, number or boolean", found)),
        (_, found) => return Err(expected(name, "an array", found)),
    };
    let convert = match fields.get("as") {
        None => Vec::new(),
        Some(Value::String(name)) if name == "json" => Vec::new(),
        Some(Value::Array(steps)) if !steps.is_empty() => {
            steps.iter().enumerate().map(|it| step(it, patterns)).collect::<Read<_>>()?
        }
        Some(Value::String(name)) => {
            let expected = "expected json, truthy (for a path) or a list";
            return Err(format!("unknown conversion `{name}`, {expected}"));
        }
        Some(found) => return Err(expected("as", "a name or a list of conversions", found)),
    };
    Ok(Expression { source, convert })
}

fn step((index, value): (usize, &Value), patterns: &mut PatternBudget) -> Read<Conversion> {
    Conversion::from_json_within(value, patterns)
        .map_err(|error| format!("as[{index}]{}: {error}", error.at))
}

/// One of the values of a `coalesce`.
fn alternative(value: &Value, patterns: &mut PatternBudget) -> Read<Expression> {
    let fields = object(value, &[SOURCES, &["level", "as"]])?;
    let (name, source) = one_of(fields, SOURCES)?;
    expression(fields, name, source, patterns)
}

fn piece(value: &Value) -> Read<Piece> {
    match value {
        Value::String(text) if !text.is_empty() => Ok(Piece::Text(text.clone())),
        Value::Object(_) => {
            let fields = object(value, &[&["path", "level"]])?;
            Ok(Piece::Value(reference(fields, one_of(fields, &["path"])?.1)?))
        }
        found => Err(expected("template", "text that isn't empty, or a path", found)),
    }
}

fn condition(value: &Value) -> Read<Condition> {
    const KINDS: &[&str] = &["path", "all", "any", "not"];
    const TESTS: &[&str] = &["exists", "truthy", "equals", "one_of", "starts_with", "is_type"];
    let fields = object(value, &[KINDS, &["level"], TESTS])?;
    let (kind, of) = one_of(fields, KINDS)?;
    if kind == "path" {
        let reference = reference(fields, of)?;
        let (name, value) = one_of(fields, TESTS)?;
        return Ok(Condition::Test(reference, test(name, value)?));
    }
    without(fields, &["level"], kind)?;
    without(fields, TESTS, kind)?;
    // As deep as the reader of JSON lets them nest; a section lets them nest less.
    match (kind, of) {
        ("not", inner) => Ok(Condition::Not(Box::new(condition(inner)?))),
        (_, Value::Array(list)) if !list.is_empty() => {
            let list = list.iter().map(condition).collect::<Read<_>>()?;
            Ok(if kind == "all" { Condition::All(list) } else { Condition::Any(list) })
        }
        (_, found) => Err(expected(kind, "an array that isn't empty", found)),
    }
}

fn test(name: &str, value: &Value) -> Read<Test> {
    match (name, value) {
        ("exists", Value::Bool(true)) => Ok(Test::Exists),
        ("truthy", Value::Bool(true)) => Ok(Test::Truthy),
        ("exists" | "truthy", found) => Err(expected(name, "true", found)),
        ("equals", scalar) if is_scalar(scalar) => Ok(Test::Equals(scalar.clone())),
        ("one_of", Value::Array(list)) if !list.is_empty() && list.iter().all(is_scalar) => {
            Ok(Test::OneOf(list.clone()))
        }
        ("one_of", found) => {
            Err(expected(name, "an array of strings, numbers and booleans", found))
        }
        ("starts_with", Value::String(prefix)) => Ok(Test::StartsWith(prefix.clone())),
        ("starts_with", found) => Err(expected(name, "a string", found)),
        ("is_type", Value::String(_)) => {
            let fault = |_| expected(name, "the name of a type of JSON", value);
            JsonType::deserialize(value).map(Test::IsType).map_err(fault)
        }
        ("is_type", found) => Err(expected(name, "the name of a type of JSON", found)),
        (_, found) => Err(expected(name, "a string, number or boolean", found)),
    }
}

fn is_scalar(value: &Value) -> bool {
    matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_))
}

fn reference(fields: &Map<String, Value>, keys: &Value) -> Read<Reference> {
    let level = match fields.get("level") {
        None => Level::EVENT,
        Some(value) => {
            let level = value.as_u64().and_then(|level| u8::try_from(level).ok()).map(Level);
            let level = level.filter(|level| *level <= Level::DEEPEST);
            level.ok_or_else(|| expected("level", "0, 1 or 2", value))?
        }
    };
    Ok(Reference { path: path("path", keys)?, level })
}

fn path(name: &str, value: &Value) -> Read<Vec<String>> {
    let fault = || expected(name, "an array of strings", value);
    let keys = value.as_array().ok_or_else(fault)?.iter();
    keys.map(|key| key.as_str().map(str::to_owned).ok_or_else(fault)).collect()
}

fn place(fields: &Map<String, Value>, name: &str) -> Read<Option<usize>> {
    let read = |value: &Value| {
        let place = value.as_u64().and_then(|place| usize::try_from(place).ok());
        place.ok_or_else(|| expected(name, "a place in a list, counted from 0", value))
    };
    fields.get(name).map(read).transpose()
}

/// An object that has none but the known keys.
fn object<'v>(value: &'v Value, known: &[&[&str]]) -> Read<&'v Map<String, Value>> {
    let Value::Object(fields) = value else {
        return Err(format!("invalid type: {}, expected an object", shown(value)));
    };
    let known = || known.iter().copied().flatten().copied();
    match fields.keys().find(|key| !known().any(|known| known == key.as_str())) {
        None => Ok(fields),
        Some(key) => {
            let expected: Vec<&str> = known().collect();
            Err(format!("unknown field `{key}`, expected one of {}", expected.join(", ")))
        }
    }
}

/// The one of these keys that there is, with its value.
fn one_of<'v, 'n>(
    fields: &'v Map<String, Value>,
    names: &'n [&'n str],
) -> Read<(&'n str, &'v Value)> {
    let mut found = names.iter().filter_map(|name| Some((*name, fields.get(*name)?)));
    let listed = || names.join(", ");
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (None, _) => Err(format!("missing field {}", listed())),
        (Some((one, _)), Some((other, _))) => {
            Err(format!("expected one of {}, found both {one} and {other}", listed()))
        }
    }
}

fn without(fields: &Map<String, Value>, names: &[&str], beside: &str) -> Read<()> {
    match names.iter().find(|name| fields.contains_key(**name)) {
        None => Ok(()),
        Some(name) => Err(format!("unknown field {name} beside {beside}")),
    }
}

fn expected(name: &str, expected: &str, found: &Value) -> String {
    format!("{name}: expected {expected}, found {}", shown(found))
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(boolean) => boolean.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("`{text}`"),
        Value::Array(list) if list.is_empty() => "an empty array".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
