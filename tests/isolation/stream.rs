//! Streams in every mode, with batches of every size.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::Path;

use retort::bundle::{Contents, Versions};
use retort::render::{self, compile};
use retort::runtime::Stream;
use retort::sandbox::{Allocator, Isolation, Options, Pool, Sandbox};
use retort::{Limits, Pipeline, Registry, Store, plan};
use serde_json::json;

use super::ways;

/// What the nodes of its results are.
const GRAPH: &[u8] = br#"{"entities": [{"name": "Thing", "key_columns": ["key"],
    "properties": [{"column": "key", "logical_name": "key", "sdk_type": "int64"}]}]}"#;

/// Puts the bundle of a rendered extractor for events of one type.
fn store_rendered(root: &Path, event_type: &str) {
    let text = json!({
        "event_type": event_type, "target_entity_name": "Thing", "function_name": "read",
        "key_field": {"property_name": "key", "source_path": ["k"]},
    })
    .to_string();
    let source = render::render(&plan::parse(&text).unwrap()).unwrap();
    let compiled = compile(source).unwrap();
    let contents = Contents {
        module_name: "extractor",
        name: None,
        function_name: "read",
        event_types: &[event_type.to_owned()],
        plan: Some(text.as_bytes()),
        source: Some(compiled.source().text().as_bytes()),
        rust: None,
        module: compiled.module(),
        graph: GRAPH,
        limits: b"{}",
        event_schema: None,
        rule: None,
        versions: Versions::CURRENT,
    };
    Store::open(root).unwrap().put(&contents, jiff::Timestamp::UNIX_EPOCH).unwrap();
}

/// Two bundles, and events for them in turns.
fn two_bundles() -> (tempfile::TempDir, String) {
    let root = tempfile::tempdir().unwrap();
    let events = (0..12).map(|number| {
        let event_type = ["one", "two"][number % 2];
        format!("{{\"event_type\":\"{event_type}\",\"k\":{number}}}\n")
    });
    let events = events.collect();
    store_rendered(root.path(), "one");
    store_rendered(root.path(), "two");
    (root, events)
}

/// The lines of results, and the codes of rejects.
fn run(
    root: &Path,
    events: &str,
    (isolation, allocator): (Isolation, Allocator),
    batch: Option<u64>,
    threads: usize,
) -> (String, Vec<(&'static str, u64)>) {
    let options =
        options!(Options { limits: Limits::default(), isolation, allocator, ..Options::default() });
    let pipeline = Pipeline::from(Sandbox::with_options(options).unwrap());
    let registry = Registry::open(root, &pipeline);
    assert_eq!((registry.failures().len(), registry.bundles()), (0, 2));
    let mut out = Vec::new();
    let one = NonZeroUsize::MIN;
    let mut stream = Stream::new(&registry, &mut out, std::io::sink())
        .with_threads(NonZeroUsize::new(threads).unwrap())
        // A line is a chunk, so that all threads have some.
        .with_chunk_bytes(if threads == 1 { one.saturating_add(1 << 18) } else { one });
    if let Some(events) = batch.and_then(NonZeroU64::new) {
        stream = stream.with_batches(events);
    }
    stream.run(events.as_bytes(), None).unwrap();
    let rejects = stream.summary().rejects.iter().map(|(code, count)| (*code, *count)).collect();
    drop(stream);
    (String::from_utf8(out).unwrap(), rejects)
}

#[test]
fn batches_of_any_size_give_the_same_results_in_any_mode() {
    let (root, events) = two_bundles();
    let expected = run(root.path(), &events, (Isolation::Warm, Allocator::OnDemand), None, 1);
    assert_eq!((expected.0.lines().count(), expected.1.len()), (12, 0));
    for way in ways() {
        for batch in [None, Some(1), Some(5), Some(100)] {
            for threads in [1, 3] {
                let found = run(root.path(), &events, way, batch, threads);
                assert_eq!(found, expected, "{way:?} {batch:?} {threads}");
            }
        }
    }
}

#[test]
fn bundles_of_one_stream_make_room_for_each_other_in_a_pool() {
    let (root, events) = two_bundles();
    let expected = run(root.path(), &events, (Isolation::Warm, Allocator::OnDemand), None, 1);
    // Who has an instance gives it up when the other's event comes, and no thread takes what is another's.
    for (instances, threads) in [(1, 1), (1, 4), (2, 2), (3, 2), (4, 3)] {
        let pool = Allocator::Pooling(Pool { instances, ..Pool::default() });
        for isolation in Isolation::ALL {
            for batch in [None, Some(1), Some(2)] {
                let found = run(root.path(), &events, (isolation, pool), batch, threads);
                assert_eq!(found, expected, "{isolation:?} {instances} {threads}");
            }
        }
    }
}
