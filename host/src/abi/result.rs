//! The result of ABI version 1, checked in one pass.
//!
//! A result is UTF-8 JSON of this shape, with every key present once, in any order, written without escapes, and no other:
//!
//! ```json
//! {"nodes": [{"node_id": "", "entity_name": "", "labels": [""],
//!             "properties": [{"name": "", "value": 0}]}],
//!  "edges": [{"edge_id": "", "relationship_name": "", "from_node_id": "", "to_node_id": "",
//!             "properties": []}],
//!  "fully_handled_span_ids": [""],
//!  "partially_handled_span_ids": [""]}
//! ```
//!
//! A value is any JSON. The pass builds nothing: what it is given is what may be passed on.

use std::fmt;

use thiserror::Error;

use super::block::Kind;
use crate::event::scan::{self, Stop};
use crate::problem::Coded;
use crate::untrusted::quoted;

/// How much a result holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Nodes.
    pub nodes: usize,
    /// Edges.
    pub edges: usize,
    /// Spans fully handled.
    pub fully_handled: usize,
    /// Spans partially handled.
    pub partially_handled: usize,
}

impl Shape {
    /// Whether the extractor declined: no node, no edge and no claim on a span.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Why the bytes that a guest returned aren't a result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ResultError {
    /// They aren't UTF-8.
    #[error("the result is not UTF-8: the first wrong byte is at offset {at}")]
    NotUtf8 {
        /// Offset of the first byte that belongs to no character.
        at: usize,
    },
    /// They aren't JSON.
    #[error("the result is not JSON at offset {at}: {message}")]
    NotJson {
        /// Offset of the byte at which it is wrong.
        at: usize,
        /// What is wrong.
        message: String,
        /// Where in the result.
        path: String,
    },
    /// They are JSON of another shape.
    #[error("{}{expected}, got {found}", prefix(path))]
    WrongShape {
        /// Where in the result, as `nodes[0].properties[1].name`; empty for the root.
        path: String,
        /// What belongs there.
        expected: String,
        /// What is there.
        found: String,
    },
}

fn prefix(path: &str) -> String {
    if path.is_empty() { "the result: expected ".to_owned() } else { format!("{path}: expected ") }
}

impl ResultError {
    /// Every code of this check.
    pub const CODES: &'static [&'static str] =
        &["result_not_utf8", "result_not_json", "result_wrong_shape"];

    /// Where in the result; empty for the root.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::NotUtf8 { .. } => "",
            Self::NotJson { path, .. } | Self::WrongShape { path, .. } => path,
        }
    }
}

impl Coded for ResultError {
    fn code(&self) -> &'static str {
        match self {
            Self::NotUtf8 { .. } => "result_not_utf8",
            Self::NotJson { .. } => "result_not_json",
            Self::WrongShape { .. } => "result_wrong_shape",
        }
    }
}

/// Checks the bytes that a guest returned.
///
/// ```
/// use retort::abi::result;
///
/// let empty = br#"{"nodes":[],"edges":[],"fully_handled_span_ids":[],"partially_handled_span_ids":[]}"#;
/// assert!(result::check(empty)?.is_empty());
/// # Ok::<(), retort::abi::result::ResultError>(())
/// ```
///
/// # Errors
/// [`ResultError`], the first thing that is wrong.
pub fn check(bytes: &[u8]) -> Result<Shape, ResultError> {
    if simdutf8::basic::from_utf8(bytes).is_err() {
        let at = std::str::from_utf8(bytes).err().map_or(0, |error| error.valid_up_to());
        return Err(ResultError::NotUtf8 { at });
    }
    match compact(bytes) {
        Some(shape) => Ok(shape),
        None => any_order(bytes),
    }
}

/// The shape of a result whose keys come in the documented order and that holds no white space, which is how extractors
/// mostly write; `None` for any other text, a result or not.
fn compact(bytes: &[u8]) -> Option<Shape> {
    let at = after(bytes, 0, b"{\"nodes\":")?;
    let (nodes, at) = elements(bytes, at, |at| {
        let at = text(bytes, after(bytes, at, b"{\"node_id\":")?)?;
        let at = text(bytes, after(bytes, at, b",\"entity_name\":")?)?;
        let (_, at) = elements(bytes, after(bytes, at, b",\"labels\":")?, |at| text(bytes, at))?;
        compact_properties(bytes, at)
    })?;
    let (edges, at) = elements(bytes, after(bytes, at, b",\"edges\":")?, |at| {
        let at = text(bytes, after(bytes, at, b"{\"edge_id\":")?)?;
        let at = text(bytes, after(bytes, at, b",\"relationship_name\":")?)?;
        let at = text(bytes, after(bytes, at, b",\"from_node_id\":")?)?;
        let at = text(bytes, after(bytes, at, b",\"to_node_id\":")?)?;
        compact_properties(bytes, at)
    })?;
    let at = after(bytes, at, b",\"fully_handled_span_ids\":")?;
    let (fully_handled, at) = elements(bytes, at, |at| text(bytes, at))?;
    let at = after(bytes, at, b",\"partially_handled_span_ids\":")?;
    let (partially_handled, at) = elements(bytes, at, |at| text(bytes, at))?;
    let end = after(bytes, at, b"}")?;
    (end == bytes.len()).then_some(Shape { nodes, edges, fully_handled, partially_handled })
}

/// The properties, and the end of the object that they are the last of.
#[inline(always)]
fn compact_properties(bytes: &[u8], at: usize) -> Option<usize> {
    let (_, at) = elements(bytes, after(bytes, at, b",\"properties\":")?, |at| {
        let at = text(bytes, after(bytes, at, b"{\"name\":")?)?;
        let at = after(bytes, at, b",\"value\":")?;
        after(bytes, scan::value(bytes, at, VALUE_DEPTH).ok()?.0, b"}")
    })?;
    after(bytes, at, b"}")
}

/// The offset behind `word`, if that is what comes at `at`.
#[inline(always)]
fn after<const N: usize>(bytes: &[u8], at: usize, word: &[u8; N]) -> Option<usize> {
    (bytes.get(at..)?.first_chunk::<N>()? == word).then_some(at + N)
}

#[inline(always)]
fn text(bytes: &[u8], at: usize) -> Option<usize> {
    Some(scan::string(bytes, after(bytes, at, b"\"")?).ok()?.0)
}

/// An array without white space: how many elements it has, and the offset behind it.
#[inline(always)]
fn elements(
    bytes: &[u8],
    at: usize,
    element: impl Fn(usize) -> Option<usize>,
) -> Option<(usize, usize)> {
    let mut at = after(bytes, at, b"[")?;
    if let Some(end) = after(bytes, at, b"]") {
        return Some((0, end));
    }
    let mut count = 0;
    loop {
        at = element(at)?;
        count += 1;
        match scan::byte(bytes, at) {
            b',' => at += 1,
            b']' => return Some((count, at + 1)),
            _ => return None,
        }
    }
}

/// How many containers a property's value is in: the result, its nodes or edges, one of them, its properties, one of them.
const VALUE_DEPTH: usize = 5;

/// The verdict on any text, with the place of what is wrong.
fn any_order(bytes: &[u8]) -> Result<Shape, ResultError> {
    let mut shape = Shape::default();
    let place = Place { parent: None, step: Step::Key("") };
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
struct Place<'a> {
    parent: Option<&'a Place<'a>>,
    step: Step,
}

#[derive(Clone, Copy)]
enum Step {
    Key(&'static str),
    Index(usize),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
            match self.step {
                Step::Key(key) if parent.parent.is_some() => write!(f, ".{key}"),
                Step::Key(key) => f.write_str(key),
                Step::Index(index) => write!(f, "[{index}]"),
            }
        } else {
            Ok(())
        }
    }
}

type Checked = Result<usize, ResultError>;

fn properties(bytes: &[u8], at: usize, place: Place<'_>) -> Checked {
    let (_, end) = array(bytes, at, place, &mut |at, place| {
        object(bytes, at, place, PROPERTY, &mut |key, at, place| match key {
            0 => string(bytes, at, place),
            _ => Ok(scan::value(bytes, at, VALUE_DEPTH).map_err(|error| not_json(error, place))?.0),
        })
    })?;
    Ok(end)
}

#[inline(always)]
fn string(bytes: &[u8], at: usize, place: Place<'_>) -> Checked {
    if scan::byte(bytes, at) != b'"' {
        return Err(wrong(bytes, at, place, "string"));
    }
    Ok(scan::string(bytes, at + 1).map_err(|error| not_json(error, place))?.0)
}

/// An array whose elements `element` checks: how many there are, and the offset behind.
#[inline(always)]
fn array(
    bytes: &[u8],
    at: usize,
    place: Place<'_>,
    element: &mut dyn FnMut(usize, Place<'_>) -> Checked,
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
            Place { parent: Some(&place), step: Step::Index(count) },
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
    place: Place<'_>,
    keys: &'static [&'static str],
    member: &mut dyn FnMut(usize, usize, Place<'_>) -> Checked,
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
            at =
                member(index, value, Place { parent: Some(&place), step: Step::Key(keys[index]) })?;
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
fn not_json(stop: Stop, place: Place<'_>) -> ResultError {
    let (at, message) = (stop.at(), stop.fault.to_string());
    ResultError::NotJson { at, message, path: place.to_string() }
}

#[cold]
fn wrong(bytes: &[u8], at: usize, place: Place<'_>, expected: &str) -> ResultError {
    if let Err(error) = scan::value(bytes, at, 0) {
        return not_json(error, place);
    }
    let found = Kind::of(scan::byte(bytes, at)).with_article();
    let found = found.strip_prefix("a ").or(found.strip_prefix("an ")).unwrap_or(found);
    ResultError::WrongShape {
        path: place.to_string(),
        expected: expected.to_owned(),
        found: found.to_owned(),
    }
}

#[cold]
fn unexpected(name: &[u8], place: Place<'_>, what: &str, keys: &[&str]) -> ResultError {
    ResultError::WrongShape {
        path: place.to_string(),
        expected: format!("{what} ({})", keys.join(", ")),
        found: format!("key {}", quoted(&String::from_utf8_lossy(name))),
    }
}

#[cold]
fn missing(place: Place<'_>, keys: &[&'static str], seen: u32) -> ResultError {
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

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    const GOOD: &str = r#"{"nodes":[{"node_id":"a","entity_name":"E","labels":["E"],"properties":[{"name":"n","value":{"x":[1,null]}}]}],
        "edges":[{"edge_id":"e","relationship_name":"R","from_node_id":"a","to_node_id":"b","properties":[]}],
        "fully_handled_span_ids":["s"], "partially_handled_span_ids":["t","u"]}"#;

    #[test]
    fn a_good_result_is_counted_in_any_order_of_keys() {
        let shape = Shape { nodes: 1, edges: 1, fully_handled: 1, partially_handled: 2 };
        assert_eq!(check(GOOD.as_bytes()), Ok(shape));
        let other = r#"{"partially_handled_span_ids":[],"nodes":[],"fully_handled_span_ids":[],"edges":[]}"#;
        assert!(check(other.as_bytes()).expect("any order").is_empty());
        let spaced = GOOD.replace(':', " :\n").replace(',', "\t,\r ").replace('[', "[ ");
        assert_eq!(check(spaced.as_bytes()), Ok(shape));
    }

    #[test]
    fn both_readers_agree() {
        let value: serde_json::Value = serde_json::from_str(GOOD).expect("JSON");
        let compacted = crate::graph::extraction::Extraction::deserialize(value).expect("a result");
        let compacted = serde_json::to_string(&compacted).expect("a result");
        assert!(compact(compacted.as_bytes()).is_some());
        // Every cut and every changed byte: what the quick reader accepts, the thorough one does with the same count.
        for at in 0..compacted.len() {
            let (head, tail) = compacted.as_bytes().split_at(at);
            let texts = [
                head.to_vec(),
                [head, b" ", tail].concat(),
                [head, b"}", &tail[1..]].concat(),
                [head, &tail[1..]].concat(),
            ];
            for text in texts {
                if let Some(shape) = compact(&text) {
                    assert_eq!(any_order(&text), Ok(shape), "{}", String::from_utf8_lossy(&text));
                }
            }
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_path() {
        for (from, to, code, path, message) in [
            (
                r#""name":"n""#,
                r#""name":5"#,
                "result_wrong_shape",
                "nodes[0].properties[0].name",
                "expected string, got number",
            ),
            (
                r#""labels":["E"]"#,
                r#""labels":null"#,
                "result_wrong_shape",
                "nodes[0].labels",
                "expected array, got null",
            ),
            (
                r#"["s"]"#,
                r#"["s",{}]"#,
                "result_wrong_shape",
                "fully_handled_span_ids[1]",
                "expected string, got object",
            ),
            (
                r#""edge_id":"e""#,
                r#""edge_id":"e","x":1"#,
                "result_wrong_shape",
                "edges[0]",
                "key \"x\"",
            ),
            (
                r#""edge_id":"e""#,
                r#""edge_id":"e","edge_id":"e""#,
                "result_wrong_shape",
                "edges[0]",
                "each key once",
            ),
            (r#""edge_id":"e","#, "", "result_wrong_shape", "edges[0]", "without edge_id"),
            (
                r#"["t","u"]"#,
                r#"["t","u""#,
                "result_not_json",
                "partially_handled_span_ids",
                "closing bracket",
            ),
            (
                r#"[1,null]"#,
                r#"[1,nul]"#,
                "result_not_json",
                "nodes[0].properties[0].value",
                "expected a value",
            ),
            (r#""t","u"]}"#, r#""t","u"]}}"#, "result_not_json", "", "expected the end"),
        ] {
            let text = GOOD.replacen(from, to, 1);
            assert_ne!(text, GOOD, "{from}");
            let error = check(text.as_bytes()).expect_err(to);
            assert_eq!((error.code(), error.path()), (code, path), "{to}");
            assert!(error.to_string().contains(message), "{error}");
        }
        assert_eq!(
            check(b"[]").expect_err("an array").to_string(),
            "the result: expected object, got array"
        );
        assert_eq!(check(b"\"\xff\"").expect_err("no UTF-8").code(), "result_not_utf8");
        assert_eq!(check(b"").expect_err("nothing").code(), "result_not_json");
    }
}
