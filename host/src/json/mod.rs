//! JSON as text: scanned, counted, read line by line, and read from documents within bounds.
//!
//! It knows what JSON is, and nothing of events, plans or graphs.

pub mod document;
mod fault;
mod kind;
mod lines;
pub(crate) mod scan;
pub(crate) mod tally;

pub use fault::Fault;
pub use kind::{JsonKind, JsonKinds};
pub use lines::{Line, Lines};

/// The content of a string that the scanner accepted, without its quotes, with its escapes resolved.
pub(crate) fn unescape(content: &[u8]) -> Option<String> {
    let mut quoted = Vec::with_capacity(content.len() + 2);
    quoted.push(b'"');
    quoted.extend_from_slice(content);
    quoted.push(b'"');
    serde_json::from_slice(&quoted).ok()
}

/// Whether a text is one JSON value of any kind, and nothing else but white space.
pub(crate) fn is_json(text: &[u8]) -> bool {
    simdutf8::basic::from_utf8(text).is_ok() && whole(text).is_ok()
}

/// Scans a text in UTF-8 that has to be one JSON value.
pub(crate) fn whole(text: &[u8]) -> scan::Scan<()> {
    let (end, _) = scan::value(text, scan::space(text, 0), 0)?;
    match scan::space(text, end) {
        end if end == text.len() => Ok(()),
        at => scan::fault(Fault::Trailing, at),
    }
}
