//! From a plan to a bundle: every gate over ten samples, in a sandbox that is already there.

use std::path::Path;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use retort::{GraphSpec, Pipeline, Samples, Store, Task};

fn accept(criterion: &mut Criterion) {
    let pipeline = Pipeline::builder().build().expect("an engine");
    let mut group = criterion.benchmark_group("plan to bundle");
    for example in ["agent-decision", "github-webhook", "cloud-audit"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(example);
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("an example");
        let plan = read("plan.json");
        let graph = GraphSpec::parse(&read("graph.yaml"), "graph.yaml").expect("a graph spec");
        let samples = Samples::parse(&read("samples.ndjson"), "samples.ndjson").expect("samples");
        let task = Task::new(graph, samples);
        group.bench_function(format!("{example}: accept"), |bencher| {
            bencher.iter(|| pipeline.accept(&plan, &task).expect("the example is accepted"));
        });
        group.bench_function(format!("{example}: accept and store"), |bencher| {
            bencher.iter_batched(
                || tempfile::tempdir().expect("a directory"),
                |root| {
                    let accepted = pipeline.accept(&plan, &task).expect("accepted");
                    let store = Store::open(root.path()).expect("a store");
                    let stored = accepted.store(&store, jiff::Timestamp::UNIX_EPOCH);
                    assert!(!stored.expect("stored").cache_hit);
                    root
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, accept);
criterion_main!(benches);
