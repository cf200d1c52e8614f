//! Plans as users write them, with conversions, templates, conditions, rows and expressions, in the sandbox, and the same by hand: over
//! `serde_json::Value`, and over derived types. All have to give the same for all events; then they take turns, a few milliseconds each.

#![allow(clippy::print_stdout, reason = "the figures are what this prints")]

use std::collections::BTreeMap;
use std::hint::black_box;

use retort::Limits;
use retort::graph::Extraction;
use retort::plan;
use retort::sandbox::{Extractor, Runner, Sandbox};
use retort_benches::dataset::inspected;
use retort_benches::turns::{self, Way};
use retort_benches::whole::{ALL, Extract, Set};
use serde_json::Value;

/// Events that each way reads at least.
const EVENTS: usize = 40_000;
/// Events of one turn at least.
const TURN: usize = 200;

fn main() {
    // `cargo test --benches` runs benches with `--test`: that all ways agree is looked at all the same, and nothing is measured.
    let is_test = std::env::args().any(|argument| argument == "--test");
    if !is_test {
        println!(
            "{:20}{:>8}{:>14}{:>8}{:>18}{:>18}{:>24}",
            "",
            "bytes",
            "sandbox, ns",
            "MB/s",
            "times Value",
            "times types",
            "fuel, most of an event"
        );
    }
    // `cargo bench --bench whole -- queue` measures those with that in their names.
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    for set in ALL {
        if filter.as_ref().is_some_and(|filter| !set.name.contains(filter)) {
            continue;
        }
        let Some(events) = set.events() else {
            println!("{:20} skipped: its events aren't here", set.name);
            continue;
        };
        let plan = plan::parse(&set.plan().expect("the plan is there")).expect("the plan is valid");
        let sandbox = Sandbox::new(Limits::default()).expect("an engine");
        let extractor = sandbox.load(&inspected(&plan)).expect("the module loads");
        let fuel = compare(&set, &extractor, &events);
        if !is_test {
            measure(&set, &extractor, &events, fuel);
        }
    }
}

/// That all ways give the same for all events, and the most fuel that one of them takes.
fn compare(set: &Set, extractor: &Extractor, events: &[Vec<u8>]) -> u64 {
    let mut runner = extractor.runner();
    let mut out = Vec::new();
    let mut fuel = 0;
    for event in events {
        let outcome = runner.run(event).expect("an event that the plan takes");
        fuel = fuel.max(outcome.fuel);
        for (way, by_hand) in ways(set) {
            assert!(by_hand(event, &mut out), "{}, {way}", set.name);
            let is_same = if set.is_exact {
                json(&out) == json(outcome.json)
            } else {
                facts(&out) == facts(outcome.json)
            };
            assert!(
                is_same,
                "{}, {way}: {}\ngives {}\nand not {}",
                set.name,
                String::from_utf8_lossy(event),
                String::from_utf8_lossy(&out),
                String::from_utf8_lossy(outcome.json),
            );
        }
    }
    fuel
}

fn ways(set: &Set) -> impl Iterator<Item = (&'static str, Extract)> {
    [("by value", Some(set.by_value)), ("by type", set.by_type)]
        .into_iter()
        .filter_map(|(name, way)| Some((name, way?)))
}

fn measure(set: &Set, extractor: &Extractor, events: &[Vec<u8>], fuel: u64) {
    let per_turn = TURN.div_ceil(events.len()) * events.len();
    let events_of_turn = || events.iter().cycle().take(per_turn);
    let mut runner: Runner = extractor.runner();
    let sandboxed = move || {
        for event in events_of_turn() {
            black_box(runner.run(black_box(event)).is_ok());
        }
    };
    let mut all: Vec<Way<'_>> = vec![("sandbox".to_owned(), Box::new(sandboxed))];
    for (name, by_hand) in ways(set) {
        let mut out = Vec::new();
        let way = move || {
            for event in events_of_turn() {
                black_box(by_hand(black_box(event), &mut out));
            }
        };
        all.push((name.to_owned(), Box::new(way)));
    }
    let figures = turns::take(all, EVENTS.div_ceil(per_turn), per_turn);
    let bytes = events.iter().map(Vec::len).sum::<usize>() / events.len();
    let median = figures.first().map_or(f64::NAN, |sandboxed| sandboxed.median);
    let rate = bytes as f64 / median * 1e3;
    print!("{:20}{bytes:>8}{median:>14.0}{rate:>8.0}", set.name);
    for way in figures.get(1..).unwrap_or_default() {
        print!("{:>8.0} ns,{:>6.2}", way.median, way.ratio);
    }
    println!("{fuel:>24}");
}

fn json(result: &[u8]) -> Value {
    serde_json::from_slice(result).expect("a result")
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
