//! Rows of events are those of a stream's lines.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use retort_columns::arrow_array::cast::AsArray as _;
use retort_columns::arrow_array::{ArrayRef, RecordBatch};

use super::EventRows;
use crate::bundle::{Pipeline, Store};
use crate::evidence::{Samples, Task};
use crate::graph::GraphSpec;
use crate::runtime::{Dispatcher, Registry, Stream};
use crate::tables::tables;
use crate::{jiff, sandbox};
use retort_columns::Rows;
use std::sync::Arc;

const GRAPH: &str = "entities:
- name: Order
  keys: {primary: [id]}
  properties: [{name: id, type: string}, {name: total, type: double}, {name: items, type: int64}]
";

const PLAN: &str = r#"{"event_type": "order", "target_entity_name": "Order", "function_name": "read",
    "key_field": {"property_name": "id", "source_path": ["id"]},
    "property_fields": [{"property_name": "total", "source_path": ["total"]},
        {"property_name": "items", "source_path": ["items"]}],
    "span_handling": {"span_id_path": ["span"]}}"#;

/// Whole, in part, declined, of another type, none at all, beyond its column, and without anything that could be kept.
const EVENTS: &str = r#"{"event_type": "order", "id": "1", "total": 7.5, "items": 3, "span": "a"}
{"event_type": "order", "id": "2", "total": "much", "items": "many", "span": "b"}
{"event_type": "order", "total": 7.5}
{"event_type": "other"}
[]
{"event_type": "order", "id": "3", "total": 1, "items": 99999999999999999999}
{"event_type": "order", "id": 7, "items": 1}
{"event_type": "order", "id": "4", "total": 1e5, "items": null, "span": "c"}
"#;

fn registry() -> (Registry, tempfile::TempDir) {
    let root = tempfile::tempdir().unwrap();
    let pipeline = Pipeline::from(sandbox::Sandbox::new(sandbox::Limits::default()).unwrap());
    let graph = GraphSpec::parse(GRAPH, "graph").unwrap();
    let sample = r#"{"event_type": "order", "id": "1", "total": 7.5, "items": 3, "span": "a"}"#;
    let task = Task::new(graph, Samples::parse(sample, "samples").unwrap());
    let accepted = pipeline.accept(PLAN, &task).unwrap();
    accepted.store(&Store::open(root.path()).unwrap(), jiff::Timestamp::UNIX_EPOCH).unwrap();
    (Registry::open(root.path(), &pipeline), root)
}

/// The rows of a batch as text, in whatever order they are.
fn rows(batch: &RecordBatch) -> Vec<String> {
    let row = |row: usize| {
        let cell = |column: &ArrayRef| format!("{:?}", column.slice(row, 1));
        batch.columns().iter().map(cell).collect::<String>()
    };
    let mut rows: Vec<String> = (0..batch.num_rows()).map(row).collect();
    rows.sort_unstable();
    rows
}

#[test]
fn rows_of_events_are_those_of_lines() {
    let (registry, _root) = registry();
    let tables = Arc::new(tables([&*registry.graph_specs().unwrap()[0]]).unwrap());

    let (mut out, mut rejects) = (Vec::new(), Vec::new());
    let mut stream = Stream::new(&registry, &mut out, &mut rejects);
    stream.run(EVENTS.as_bytes(), None).unwrap();
    let mut summary = stream.summary().clone();
    drop(stream);
    let mut of_lines = Rows::new(Arc::clone(&tables));
    of_lines
        .add_lines(&out, |added, was_in_part| super::count(added, was_in_part, &mut summary))
        .unwrap();
    of_lines.add_reject_lines(&rejects).unwrap();
    let of_lines = of_lines.take().unwrap();

    let mut of_events = EventRows::new(Arc::clone(&tables));
    let mut dispatcher = Dispatcher::checking(&registry);
    for (line, event) in (1..).zip(EVENTS.lines()) {
        of_events.add(None, line, dispatcher.checked(event.as_bytes()));
    }
    summary.bytes = 0;
    assert_eq!(of_events.summary(), &summary);
    let of_events = of_events.take().unwrap();

    assert_eq!(of_events.len(), 3, "orders, spans and rejects");
    assert_eq!(of_events.len(), of_lines.len());
    for ((table, events), (other, lines)) in of_events.iter().zip(&of_lines) {
        assert_eq!((table, rows(events)), (other, rows(lines)));
    }
    let codes = of_events[2].1.column_by_name("code").unwrap();
    let codes: Vec<_> = codes.as_string::<i32>().iter().flatten().collect();
    assert!(codes.contains(&"event_not_object") && codes.contains(&"type_mismatch"), "{codes:?}");
}
