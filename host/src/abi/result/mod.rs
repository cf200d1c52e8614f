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

mod compact;
mod fit;
pub(crate) mod form;
mod known;
mod measure;
mod reduce;
mod thorough;

use thiserror::Error;

pub(crate) use self::fit::KnownFit;
pub use self::form::ResultForm;
pub use self::known::FormError;
pub use self::measure::Measured;
pub use self::reduce::{CheckedResult, Reducer};
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;

/// How much a result holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResultCounts {
    /// Nodes.
    pub nodes: usize,
    /// Edges.
    pub edges: usize,
    /// Spans fully handled.
    pub fully_handled: usize,
    /// Spans partially handled.
    pub partially_handled: usize,
}

impl ResultCounts {
    /// Whether the extractor declined: no node, no edge and no claim on a span.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Why the bytes that a guest returned aren't a result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
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
    /// The same id twice, where the declaration says to turn the event down for that.
    #[error("{path}: expected each id once, got {found} again")]
    DuplicateId {
        /// Where the second one is, as `nodes[1].node_id`.
        path: String,
        /// The id, fit to be shown.
        found: String,
    },
}

fn prefix(path: &str) -> String {
    if path.is_empty() { "the result: expected ".to_owned() } else { format!("{path}: expected ") }
}

impl ResultError {
    /// Where in the result; empty for the root.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::NotUtf8 { .. } => "",
            Self::NotJson { path, .. }
            | Self::WrongShape { path, .. }
            | Self::DuplicateId { path, .. } => path,
        }
    }
}

impl Coded for ResultError {
    fn entry(&self) -> Code {
        match self {
            Self::NotUtf8 { .. } => codes::RESULT_NOT_UTF8,
            Self::NotJson { .. } => codes::RESULT_NOT_JSON,
            Self::WrongShape { .. } => codes::RESULT_WRONG_SHAPE,
            Self::DuplicateId { .. } => codes::DUPLICATE_ID,
        }
    }

    fn place(&self) -> Option<String> {
        Some(self.path().to_owned())
    }
}

/// Checks the bytes that a guest returned.
///
/// ```
/// use retort::internal::result;
///
/// let empty = br#"{"nodes":[],"edges":[],"fully_handled_span_ids":[],"partially_handled_span_ids":[]}"#;
/// assert!(result::check(empty)?.is_empty());
/// # Ok::<(), retort::sandbox::ResultError>(())
/// ```
///
/// # Errors
/// [`ResultError`], the first thing that is wrong.
pub fn check(bytes: &[u8]) -> Result<ResultCounts, ResultError> {
    check_text(bytes)?;
    match compact::read(bytes, |_, _, _| {}) {
        Some(shape) => Ok(shape),
        None => thorough::read(bytes),
    }
}

fn check_text(bytes: &[u8]) -> Result<(), ResultError> {
    if simdutf8::basic::from_utf8(bytes).is_err() {
        let at = std::str::from_utf8(bytes).err().map_or(0, |error| error.valid_up_to());
        return Err(ResultError::NotUtf8 { at });
    }
    Ok(())
}

/// How many containers a property's value is in: the result, its nodes or edges, one of them, its properties, one of them.
const VALUE_DEPTH: usize = 5;

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    const GOOD: &str = r#"{"nodes":[{"node_id":"a","entity_name":"E","labels":["E"],"properties":[{"name":"n","value":{"x":[1,null]}}]}],
        "edges":[{"edge_id":"e","relationship_name":"R","from_node_id":"a","to_node_id":"b","properties":[]}],
        "fully_handled_span_ids":["s"], "partially_handled_span_ids":["t","u"]}"#;

    #[test]
    fn a_good_result_is_counted_in_any_order_of_keys() {
        let shape = ResultCounts { nodes: 1, edges: 1, fully_handled: 1, partially_handled: 2 };
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
        assert!(compact::read(compacted.as_bytes(), |_, _, _| {}).is_some());
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
                if let Some(shape) = compact::read(&text, |_, _, _| {}) {
                    assert_eq!(
                        thorough::read(&text),
                        Ok(shape),
                        "{}",
                        String::from_utf8_lossy(&text)
                    );
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
