//! The quick reader: results as extractors mostly write them.

use std::ops::Range;

use super::reduce::{EDGES, FULL, NODES, PARTIAL};
use super::{ResultCounts, VALUE_DEPTH};
use crate::json::scan;

/// The shape of a result whose keys come in the documented order and that holds no white space, which is how extractors
/// mostly write; `None` for any other text, a result or not.
/// `found` is told where each element of a list is, by the offsets of its first byte and of the one after it, and where its id is, in
/// its quotes; also of a text for which this gives nothing in the end.
pub(super) fn read(
    bytes: &[u8],
    mut found: impl FnMut(usize, Range<usize>, Range<usize>),
) -> Option<ResultCounts> {
    let at = after(bytes, 0, b"{\"nodes\":")?;
    let (nodes, at) = elements(bytes, at, |start| {
        let id = after(bytes, start, b"{\"node_id\":")?;
        let at = text(bytes, id)?;
        let id = id..at;
        let at = text(bytes, after(bytes, at, b",\"entity_name\":")?)?;
        let (_, at) = elements(bytes, after(bytes, at, b",\"labels\":")?, |at| text(bytes, at))?;
        let end = compact_properties(bytes, at)?;
        found(NODES, start..end, id);
        Some(end)
    })?;
    let (edges, at) = elements(bytes, after(bytes, at, b",\"edges\":")?, |start| {
        let id = after(bytes, start, b"{\"edge_id\":")?;
        let at = text(bytes, id)?;
        let id = id..at;
        let at = text(bytes, after(bytes, at, b",\"relationship_name\":")?)?;
        let at = text(bytes, after(bytes, at, b",\"from_node_id\":")?)?;
        let at = text(bytes, after(bytes, at, b",\"to_node_id\":")?)?;
        let end = compact_properties(bytes, at)?;
        found(EDGES, start..end, id);
        Some(end)
    })?;
    let at = after(bytes, at, b",\"fully_handled_span_ids\":")?;
    let mut span = |list: usize, start: usize| {
        let end = text(bytes, start)?;
        found(list, start..end, start..end);
        Some(end)
    };
    let (fully_handled, at) = elements(bytes, at, |at| span(FULL, at))?;
    let at = after(bytes, at, b",\"partially_handled_span_ids\":")?;
    let (partially_handled, at) = elements(bytes, at, |at| span(PARTIAL, at))?;
    let end = after(bytes, at, b"}")?;
    (end == bytes.len()).then_some(ResultCounts { nodes, edges, fully_handled, partially_handled })
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

/// The offset after `word`, if that is what comes at `at`.
#[inline(always)]
fn after<const N: usize>(bytes: &[u8], at: usize, word: &[u8; N]) -> Option<usize> {
    (bytes.get(at..)?.first_chunk::<N>()? == word).then_some(at + N)
}

#[inline(always)]
fn text(bytes: &[u8], at: usize) -> Option<usize> {
    Some(scan::string(bytes, after(bytes, at, b"\"")?).ok()?.0)
}

/// An array without white space: how many elements it has, and the offset after it.
#[inline(always)]
fn elements(
    bytes: &[u8],
    at: usize,
    mut element: impl FnMut(usize) -> Option<usize>,
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
