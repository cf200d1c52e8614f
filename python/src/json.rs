//! Between JSON and objects of Python.

use jiter::{PythonParse, StringCacheMode};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use retort::sandbox::MAX_DEPTH;

/// JSON as objects of Python.
pub(crate) fn read<'py>(py: Python<'py>, json: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let reader = PythonParse { cache_mode: StringCacheMode::Keys, ..PythonParse::default() };
    reader.python_parse(py, json).map_err(|error| jiter::map_json_error(json, &error))
}

/// Why an object of Python can't be written as JSON.
#[derive(Debug)]
pub(crate) struct Unwritable {
    /// The steps to it, the last one first.
    steps: Vec<String>,
    found: String,
}

impl Unwritable {
    fn new(found: impl Into<String>) -> Self {
        Self { steps: Vec::new(), found: found.into() }
    }

    fn at(mut self, step: String) -> Self {
        self.steps.push(step);
        self
    }

    /// Where it is: `content.items[3]`.
    pub(crate) fn path(&self) -> String {
        let path: String = self.steps.iter().rev().map(String::as_str).collect();
        path.strip_prefix('.').unwrap_or(&path).to_owned()
    }

    /// What was expected and what was found.
    pub(crate) fn message(&self) -> String {
        format!("expected a value of JSON, found {}", self.found)
    }
}

/// Writes a dict as JSON text: str, int, float, bool, None, list, tuple and dict, and nothing that would have to be guessed.
pub(crate) fn write(value: &Bound<'_, PyAny>) -> Result<Vec<u8>, Unwritable> {
    let mut text = Vec::with_capacity(256);
    write_value(value, &mut text, 0)?;
    Ok(text)
}

fn write_value(
    value: &Bound<'_, PyAny>,
    text: &mut Vec<u8>,
    depth: usize,
) -> Result<(), Unwritable> {
    if depth > MAX_DEPTH {
        return Err(Unwritable::new(format!("one that is more than {MAX_DEPTH} levels deep")));
    }
    // Most values are of just these types, which is quicker to tell than what a type is one of.
    if let Ok(value) = value.cast_exact::<PyString>() {
        write_string(value, text)
    } else if let Ok(value) = value.cast_exact::<PyFloat>() {
        write_float(value, text)
    } else if let Ok(value) = value.cast::<PyString>() {
        write_string(value, text)
    } else if let Ok(value) = value.cast::<PyDict>() {
        text.push(b'{');
        for (number, (key, value)) in value.iter().enumerate() {
            if number > 0 {
                text.push(b',');
            }
            let Ok(key) = key.cast::<PyString>() else {
                return Err(Unwritable::new(format!("a key that is {}", kind(&key))));
            };
            write_string(key, text)?;
            text.push(b':');
            write_value(&value, text, depth + 1).map_err(|error| error.at(format!(".{key}")))?;
        }
        text.push(b'}');
        Ok(())
    } else if let Ok(value) = value.cast::<PyBool>() {
        text.extend_from_slice(if value.is_true() { b"true" } else { b"false" });
        Ok(())
    } else if let Ok(value) = value.cast::<PyInt>() {
        write_int(value, text)
    } else if let Ok(value) = value.cast::<PyFloat>() {
        write_float(value, text)
    } else if value.is_none() {
        text.extend_from_slice(b"null");
        Ok(())
    } else if let Ok(list) = value.cast::<PyList>() {
        write_items(list.iter(), text, depth)
    } else if let Ok(tuple) = value.cast::<PyTuple>() {
        write_items(tuple.iter(), text, depth)
    } else {
        Err(Unwritable::new(kind(value)))
    }
}

fn write_items<'py>(
    items: impl Iterator<Item = Bound<'py, PyAny>>,
    text: &mut Vec<u8>,
    depth: usize,
) -> Result<(), Unwritable> {
    text.push(b'[');
    for (number, item) in items.enumerate() {
        if number > 0 {
            text.push(b',');
        }
        write_value(&item, text, depth + 1).map_err(|error| error.at(format!("[{number}]")))?;
    }
    text.push(b']');
    Ok(())
}

fn write_string(value: &Bound<'_, PyString>, text: &mut Vec<u8>) -> Result<(), Unwritable> {
    let Ok(value) = value.to_str() else {
        return Err(Unwritable::new("a str with half of a surrogate pair, which isn't UTF-8"));
    };
    let is_escaped = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    // All of them, so that many are looked at in one step.
    if value.bytes().fold(false, |any, byte| any | is_escaped(byte)) {
        // A vector takes all that is written.
        let _ = serde_json::to_writer(text, value);
        return Ok(());
    }
    text.reserve(value.len() + 2);
    text.push(b'"');
    text.extend_from_slice(value.as_bytes());
    text.push(b'"');
    Ok(())
}

fn write_float(value: &Bound<'_, PyFloat>, text: &mut Vec<u8>) -> Result<(), Unwritable> {
    let value = value.value();
    if !value.is_finite() {
        return Err(Unwritable::new(format!("the number {value}")));
    }
    let _ = serde_json::to_writer(text, &value);
    Ok(())
}

/// An int of whatever size: digits stay as they are.
fn write_int(value: &Bound<'_, PyInt>, text: &mut Vec<u8>) -> Result<(), Unwritable> {
    if let Ok(value) = value.extract::<i64>() {
        let _ = serde_json::to_writer(text, &value);
        return Ok(());
    }
    // What is a subclass may print in another way.
    let digits = value.call_method0("__index__").and_then(|value| value.str());
    match digits.as_ref().map(|digits| digits.to_str()) {
        Ok(Ok(digits)) => text.extend_from_slice(digits.as_bytes()),
        _ => return Err(Unwritable::new("an int with more digits than Python prints")),
    }
    Ok(())
}

/// What a value is, for a message.
pub(crate) fn kind(value: &Bound<'_, PyAny>) -> String {
    match value.get_type().name() {
        Ok(name) => format!("a value of type {name}"),
        Err(_) => "a value of another type".to_owned(),
    }
}
