//! Plans as users write them, with conversions, templates, conditions, rows and expressions, in the sandbox, and the same by hand: over
//! `serde_json::Value`, and over derived types. All have to give the same for all events; then they take turns, a few milliseconds each.

#![allow(clippy::print_stdout, reason = "the figures are what this prints")]

use std::hint::black_box;

use retort::Limits;
use retort::plan;
use retort::sandbox::{Extractor, Runner, Sandbox};
use retort_benches::dataset::inspected;
use retort_benches::turns::{self, Way};
use retort_benches::whole::{ALL, Extract, Set, is_same};

/// Events that each way reads at least.
const EVENTS: usize = 40_000;
/// Events of one turn, about.
const TURN: usize = 32;

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
            assert!(
                is_same(set.is_exact, &out, outcome.json),
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

fn ways(set: &Set) -> [(&'static str, Extract); 2] {
    [("by value", set.by_value), ("by type", set.by_type)]
}

fn measure(set: &Set, extractor: &Extractor, events: &[Vec<u8>], fuel: u64) {
    // Turns are short, so that few of them are interrupted, and each is of events out of the whole range.
    let turns_a_pass = (events.len() / TURN).max(1);
    let per_turn = events.len() / turns_a_pass;
    let turn = |number: usize| {
        events.iter().skip(number % turns_a_pass).step_by(turns_a_pass).take(per_turn)
    };
    let mut runner: Runner = extractor.runner();
    let mut number = 0;
    let sandboxed = move || {
        for event in turn(number) {
            black_box(runner.run(black_box(event)).is_ok());
        }
        number += 1;
    };
    let mut all: Vec<Way<'_>> = vec![("sandbox".to_owned(), Box::new(sandboxed))];
    for (name, by_hand) in ways(set) {
        let mut out = Vec::new();
        let mut number = 0;
        let way = move || {
            for event in turn(number) {
                black_box(by_hand(black_box(event), &mut out));
            }
            number += 1;
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
