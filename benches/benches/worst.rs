//! What a large event costs: arrays of small elements, of which each becomes a node and two edges that repeat what stands
//! outside of it, with conversions, a condition and a claim on a span.
//!
//! Time and fuel for events of 1, 10, 100 and 1000 KB, and for each byte: both are to grow with the event and no faster.

#![allow(clippy::print_stdout, reason = "the figures are what this prints")]

use std::hint::black_box;
use std::time::Instant;

use retort::gate::{StructuralLimits, inspect};
use retort::internal::prove;
use retort::render::{compile, render};
use retort::sandbox::Sandbox;
use retort::{Limits, Runner, plan};
use serde_json::json;

const PLAN: &str = r#"{
    "event_type": "order.*",
    "function_name": "read_order",
    "nodes": [
        {"entity_name": "Order", "key_fields": [{"property_name": "order_id", "source_path": ["content", "id"]}]},
        {
            "entity_name": "Line",
            "for_each": {"array": ["content", "lines"]},
            "when": {"source_path": ["quantity"], "truthy": true},
            "key_fields": [
                {"property_name": "order_id", "source_path": ["content", "id"], "from": "event"},
                {"property_name": "line_no", "source_path": ["no"]}
            ],
            "property_fields": [
                {"property_name": "label", "template": "{$.content.id}/{no}: {article.name}"},
                {"property_name": "shipped", "source_path": ["shipped"], "convert": ["timestamp"]},
                {"property_name": "code", "source_path": ["article", "code"], "convert": ["trim", "lower"]},
                {"property_name": "note", "source_path": ["content", "note"], "from": "event"}
            ]
        }
    ],
    "edges": [
        {"relationship_name": "HAS_LINE", "from": "Order", "to": "Line"},
        {
            "relationship_name": "OF",
            "from": "Line",
            "to": {"entity_name": "Article", "key_fields": [
                {"property_name": "code", "source_path": ["article", "code"], "convert": ["trim", "lower"]}
            ]}
        }
    ],
    "span_handling": {"for_each": {"array": ["content", "lines"]}, "span_id_path": ["span"]}
}"#;

/// Elements of an event; each takes some 100 bytes.
const SIZES: [usize; 4] = [10, 100, 1_000, 10_000];
/// Elements of all events of one measurement, about.
const ELEMENTS: usize = 200_000;
/// Measurements of each size; the sizes take turns.
const ROUNDS: usize = 7;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // `cargo test --benches` runs benches with `--test`: one event of each size then.
    let tests = std::env::args().any(|argument| argument == "--test");
    let (elements, rounds) = if tests { (0, 1) } else { (ELEMENTS, ROUNDS) };
    let compiled = compile(render(&plan::parse(PLAN)?)?)?;
    let inspected = inspect(compiled.module(), &StructuralLimits::default())?;
    let inspected = prove::by_rendering(inspected, &compiled);
    let extractor = Sandbox::new(Limits::default())?.load(&inspected)?;
    let mut runner = extractor.runner();
    let events = SIZES.map(event);
    let mut times = vec![Vec::new(); SIZES.len()];
    for _ in 0..rounds {
        for ((event, size), times) in events.iter().zip(SIZES).zip(&mut times) {
            times.push(time(&mut runner, event, (elements / size).max(1))?);
        }
    }
    println!(
        "{:>10}{:>10}{:>8}{:>12}{:>12}{:>12}{:>12}{:>8}{:>8}",
        "bytes", "elements", "nodes", "µs", "fuel", "ns/byte", "fuel/byte", "time", "fuel"
    );
    let mut smallest = None;
    for ((event, size), mut times) in events.iter().zip(SIZES).zip(times) {
        times.sort_by(f64::total_cmp);
        let time = times.get(times.len() / 2).copied().unwrap_or(f64::NAN);
        let outcome = runner.run(event)?;
        let bytes = event.len() as f64;
        let each = (time * 1e9 / bytes, outcome.fuel as f64 / bytes);
        let (first_time, first_fuel) = *smallest.get_or_insert(each);
        println!(
            "{:>10}{size:>10}{:>8}{:>12.1}{:>12}{:>12.2}{:>12.2}{:>8.2}{:>8.2}",
            event.len(),
            outcome.shape.nodes,
            time * 1e6,
            outcome.fuel,
            each.0,
            each.1,
            each.0 / first_time,
            each.1 / first_fuel,
        );
    }
    println!("\ntime, fuel: for each byte, against the smallest event");
    Ok(())
}

/// Seconds that an event takes, over `count` runs.
fn time(
    runner: &mut Runner,
    event: &[u8],
    count: usize,
) -> Result<f64, Box<dyn std::error::Error>> {
    let start = Instant::now();
    for _ in 0..count {
        black_box(runner.run(black_box(event))?);
    }
    Ok(start.elapsed().as_secs_f64() / count as f64)
}

/// An event with so many lines.
fn event(lines: usize) -> Vec<u8> {
    let line = |no: usize| {
        json!({
            "no": no, "quantity": no % 9, "article": {"name": "Hexagon nut", "code": format!(" M{no} ")},
            "shipped": 1_557_933_657 + no, "span": format!("s{no}"),
        })
    };
    let event = json!({
        "event_type": "order.placed", "session_id": "session-1",
        "content": {"id": "A-7", "note": "by hand", "lines": (0..lines).map(line).collect::<Vec<_>>()},
    });
    event.to_string().into_bytes()
}
