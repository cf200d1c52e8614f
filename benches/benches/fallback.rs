//! A bundle with its fallback, and what it costs to hold results to a graph spec, over a bare runner: an event of 137 bytes.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use retort::bundle::Bundle;
use retort::graph::{Extraction, ValidateOptions};
use retort::runtime::{Decision, Tenant, Wiring, run_with_fallback};
use retort::{GraphSpec, Host, Limits, Pipeline, Registry, Samples, Store, Task};

const PLAN: &str = r#"{"event_type": "order", "target_entity_name": "Order", "function_name": "orders",
    "key_field": {"property_name": "id", "source_path": ["content", "id"]},
    "property_fields": [{"property_name": "total", "source_path": ["content", "total"]},
        {"property_name": "state", "source_path": ["content", "state"]}],
    "span_handling": {"span_id_path": ["span_id"]}}"#;

const GRAPH: &str = r#"{"entities": [{"name": "Order", "key_columns": ["id"], "properties": [
    {"column": "id", "logical_name": "id", "sdk_type": "string"},
    {"column": "state", "logical_name": "state", "sdk_type": "string"},
    {"column": "total", "logical_name": "total", "sdk_type": "double"}]}]}"#;

const EVENT: &str = r#"{"event_type":"order","session_id":"session-1","span_id":"span-000000001","content":{"id":"order-4711","total":17.25,"state":"placed12"}}"#;

fn none(_: &[u8]) -> Result<Extraction, retort::runtime::ExtractError> {
    Ok(Extraction::default())
}

fn fallback(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let pipeline = Pipeline::builder().build().expect("an engine");
    let graph = GraphSpec::parse(GRAPH, "graph").expect("a graph");
    let task = Task::new(graph.clone(), Samples::parse(EVENT, "samples").expect("a sample"));
    let accepted = pipeline.accept(PLAN, &task).expect("a plan that passes");
    let store = Store::open(folder.path()).expect("a store");
    let stored = accepted.store(&store, jiff::Timestamp::UNIX_EPOCH).expect("a bundle");
    let open = |pipeline| Arc::new(Bundle::open(&stored.path, pipeline).expect("a bundle"));
    let registry = Registry::of_bundles([open(&pipeline)], &pipeline);
    let mut limits = Limits::default();
    limits.input_bytes = 64;
    // Its extractors refuse the event.
    let narrow = Pipeline::builder().limits(limits).build().expect("an engine");
    let refusing = Registry::of_bundles([open(&narrow)], &narrow);

    let wrong = EVENT.replace("17.25", "\"xyz\"");
    let events = [EVENT.as_bytes(), wrong.as_bytes()];
    assert!(events.iter().all(|event| event.len() == 137), "{}", EVENT.len());

    let mut group = criterion.benchmark_group("fallback");
    let mut runner = open(&pipeline).runner();
    group.bench_function("runner", |bencher| {
        bencher.iter(|| black_box(runner.run(black_box(events[0])).is_ok()));
    });
    for (name, registry, event, decision) in [
        ("unchanged", &registry, events[0], Decision::CompiledUnchanged),
        ("filtered", &registry, events[1], Decision::CompiledFiltered),
        ("fallback for event", &refusing, events[0], Decision::FallbackForEvent),
    ] {
        let mut told = 0_u64;
        let wiring = Wiring::default().with_fallback("order", none).on_outcome(|_, _| told += 1);
        let mut extractors = wiring.over(registry);
        for _ in 0..1_000 {
            let found = extractors.extract(event).expect("a result");
            assert_eq!(found.decision(), Some(decision));
        }
        group.bench_function(name, |bencher| {
            bencher.iter(|| black_box(extractors.extract(black_box(event)).is_ok()));
        });
    }
    let host = Host::builder().pipeline(pipeline.clone()).build().expect("a host");
    let tenant = Tenant::default().bundle(&stored.path).fallback("order", none);
    let tenant = host.add("tenant", tenant).expect("a tenant");
    for _ in 0..1_000 {
        assert!(tenant.run(events[0]).is_ok_and(|answer| answer.version().is_some()));
    }
    group.bench_function("tenant of a host", |bencher| {
        bencher.iter(|| black_box(tenant.run(black_box(events[0])).is_ok()));
    });
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    group.bench_function("tenant of a host, submitted", |bencher| {
        bencher.iter(|| black_box(runtime.block_on(tenant.submit(black_box(events[0]))).is_ok()));
    });
    // What the check costs where nothing is known of a result: it is read as data, and validated.
    group.bench_function("read and validated", |bencher| {
        bencher.iter(|| {
            let options = ValidateOptions::default();
            let event = black_box(events[0]);
            black_box(run_with_fallback(&mut runner, &mut none, &graph, options, event).is_ok())
        });
    });
    group.finish();
}

criterion_group!(benches, fallback);
criterion_main!(benches);
