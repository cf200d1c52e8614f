//! Results into rows.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;

use crate::adding::Adding;
use crate::builder::{Put, TableBuilder};
use crate::fault::{Fault, FaultCounts, FaultKind};
use crate::reading::{LineText, RejectText, ResultText};
use crate::tables::Tables;

/// The most bytes of the rows of one event, as far as they repeat what it has once.
const MAX_EVENT_BYTES: usize = 256 << 20;

/// The bytes of rows beyond which they are to be taken, so that no array grows beyond what it can address.
const FULL_BYTES: usize = 64 << 20;

/// The most bytes of the spans of an event that each of its rows repeats. Those of more are in their own table alone.
pub(crate) const MAX_SPAN_BYTES: usize = 4 << 10;

/// Which event rows are of.
#[derive(Clone, Copy, Debug)]
pub struct EventOrigin<'a> {
    /// The input that it is from, where that has a name.
    pub input: Option<&'a str>,
    /// Its line, from 1, or whatever else tells it from others of its input.
    pub line: i64,
    /// Its type.
    pub event_type: &'a str,
    /// The fingerprint of the bundle that served it; of several, all of them with commas between.
    pub bundle: &'a str,
}

/// What is said of something that was rejected.
#[derive(Clone, Copy, Debug)]
pub struct Rejected<'a> {
    /// The input of the event, where that has a name.
    pub input: Option<&'a str>,
    /// Its line.
    pub line: i64,
    /// Its type, where that is known.
    pub event_type: Option<&'a str>,
    /// The bundle that it is of, where that is known.
    pub bundle: Option<&'a str>,
    /// Whether all of the event is rejected, and not a part of its result.
    pub is_event: bool,
    /// Why, as a stable code.
    pub code: &'a str,
    /// Where in the result.
    pub path: Option<&'a str>,
    /// Why, in words.
    pub message: &'a str,
}

/// What became of a result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Rows of entities and relationships.
    pub rows: usize,
    /// Whether nothing of it is in a table but that it was rejected: the one fault says why.
    pub is_rejected: bool,
    /// What isn't in its tables: the first 100 things, which are the rejects of the event.
    pub faults: Vec<Fault>,
    /// How many such things there are in all.
    pub counts: FaultCounts,
}

/// Rows of all tables, as they grow.
#[derive(Debug)]
pub struct Rows {
    tables: Arc<Tables>,
    builders: Vec<TableBuilder>,
    bytes: usize,
}

impl Rows {
    /// Without any row.
    #[must_use]
    pub fn new(tables: Arc<Tables>) -> Self {
        let builders = tables.list().iter().map(TableBuilder::new).collect();
        Self { tables, builders, bytes: 0 }
    }

    /// The tables that rows are of.
    #[must_use]
    pub fn tables(&self) -> &Arc<Tables> {
        &self.tables
    }

    /// Rows of all tables.
    #[must_use]
    pub fn len(&self) -> usize {
        self.builders.iter().map(TableBuilder::rows).sum()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there are so many that they are to be taken before others are added.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.bytes >= FULL_BYTES
    }

    /// Adds the rows of a result: JSON as docs/abi.md has it. Part of it that doesn't fit its column is left out, and is among the
    /// rejects:
    /// - a value, where it is no key: the column has null;
    /// - a node or edge whose kind has no table, a node whose key has no value, and edges of this result from and to such a node;
    /// - where anything was left out, spans that were fully handled are partially handled.
    pub fn add(&mut self, origin: &EventOrigin<'_>, json: &[u8]) -> Added {
        let read = std::str::from_utf8(json)
            .map_err(|error| error.to_string())
            .and_then(|text| serde_json::from_str(text).map_err(|error| error.to_string()));
        let result: ResultText<'_> = match read {
            Ok(result) => result,
            Err(error) => {
                return self.reject_result(
                    origin,
                    FaultKind::WrongShape,
                    &format!("found {error}"),
                );
            }
        };
        self.add_read(origin, &result, json.len())
    }

    /// Adds the rows of what `retort run` writes: lines of results, each with the event that it is of, and what was dropped of it.
    /// `told` is told of each of them, and whether something was dropped of it before.
    ///
    /// # Errors
    /// The first line that isn't one of results. Those before are added.
    pub fn add_lines(
        &mut self,
        lines: &[u8],
        mut told: impl FnMut(&Added, bool),
    ) -> Result<(), serde_json::Error> {
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let read: LineText<'_> = serde_json::from_slice(line)?;
            let bundles: Vec<&str> = read.bundles.iter().map(|bundle| &**bundle).collect();
            let bundles = bundles.join(",");
            let origin = EventOrigin {
                input: read.file.as_deref(),
                line: read.line,
                event_type: &read.event_type,
                bundle: read.bundle.as_deref().unwrap_or(&bundles),
            };
            for dropped in &read.dropped {
                self.reject(&Rejected {
                    input: origin.input,
                    line: origin.line,
                    event_type: Some(origin.event_type),
                    bundle: Some(origin.bundle),
                    is_event: false,
                    code: &dropped.code,
                    path: dropped.path.as_deref(),
                    message: &dropped.message,
                });
            }
            let added = self.add_read(&origin, &read.result, line.len());
            told(&added, !read.dropped.is_empty());
        }
        Ok(())
    }

    /// Adds what `retort run` writes of events that fail.
    ///
    /// # Errors
    /// The first line that isn't one of rejects. Those before are added.
    pub fn add_reject_lines(&mut self, lines: &[u8]) -> Result<(), serde_json::Error> {
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let read: RejectText<'_> = serde_json::from_slice(line)?;
            self.reject(&Rejected {
                input: read.file.as_deref(),
                line: read.line,
                event_type: None,
                bundle: None,
                is_event: true,
                code: &read.code,
                path: read.path.as_deref(),
                message: &read.message,
            });
        }
        Ok(())
    }

    fn add_read(
        &mut self,
        origin: &EventOrigin<'_>,
        result: &ResultText<'_>,
        json: usize,
    ) -> Added {
        let bytes = held_bytes(origin, result, json);
        if bytes > MAX_EVENT_BYTES {
            let found = format!("found {bytes} bytes, and allowed are {MAX_EVENT_BYTES}");
            return self.reject_result(origin, FaultKind::TooLarge, &found);
        }
        self.bytes += bytes;
        let mut adding = Adding::new(origin, &self.tables, &mut self.builders, result);
        for (place, node) in result.nodes.iter().enumerate() {
            adding.node(place, node);
        }
        for (place, edge) in result.edges.iter().enumerate() {
            adding.edge(place, edge);
        }
        let (rows, faults, counts) = (adding.rows, adding.faults, adding.counts);
        let is_whole = counts.is_empty();
        let full = result.fully_handled_span_ids.iter();
        let full = full.map(|span| (span, if is_whole { "fully" } else { "partially" }));
        let part = result.partially_handled_span_ids.iter().map(|span| (span, "partially"));
        for (span, handled) in full.chain(part) {
            self.span(origin, span, handled);
        }
        for fault in &faults {
            self.fault(origin, fault, false);
        }
        Added { rows, is_rejected: false, faults, counts }
    }

    /// Adds something that was rejected before it came here.
    pub fn reject(&mut self, rejected: &Rejected<'_>) {
        let text = |text| Put::Text(text);
        let row = [
            Put::Text(if rejected.is_event { "event" } else { "part" }),
            Put::Text(rejected.code),
            rejected.path.map_or(Put::Null, text),
            Put::Text(rejected.message),
            rejected.event_type.map_or(Put::Null, text),
            rejected.bundle.map_or(Put::Null, text),
            rejected.input.map_or(Put::Null, text),
            Put::Integer(rejected.line),
        ];
        self.bytes += rejected.message.len() + rejected.path.map_or(0, str::len) + 256;
        if let Some(rejects) = self.builders.last_mut() {
            rejects.row(row);
        }
    }

    /// What was added since: a batch for each table that has rows, with the place of the table in [`Tables::list`].
    ///
    /// # Errors
    /// Where arrays don't make a batch, which would be a defect.
    pub fn take(&mut self) -> Result<Vec<(usize, RecordBatch)>, ArrowError> {
        self.bytes = 0;
        let filled = self.builders.iter_mut().enumerate().filter(|(_, builder)| builder.rows() > 0);
        filled.map(|(table, builder)| Ok((table, builder.finish()?))).collect()
    }

    fn reject_result(&mut self, origin: &EventOrigin<'_>, kind: FaultKind, found: &str) -> Added {
        let message = format!("expected {kind}, {found}");
        let fault = Fault { kind, path: String::new(), message };
        self.fault(origin, &fault, true);
        let mut counts = FaultCounts::default();
        counts.add(kind);
        Added { rows: 0, is_rejected: true, faults: vec![fault], counts }
    }

    fn fault(&mut self, origin: &EventOrigin<'_>, fault: &Fault, is_event: bool) {
        self.reject(&Rejected {
            input: origin.input,
            line: origin.line,
            event_type: Some(origin.event_type),
            bundle: Some(origin.bundle),
            is_event,
            code: fault.kind.code(),
            path: Some(fault.path.as_str()).filter(|path| !path.is_empty()),
            message: &fault.message,
        });
    }

    fn span(&mut self, origin: &EventOrigin<'_>, span: &str, handled: &str) {
        let spans = self.builders.len().saturating_sub(2);
        if let Some(spans) = self.builders.get_mut(spans) {
            spans.row([
                Put::Text(span),
                Put::Text(handled),
                Put::Text(origin.event_type),
                Put::Text(origin.bundle),
                origin.input.map_or(Put::Null, Put::Text),
                Put::Integer(origin.line),
            ]);
        }
    }
}

/// About how many bytes the rows of a result have: each of them repeats what the event has once.
fn held_bytes(origin: &EventOrigin<'_>, result: &ResultText<'_>, json: usize) -> usize {
    let spans = || result.fully_handled_span_ids.iter().chain(&result.partially_handled_span_ids);
    let of_spans = span_bytes(result).min(MAX_SPAN_BYTES);
    let input = origin.input.map_or(0, str::len);
    let of_event = origin.event_type.len() + origin.bundle.len() + input + 64;
    let rows = result.nodes.len() + result.edges.len();
    // A node's session is a part of its id, and an edge's of one of its ends.
    let repeated = rows.saturating_mul(of_event + of_spans);
    let repeated = repeated.saturating_add(spans().count().saturating_mul(of_event));
    json.saturating_mul(2).saturating_add(repeated)
}

/// Bytes of the spans of an event, in each row that repeats them.
pub(crate) fn span_bytes(result: &ResultText<'_>) -> usize {
    let spans = result.fully_handled_span_ids.iter().chain(&result.partially_handled_span_ids);
    spans.map(|span| span.len() + 4).sum()
}
