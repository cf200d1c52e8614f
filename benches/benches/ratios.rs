//! The figures of docs/benchmarks.md: every way to extract, over at least 100,000 events, in one run and interleaved.
//!
//! A machine that others use too is twice as fast in one second as in the next. So the ways take turns, a few
//! milliseconds each, and what is reported is the median of each way's times and of each round's ratios; beside them
//! stands each way's fastest turn, which is what the machine can do when it is left alone.

#![allow(clippy::print_stdout, reason = "the figures are what this prints")]

use std::hint::black_box;
use std::time::Instant;

use retort::internal::{
    block::BlockWriter,
    event::{Projection, Projector, validate},
    result,
};
use retort_benches::dataset::Dataset;
use retort_benches::native::Template;

/// Events that each way reads at least.
const EVENTS: usize = 100_000;
/// Events of one turn at least: a turn is a millisecond or a few.
const TURN: usize = 1_000;

/// Reads all events once.
type Way<'a> = Box<dyn FnMut(&[Vec<u8>]) + 'a>;

fn main() {
    // `cargo test --benches` runs benches with `--test`: nothing is measured then.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    for dataset in Dataset::all() {
        measure(&dataset);
    }
}

fn measure(dataset: &Dataset) {
    let extractor = dataset.extractor();
    let mut runner = extractor.runner();
    let projector = Projector::new(extractor.section().inputs());
    let (mut projection, mut alone) = (Projection::default(), Projection::default());
    let mut writer = BlockWriter::default();
    let template = Template::new(&dataset.plan).expect("plans by hand are of the short form");
    let (mut closure_out, mut value_out, mut type_out) = (Vec::new(), Vec::new(), Vec::new());

    let mut ways: Vec<(&str, Way<'_>)> = vec![
        (
            "sandbox",
            Box::new(|events| {
                for event in events {
                    black_box(runner.run(black_box(event)).is_ok());
                }
            }),
        ),
        (
            "(b) native closure",
            Box::new(|events| {
                for event in events {
                    let read = projector.project(black_box(event), &mut projection).is_ok();
                    if let Ok(block) = writer.write(&projector, event, &projection, usize::MAX) {
                        template.fill(block, &mut closure_out);
                        black_box(read && result::check(&closure_out).is_ok());
                    }
                }
            }),
        ),
        (
            "(a) serde_json::Value",
            Box::new(|events| {
                for event in events {
                    black_box((dataset.by_hand.by_value)(black_box(event), &mut value_out));
                }
            }),
        ),
        (
            "(c) derived type",
            Box::new(|events| {
                for event in events {
                    black_box((dataset.by_hand.by_type)(black_box(event), &mut type_out));
                }
            }),
        ),
        (
            "projection alone",
            Box::new(|events| {
                for event in events {
                    black_box(projector.project(black_box(event), &mut alone).is_ok());
                }
            }),
        ),
        (
            "validation alone",
            Box::new(|events| {
                for event in events {
                    black_box(validate(black_box(event)).is_ok());
                }
            }),
        ),
    ];

    let repeat = TURN.div_ceil(dataset.events.len());
    let rounds = EVENTS.div_ceil(repeat * dataset.events.len());
    let per_turn = (repeat * dataset.events.len()) as f64;
    let mut times = vec![Vec::with_capacity(rounds); ways.len()];
    for _ in 0..rounds {
        for ((_, way), times) in ways.iter_mut().zip(&mut times) {
            let start = Instant::now();
            for _ in 0..repeat {
                way(&dataset.events);
            }
            times.push(start.elapsed().as_nanos() as f64 / per_turn);
        }
    }

    let mean_bytes = dataset.bytes() as f64 / dataset.events.len() as f64;
    println!(
        "{}: {} events of {mean_bytes:.0} bytes, {rounds} rounds",
        dataset.name,
        dataset.events.len()
    );
    println!(
        "{:24}{:>12}{:>12}{:>16}{:>18}",
        "", "ns/event", "MB/s", "MB/s, fastest", "x sandbox (time)"
    );
    let sandbox = times[0].clone();
    for ((name, _), times) in ways.iter().zip(times) {
        let ratios = times.iter().zip(&sandbox).map(|(time, sandbox)| time / sandbox).collect();
        let fastest = times.iter().copied().fold(f64::INFINITY, f64::min);
        let nanoseconds = median(times);
        println!(
            "{name:24}{nanoseconds:>12.0}{:>12.0}{:>16.0}{:>18.2}",
            mean_bytes * 1e3 / nanoseconds,
            mean_bytes * 1e3 / fastest,
            median(ratios)
        );
    }
    println!();
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
