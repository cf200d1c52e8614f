//! Reading an event: the projector beside other ways to get at the same fields.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use retort::internal::event::{Projection, Projector, validate};
use retort_benches::dataset::Dataset;

fn project(criterion: &mut Criterion) {
    for dataset in Dataset::all() {
        let mut group = criterion.benchmark_group(format!("project/{}", dataset.name));
        group.throughput(Throughput::Bytes(dataset.bytes()));

        let projector = Projector::new(dataset.extractor().section().inputs());
        let mut projection = Projection::default();
        group.bench_function("projector", |bencher| {
            bencher.iter(|| {
                for event in &dataset.events {
                    black_box(projector.project(black_box(event), &mut projection).is_ok());
                }
            });
        });
        group.bench_function("validate only", |bencher| {
            bencher.iter(|| {
                for event in &dataset.events {
                    black_box(validate(black_box(event)).is_ok());
                }
            });
        });
        group.bench_function("serde_json::Value", |bencher| {
            bencher.iter(|| {
                for event in &dataset.events {
                    black_box(
                        serde_json::from_slice::<serde_json::Value>(black_box(event)).is_ok(),
                    );
                }
            });
        });
        // The derived type of the extraction bench, its result included: serde offers no way to stop half-way.
        let mut out = Vec::new();
        group.bench_function("derived type", |bencher| {
            bencher.iter(|| {
                for event in &dataset.events {
                    black_box((dataset.by_hand.by_type)(black_box(event), &mut out));
                }
            });
        });
        // simd-json parses in place, so it gets a copy of each event; the copy is part of using it on borrowed input.
        let mut copy = Vec::new();
        let mut buffers = simd_json::Buffers::default();
        group.bench_function("simd-json tape", |bencher| {
            bencher.iter(|| {
                for event in &dataset.events {
                    copy.clear();
                    copy.extend_from_slice(black_box(event));
                    let tape = simd_json::to_tape_with_buffers(&mut copy, &mut buffers);
                    black_box(tape.is_ok());
                }
            });
        });
        group.finish();
    }
}

criterion_group!(benches, project);
criterion_main!(benches);
