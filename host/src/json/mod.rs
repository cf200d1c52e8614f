//! JSON as text: scanned, gone through, counted, its strings read and written, read line by line, and read from documents
//! within bounds.
//!
//! It knows what JSON is, and nothing of events, plans or graphs.

mod chunks;
pub(crate) mod document;
mod fault;
mod key;
mod kind;
mod lines;
pub(crate) mod scan;
pub(crate) mod string;
pub(crate) mod tally;
pub(crate) mod tape;
#[cfg(any(feature = "author", feature = "serve"))]
pub(crate) mod toml;
pub(crate) mod walk;

pub use chunks::LinePosition;
pub(crate) use chunks::{CHUNK_BYTES, Chunk, Chunks};
pub use fault::Fault;
pub(crate) use key::{KeyEnds, WantedKey};
pub(crate) use kind::{JsonKind, JsonKinds};
pub use lines::{Line, Lines};

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
