//! Streams through bundles that no plan of this host was rendered to.

mod lazy;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, LazyLock};

use proptest::prelude::*;
use retort::bundle::{Contents, Versions};
use retort::render::compile_text;
use retort::runtime::{Stream, StreamInput, Summary};
use retort::{Coded as _, Limits, Pipeline, Registry, Store};
use serde_json::{Value, json};

use crate::support::sandbox;

/// Puts a guest that declares no input, serves these types and gives a result over several lines.
fn store_foreign(store: &Store, types: &[String]) {
    let result = "{\r\n \"nodes\": [],\n \"edges\": [],\n\n \"fully_handled_span_ids\": [\"a\\n\"],\n \"partially_handled_span_ids\": []\n}\n";
    let section =
        json!({"abi": 1, "function": "extract", "event_types": types, "inputs": []}).to_string();
    let escaped: String = result.bytes().map(|byte| format!("\\{byte:02x}")).collect();
    let text = format!(
        r#"(module
            (memory (export "memory") 1 1)
            (func (export "retort_buffer") (param i32) (result i32) (i32.const 8))
            (func (export "extract") (param i32 i32) (result i64) (i64.const {packed}))
            (data (i32.const 4096) "{escaped}")
            (@custom "retort" {section:?}))"#,
        packed = 4096_u64 << 32 | result.len() as u64,
    );
    let contents = Contents {
        module_name: "extractor",
        name: None,
        function_name: "extract",
        event_types: types,
        plan: Some(b"{}"),
        source: Some(text.as_bytes()),
        rust: None,
        module: &compile_text(&text).unwrap(),
        graph: b"{\"entities\":[]}",
        limits: b"{}",
        event_schema: None,
        rule: None,
        versions: Versions::CURRENT,
    };
    store.put(&contents, jiff::Timestamp::UNIX_EPOCH).unwrap();
}

fn run(registry: &Registry, events: &str) -> (Vec<Value>, Vec<Value>, [u64; 4]) {
    let (mut out, mut rejects) = (Vec::new(), Vec::new());
    let mut stream = Stream::new(registry, &mut out, &mut rejects);
    stream.run(events.as_bytes(), None).unwrap();
    let summary = stream.summary();
    let counts = [summary.events, summary.results, summary.unrouted, summary.rejected()];
    assert_eq!(summary.bytes as usize, events.lines().map(str::len).sum::<usize>());
    drop(stream);
    let lines = |text: Vec<u8>| -> Vec<Value> {
        let text = String::from_utf8(text).unwrap();
        assert!(!text.contains('\r'), "{text:?}");
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    (lines(out), lines(rejects), counts)
}

#[test]
fn a_foreign_guest_is_routed_by_a_type_that_it_never_sees() {
    let root = tempfile::tempdir().unwrap();
    store_foreign(&Store::open(root.path()).unwrap(), &["one".to_owned(), "two".to_owned()]);
    let pipeline = Pipeline::from(sandbox(Limits::default()));
    let registry = Registry::open(root.path(), &pipeline);
    assert_eq!(registry.failures(), []);
    assert_eq!(registry.event_types().collect::<Vec<_>>(), ["one", "two"]);
    let events = r#"{"event_type":"one"}
{"event_type":"two"}
{"event_type":"one","event_type":"two"}
{"event_type":"one","event_type":"three"}
{"event_type":"t\u0077o"}
{"event_type":"one"
"#;
    let (results, rejects, counts) = run(&registry, events);
    assert_eq!(counts, [6, 4, 1, 1]);
    let found: Vec<_> = results
        .iter()
        .map(|line| (line["line"].as_u64().unwrap(), line["event_type"].as_str().unwrap()))
        .collect();
    assert_eq!(found, [(1, "one"), (2, "two"), (3, "two"), (5, "two")]);
    assert_eq!(results[0]["result"]["fully_handled_span_ids"], json!(["a\n"]));
    assert_eq!(rejects[0]["line"], 6);
}

#[test]
fn the_types_of_a_bundle_share_its_graph_spec() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::open(root.path()).unwrap();
    let types = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    store_foreign(&store, &types(&["a", "b", "c"]));
    store_foreign(&store, &types(&["bb"]));
    let pipeline = Pipeline::from(sandbox(Limits::default()));
    let registry = Registry::open(root.path(), &pipeline);
    assert_eq!(registry.event_types().collect::<Vec<_>>(), ["a", "b", "bb", "c"]);
    let specs = registry.graph_specs().unwrap();
    let is_one = |other: usize| Arc::ptr_eq(&specs[0], &specs[other]);
    assert_eq!((specs.len(), is_one(1), is_one(2), is_one(3)), (4, true, false, true));
}

#[test]
fn a_type_comes_before_a_prefix_and_a_long_prefix_before_a_short_one() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::open(root.path()).unwrap();
    let bundles: [&[&str]; 5] = [
        &["order.*"],
        &["order.paid", "order.line.*"],
        &["ord\u{e9}\".*"],
        &["same.*"],
        &["same.*", "own"],
    ];
    for types in bundles {
        let types: Vec<String> = types.iter().map(|it| (*it).to_owned()).collect();
        store_foreign(&store, &types);
    }
    let pipeline = Pipeline::from(sandbox(Limits::default()));
    let registry = Registry::open(root.path(), &pipeline);
    let collisions: Vec<_> =
        registry.failures().iter().map(|it| (it.code(), it.event_type.as_deref())).collect();
    assert_eq!(collisions, [("event_type_collision", Some("same.*")); 2]);
    let served: Vec<&str> = registry.event_types().collect();
    assert_eq!(served, ["order.*", "order.line.*", "order.paid", "ord\u{e9}\".*", "own"]);
    let events = r#"{"event_type":"order.open"}
{"event_type":"order.paid"}
{"event_type":"order.line.added"}
{"event_type":"order.line"}
{"event_type":"\u006frder.\u00e9"}
{"event_type":"ord\u00e9\".x"}
{"a":{"event_type":"order.paid"},"event_type":"order.a.b"}
{"event_type":"order."}
{"event_type":"order"}
{"event_type":"orders.x"}
{"event_type":"same.x"}
{"event_type":["order.x"]}
{"event_type":"order.p\u0061id"}
"#;
    let (results, _, counts) = run(&registry, events);
    assert_eq!(counts, [13, 9, 4, 0]);
    let of: Vec<_> = results
        .iter()
        .map(|line| (line["event_type"].as_str().unwrap(), &line["bundle"]))
        .collect();
    let types: Vec<&str> = of.iter().map(|(event_type, _)| *event_type).collect();
    let expected = [
        "order.open",
        "order.paid",
        "order.line.added",
        "order.line",
        "order.\u{e9}",
        "ord\u{e9}\".x",
        "order.a.b",
        "order.",
        "order.paid",
    ];
    assert_eq!(types, expected);
    let (open, paid) = (of[0].1, of[1].1);
    assert_ne!(open, paid);
    let bundles: Vec<bool> = of.iter().map(|(_, bundle)| *bundle == open).collect();
    assert_eq!(bundles, [true, false, false, true, true, false, true, true, false]);
    assert_eq!((of[2].1, of[8].1), (paid, paid), "escapes make no difference");
}

#[test]
fn readers_and_writers_that_fail_are_told_apart() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::TimedOut.into())
        }
    }
    impl std::io::Write for Broken {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    use retort::Coded;

    let root = tempfile::tempdir().unwrap();
    store_foreign(&Store::open(root.path()).unwrap(), &["one".to_owned(), "two".to_owned()]);
    let pipeline = Pipeline::from(sandbox(Limits::default()));
    let registry = Registry::open(root.path(), &pipeline);
    let mut stream = Stream::new(&registry, Broken, Broken);
    let error = stream.run(std::io::BufReader::new(Broken), None).unwrap_err();
    assert_eq!(error.code(), "stream_unreadable");
    for event in ["{\"event_type\":\"one\"}\n", "{\n"] {
        let error = stream.run(event.as_bytes(), None).unwrap_err();
        assert_eq!(error.code(), "stream_unwritable", "{error}");
    }
}

/// A registry of two types, for events of up to 60 bytes.
static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    let root = tempfile::tempdir().unwrap();
    store_foreign(&Store::open(root.path()).unwrap(), &["one".to_owned(), "two.*".to_owned()]);
    let limits = options!(Limits { event_bytes: 60, ..Limits::default() });
    Registry::open(root.path(), &Pipeline::from(sandbox(limits)))
});

/// Results, rejects and the summary of inputs, each with its name.
fn streamed(
    inputs: &BTreeMap<String, Vec<u8>>,
    (threads, chunk_bytes): (usize, usize),
) -> (Vec<u8>, Vec<u8>, Summary) {
    let (mut out, mut rejects) = (Vec::new(), Vec::new());
    let mut stream = Stream::new(&REGISTRY, &mut out, &mut rejects)
        .with_threads(NonZeroUsize::new(threads).unwrap())
        .with_chunk_bytes(NonZeroUsize::new(chunk_bytes).unwrap());
    let named = |(name, text): (&String, _)| StreamInput::new(text).named(name);
    let readers = inputs.iter().map(|(name, text)| (name, text.as_slice()));
    let ended = stream.run_all(readers.map(named).collect::<Vec<_>>()).unwrap();
    assert_eq!(ended, retort::runtime::StreamEnd::Complete);
    let summary = stream.summary().clone();
    drop(stream);
    (out, rejects, summary)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn threads_and_chunks_change_nothing(
        inputs in prop::collection::btree_map(
            "[a-c\"\u{e9}]{0,3}",
            prop::collection::vec(prop::sample::select(vec![
                &b"{\"event_type\":\"one\"}"[..], b"{\"event_type\":\"two.more\"}", b"{\"event_type\":\"three\"}",
                b"", b"\r", b"  \t", b"{", b"[1]", b"\"\xff\"", b"{\"event_type\":\"one\", \"so\": \"that it has 61 bytes, say\", \"x\": 1234}",
                b"                                                                        ",
            ]), 0..30).prop_map(|lines| lines.join(&b'\n')),
            0..4,
        ),
        threads in 1usize..9,
        chunk_bytes in 1usize..400,
    ) {
        let expected = streamed(&inputs, (1, 1 << 18));
        prop_assert_eq!(streamed(&inputs, (threads, chunk_bytes)), expected);
    }
}
