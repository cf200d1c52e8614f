//! The thorough reader: any order of keys and any white space, and the place of what is wrong.

use std::fmt;

use super::{ResultCounts, ResultError, VALUE_DEPTH};
use crate::abi::slot::SlotKind;
use crate::diagnostics::untrusted::quoted;
use crate::json::scan::{self, Stop};

/// The verdict on any text, with the place of what is wrong.
pub(super) fn read(bytes: &[u8]) -> Result<ResultCounts, ResultError> {
    let mut shape = ResultCounts::default();
    let place = ResultPath { parent: None, step: ResultStep::Key("") };
    let end = object(bytes, scan::space(bytes, 0), place, RESULT, &mut |key, at, place| {
        let (count, end) = match key {
            0 => array(bytes, at, place, &mut |at, place| {
                object(bytes, at, place, NODE, &mut |key, at, place| match key {
                    0 | 1 => string(bytes, at, place),
                    2 => Ok(array(bytes, at, place, &mut |at, place| string(bytes, at, place))?.1),
                    _ => properties(bytes, at, place),
                })
            })?,
            1 => array(bytes, at, place, &mut |at, place| {
                object(bytes, at, place, EDGE, &mut |key, at, place| match key {
                    0..=3 => string(bytes, at, place),
                    _ => properties(bytes, at, place),
                })
            })?,
            _ => array(bytes, at, place, &mut |at, place| string(bytes, at, place))?,
        };
        match key {
            0 => shape.nodes = count,
            1 => shape.edges = count,
            2 => shape.fully_handled = count,
            _ => shape.partially_handled = count,
        }
        Ok(end)
    })?;
    let end = scan::space(bytes, end);
    if end != bytes.len() {
        let message = "expected the end of the text behind the value".to_owned();
        return Err(ResultError::NotJson { at: end, message, path: String::new() });
    }
    Ok(shape)
}

const RESULT: &[&str] = &["nodes", "edges", "fully_handled_span_ids", "partially_handled_span_ids"];
const NODE: &[&str] = &["node_id", "entity_name", "labels", "properties"];
const EDGE: &[&str] = &["edge_id", "relationship_name", "from_node_id", "to_node_id", "properties"];
const PROPERTY: &[&str] = &["name", "value"];

/// Where in the result the check is: a chain of steps on the stack, turned into text only for an error.
#[derive(Clone, Copy)]
struct ResultPath<'a> {
    parent: Option<&'a ResultPath<'a>>,
    step: ResultStep,
}

#[derive(Clone, Copy)]
enum ResultStep {
    Key(&'static str),
    Index(usize),
}

impl fmt::Display for ResultPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
            match self.step {
                ResultStep::Key(key) if parent.parent.is_some() => write!(f, ".{key}"),
                ResultStep::Key(key) => f.write_str(key),
                ResultStep::Index(index) => write!(f, "[{index}]"),
            }
        } else {
            Ok(())
        }
    }
}

type Checked = Result<usize, ResultError>;

fn properties(bytes: &[u8], at: usize, place: ResultPath<'_>) -> Checked {
    let (_, end) = array(bytes, at, place, &mut |at, place| {
        object(bytes, at, place, PROPERTY, &mut |key, at, place| match key {
            0 => string(bytes, at, place),
            _ => Ok(scan::value(bytes, at, VALUE_DEPTH).map_err(|error| not_json(error, place))?.0),
        })
    })?;
    Ok(end)
}

#[inline(always)]
fn string(bytes: &[u8], at: usize, place: ResultPath<'_>) -> Checked {
    if scan::byte(bytes, at) != b'"' {
        return Err(wrong(bytes, at, place, "string"));
    }
    Ok(scan::string(bytes, at + 1).map_err(|error| not_json(error, place))?.0)
}

/// An array whose elements `element` checks: how many there are, and the offset after.
#[inline(always)]
fn array(
    bytes: &[u8],
    at: usize,
    place: ResultPath<'_>,
    element: &mut dyn FnMut(usize, ResultPath<'_>) -> Checked,
) -> Result<(usize, usize), ResultError> {
    if scan::byte(bytes, at) != b'[' {
        return Err(wrong(bytes, at, place, "array"));
    }
    let mut at = scan::space(bytes, at + 1);
    if scan::byte(bytes, at) == b']' {
        return Ok((0, at + 1));
    }
    let mut count = 0;
    loop {
        at = element(
            scan::token(bytes, at),
            ResultPath { parent: Some(&place), step: ResultStep::Index(count) },
        )?;
        count += 1;
        let (more, behind) = scan::next(bytes, at, b']').map_err(|error| not_json(error, place))?;
        at = behind;
        if !more {
            return Ok((count, at));
        }
    }
}

/// An object with exactly `keys`; `member` checks the value of the key with that index.
#[inline(always)]
fn object(
    bytes: &[u8],
    at: usize,
    place: ResultPath<'_>,
    keys: &'static [&'static str],
    member: &mut dyn FnMut(usize, usize, ResultPath<'_>) -> Checked,
) -> Checked {
    if scan::byte(bytes, at) != b'{' {
        return Err(wrong(bytes, at, place, "object"));
    }
    let mut at = scan::space(bytes, at + 1);
    let mut seen = 0u32;
    let mut due = 0;
    if scan::byte(bytes, at) == b'}' {
        at += 1;
    } else {
        loop {
            let (from, to, _, value) =
                scan::key(bytes, at).map_err(|error| not_json(error, place))?;
            let value = scan::token(bytes, value);
            let name = bytes.get(from..to).unwrap_or_default();
            // Keys mostly come in the order in which they are documented.
            let is_due = keys.get(due).is_some_and(|key| key.as_bytes() == name);
            let index =
                if is_due { Some(due) } else { keys.iter().position(|key| key.as_bytes() == name) };
            let Some(index) = index else {
                return Err(unexpected(name, place, "one of its keys", keys));
            };
            if seen >> index & 1 == 1 {
                return Err(unexpected(name, place, "each key once", keys));
            }
            seen |= 1 << index;
            due = index + 1;
            at = member(
                index,
                value,
                ResultPath { parent: Some(&place), step: ResultStep::Key(keys[index]) },
            )?;
            let (more, behind) =
                scan::next(bytes, at, b'}').map_err(|error| not_json(error, place))?;
            at = behind;
            if !more {
                break;
            }
        }
    }
    if seen.count_ones() as usize != keys.len() {
        return Err(missing(place, keys, seen));
    }
    Ok(at)
}

#[cold]
fn not_json(stop: Stop, place: ResultPath<'_>) -> ResultError {
    let (at, message) = (stop.at(), stop.fault.to_string());
    ResultError::NotJson { at, message, path: place.to_string() }
}

#[cold]
fn wrong(bytes: &[u8], at: usize, place: ResultPath<'_>, expected: &str) -> ResultError {
    if let Err(error) = scan::value(bytes, at, 0) {
        return not_json(error, place);
    }
    let found = SlotKind::of(scan::byte(bytes, at)).with_article();
    let found = found.strip_prefix("a ").or(found.strip_prefix("an ")).unwrap_or(found);
    ResultError::WrongShape {
        path: place.to_string(),
        expected: expected.to_owned(),
        found: found.to_owned(),
    }
}

#[cold]
fn unexpected(name: &[u8], place: ResultPath<'_>, what: &str, keys: &[&str]) -> ResultError {
    ResultError::WrongShape {
        path: place.to_string(),
        expected: format!("{what} ({})", keys.join(", ")),
        found: format!("key {}", quoted(&String::from_utf8_lossy(name))),
    }
}

#[cold]
fn missing(place: ResultPath<'_>, keys: &[&'static str], seen: u32) -> ResultError {
    let absent: Vec<&str> = keys
        .iter()
        .enumerate()
        .filter(|(index, _)| seen >> index & 1 == 0)
        .map(|(_, key)| *key)
        .collect();
    ResultError::WrongShape {
        path: place.to_string(),
        expected: format!("the keys {}", keys.join(", ")),
        found: format!("an object without {}", absent.join(", ")),
    }
}
