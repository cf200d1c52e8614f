//! A result as a person looks at it.

use std::fmt::Write as _;

use retort::diagnostics::sanitize;
use retort::evidence::Sample;
use retort::graph::{Extraction, Property};

/// How much of an event is shown, and of a value, in characters.
const EVENT_CHARS: usize = 300;
const VALUE_CHARS: usize = 120;

/// How many nodes, edges and properties of one are shown.
const MAX_SHOWN: usize = 30;

/// A sample, and what it gives.
pub(super) fn sample(sample: &Sample, result: &Extraction) -> String {
    let mut text = String::new();
    // Writing to a string doesn't fail.
    let _ = write(&mut text, sample, result);
    text
}

fn write(text: &mut String, sample: &Sample, result: &Extraction) -> std::fmt::Result {
    let event_type = sanitize(sample.event_type(), VALUE_CHARS);
    writeln!(text, "line {}: {event_type}", sample.line())?;
    writeln!(text, "  {}", sanitize(sample.text().trim(), EVENT_CHARS))?;
    let Extraction { nodes, edges, fully_handled_span_ids, partially_handled_span_ids } = result;
    if result.is_empty() {
        writeln!(text, "  gives nothing")?;
    }
    for node in nodes.iter().take(MAX_SHOWN) {
        let (entity, id) = (&node.entity_name, &node.node_id);
        writeln!(text, "  {}  {}", sanitize(entity, VALUE_CHARS), sanitize(id, VALUE_CHARS))?;
        properties(text, &node.properties)?;
    }
    more(text, nodes.len(), "nodes")?;
    for edge in edges.iter().take(MAX_SHOWN) {
        let name = sanitize(&edge.relationship_name, VALUE_CHARS);
        let [from, to] = [&edge.from_node_id, &edge.to_node_id].map(|id| sanitize(id, VALUE_CHARS));
        writeln!(text, "  {name}  {from} -> {to}")?;
        properties(text, &edge.properties)?;
    }
    more(text, edges.len(), "edges")?;
    for (how, ids) in [("fully", fully_handled_span_ids), ("partially", partially_handled_span_ids)]
    {
        if !ids.is_empty() {
            let shown = ids.iter().take(MAX_SHOWN).map(|id| sanitize(id, VALUE_CHARS));
            let shown = shown.collect::<Vec<_>>().join(", ");
            writeln!(text, "  {how} handled: {shown}")?;
            more(text, ids.len(), "spans")?;
        }
    }
    Ok(())
}

fn properties(text: &mut String, all: &[Property]) -> std::fmt::Result {
    for Property { name, value } in all.iter().take(MAX_SHOWN) {
        let (name, value) = (sanitize(name, VALUE_CHARS), value.to_string());
        writeln!(text, "    {name}: {}", sanitize(&value, VALUE_CHARS))?;
    }
    more(text, all.len(), "properties")
}

fn more(text: &mut String, count: usize, what: &str) -> std::fmt::Result {
    match count.checked_sub(MAX_SHOWN) {
        None | Some(0) => Ok(()),
        Some(more) => writeln!(text, "    ... and {more} more {what}"),
    }
}
