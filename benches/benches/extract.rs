//! An event to a checked result: through the sandbox, and by every other way to do the same.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use retort::internal::{
    block::BlockWriter,
    event::{Projection, Projector},
    result,
};
use retort_benches::dataset::Dataset;
use retort_benches::native::Template;

/// Each iteration reads all events of a corpus once.
fn extract(criterion: &mut Criterion) {
    for dataset in Dataset::all() {
        let mut group = criterion.benchmark_group(format!("extract/{}", dataset.name));
        group.throughput(Throughput::ElementsAndBytes {
            elements: dataset.events.len() as u64,
            bytes: dataset.bytes(),
        });
        let mut out = Vec::new();

        let extractor = dataset.extractor();
        let mut runner = extractor.runner();
        group.bench_function("sandbox", |bencher| {
            bencher.iter(|| {
                for event in &dataset.events {
                    black_box(runner.run(black_box(event)).is_ok());
                }
            });
        });

        let projector = Projector::new(extractor.section().inputs());
        let mut projection = Projection::default();
        let mut writer = BlockWriter::default();
        let template = Template::new(&dataset.plan).expect("plans by hand are of the short form");
        group.bench_function("native closure", |bencher| {
            bencher.iter(|| {
                for event in &dataset.events {
                    let read = projector.project(black_box(event), &mut projection).is_ok();
                    if let Ok(block) = writer.write(&projector, event, &projection, usize::MAX) {
                        template.fill(block, &mut out);
                        black_box(read && result::check(&out).is_ok());
                    }
                }
            });
        });

        let by_hand = [
            ("serde_json::Value", dataset.by_hand.by_value),
            ("derived type", dataset.by_hand.by_type),
        ];
        for (name, extract) in by_hand {
            group.bench_with_input(
                BenchmarkId::from_parameter(name),
                &extract,
                |bencher, extract| {
                    bencher.iter(|| {
                        for event in &dataset.events {
                            black_box(extract(black_box(event), &mut out));
                        }
                    });
                },
            );
        }
        group.finish();
    }
}

criterion_group!(benches, extract);
criterion_main!(benches);
