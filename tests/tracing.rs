//! What a host sees of Retort in its own log.

use std::env;
use std::io::{self, Write};
use std::process::Command;
use std::sync::{Arc, Mutex};

use retort::{Bundle, Coded, GraphSpec, Limits, Pipeline, Samples, Store, Task};
use tracing_subscriber::fmt::MakeWriter;

/// Everything that is traced, as text.
#[derive(Clone, Default)]
struct Traced(Arc<Mutex<Vec<u8>>>);

impl Write for Traced {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Traced {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

const PLAN: &str = r#"{"event_type": "order", "target_entity_name": "Order", "function_name": "read_order",
    "key_field": {"property_name": "order_id", "source_path": ["id"]}}"#;

/// Set where this is the process in which nothing else runs.
const ALONE: &str = "RETORT_TEST_ALONE";

const GRAPH: &str = "entities: [{name: Order, keys: {primary: [order_id]}, properties: [{name: order_id, type: string}]}]";

#[test]
fn stages_bundles_and_events_are_traced_and_never_what_is_in_an_event() {
    // In a process of its own: what other threads come upon without a subscriber may stay silent on this one.
    if env::var_os(ALONE).is_none() {
        let name = "tracing::stages_bundles_and_events_are_traced_and_never_what_is_in_an_event";
        let mut alone = Command::new(env::current_exe().unwrap());
        let ended = alone.args(["--exact", name]).env(ALONE, "1").output().unwrap();
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert!(ended.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let traced = Traced::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_ansi(false)
        .with_writer(traced.clone())
        .finish();
    let root = tempfile::tempdir().unwrap();
    ::tracing::subscriber::with_default(subscriber, || {
        let graph = GraphSpec::parse(GRAPH, "graph.yaml").unwrap();
        let samples = Samples::parse(
            r#"{"event_type": "order", "session_id": "s", "id": "secret-1"}"#,
            "samples",
        );
        let mut limits = Limits::default();
        limits.event_bytes = 100;
        let pipeline = Pipeline::builder().limits(limits).build().unwrap();
        let accepted = pipeline.accept(PLAN, &Task::new(graph, samples.unwrap())).unwrap();
        let store = Store::open(root.path()).unwrap();
        let stored = accepted.store(&store, jiff::Timestamp::UNIX_EPOCH).unwrap();
        assert!(Bundle::open(root.path().join("none"), &pipeline).is_err());
        let mut runner = Bundle::open(&stored.path, &pipeline).unwrap().runner();
        runner.run(br#"{"event_type": "order", "session_id": "s", "id": "secret-2"}"#).unwrap();
        assert_eq!(
            runner.run(br#"{"event_type": "order", "id": "secret-3""#).unwrap_err().code(),
            "event_not_json"
        );
        assert_eq!(runner.run(&[b' '; 101]).unwrap_err().code(), "event_too_large");
    });
    let text = String::from_utf8(traced.0.lock().unwrap().clone()).unwrap();
    for said in [
        "passed stage=\"plan\"",
        "passed stage=\"smoke\"",
        "module loaded function=\"read_order\"",
        "bundle loaded",
        "bundle refused",
        "code=\"manifest_missing\"",
        "extractor{function=\"read_order\"}",
        "event served fuel=",
        "code=\"event_too_large\" used=101 allowed=100",
    ] {
        assert!(text.contains(said), "{said}:\n{text}");
    }
    assert!(!text.contains("secret"), "{text}");
}
