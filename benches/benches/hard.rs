//! The hard tasks of evaluation/: their plans in the sandbox, and the same by hand over `serde_json::Value`. Both have to give the
//! same facts for all events; then they take turns, a few milliseconds each.

#![allow(clippy::print_stdout, reason = "the figures are what this prints")]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use retort::graph::Extraction;
use retort::plan;
use retort::{Limits, sandbox::Sandbox};
use retort_benches::dataset::inspected;
use retort_benches::hard::{ALL, ByHand};
use serde_json::Value;

/// Events that each way reads at least.
const EVENTS: usize = 40_000;
/// Events of one turn at least.
const TURN: usize = 200;

fn main() {
    // `cargo test --benches` runs benches with `--test`: that both ways agree is looked at all the same, and nothing is measured.
    let is_test = std::env::args().any(|argument| argument == "--test");
    if !is_test {
        println!(
            "{:20}{:>8}{:>16}{:>16}{:>10}{:>24}",
            "", "bytes", "sandbox, ns", "by hand, ns", "times", "fuel, most of an event"
        );
    }
    // `cargo bench --bench hard -- queue` measures those with that in their names.
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    for by_hand in ALL {
        if filter.as_ref().is_none_or(|filter| by_hand.0.contains(filter)) {
            measure(by_hand, is_test);
        }
    }
}

fn measure((name, by_hand): ByHand, is_test: bool) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../evaluation/tasks/hard").join(name);
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).expect("a file of the task");
    let plan = plan::parse(&read("plan.json")).expect("the plan is valid");
    let text = read("events.ndjson");
    let events: Vec<&[u8]> = text.lines().map(str::as_bytes).collect();
    let sandbox = Sandbox::new(Limits::default()).expect("an engine");
    let extractor = sandbox.load(&inspected(&plan)).expect("the module loads");
    let mut runner = extractor.runner();
    let mut out = Vec::new();
    let mut fuel = 0;
    for (line, event) in (1..).zip(&events) {
        let outcome = runner.run(event).expect("an event of the task");
        fuel = fuel.max(outcome.fuel);
        let found = facts(outcome.json);
        assert!(by_hand(event, &mut out));
        assert_eq!(facts(&out), found, "{name}, line {line}");
    }
    if is_test {
        return;
    }
    let repeat = TURN.div_ceil(events.len());
    let rounds = EVENTS.div_ceil(repeat * events.len());
    let per_turn = (repeat * events.len()) as f64;
    let (mut sandboxed, mut by_value, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let start = Instant::now();
        for event in events.iter().cycle().take(repeat * events.len()) {
            black_box(runner.run(black_box(event)).is_ok());
        }
        let one = start.elapsed().as_nanos() as f64 / per_turn;
        let start = Instant::now();
        for event in events.iter().cycle().take(repeat * events.len()) {
            black_box(by_hand(black_box(event), &mut out));
        }
        let other = start.elapsed().as_nanos() as f64 / per_turn;
        sandboxed.push(one);
        by_value.push(other);
        ratios.push(other / one);
    }
    let bytes = text.len() / events.len();
    println!(
        "{name:20}{bytes:>8}{:>16.0}{:>16.0}{:>10.2}{fuel:>24}",
        median(sandboxed),
        median(by_value),
        median(ratios)
    );
}

/// Nodes and edges with their properties, in no order. Numbers are doubles, and JSON in a text is what it says: `Value` keeps neither
/// digits nor the order of keys.
fn facts(result: &[u8]) -> BTreeMap<Vec<String>, Value> {
    let result: Extraction = serde_json::from_slice(result).expect("a result");
    let mut facts = BTreeMap::new();
    let value = |value: Value| match &value {
        Value::Number(number) => number.as_f64().map_or(value, Value::from),
        Value::String(text) if text.starts_with(['{', '[']) => {
            serde_json::from_str(text).unwrap_or(value)
        }
        _ => value,
    };
    for node in result.nodes {
        facts.insert(vec![node.node_id.clone()], node.entity_name.into());
        for property in node.properties {
            facts.insert(vec![node.node_id.clone(), property.name], value(property.value));
        }
    }
    for edge in result.edges {
        facts.insert(vec![edge.edge_id.clone()], edge.relationship_name.into());
        for property in edge.properties {
            facts.insert(vec![edge.edge_id.clone(), property.name], value(property.value));
        }
    }
    facts.insert(vec!["fully".to_owned()], result.fully_handled_span_ids.into());
    facts.insert(vec!["partially".to_owned()], result.partially_handled_span_ids.into());
    facts
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
