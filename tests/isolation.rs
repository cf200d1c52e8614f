//! What an event gives doesn't depend on those before it: not in any isolation mode, from no allocator, for no guest.

mod guests;
mod random;
mod stream;

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

use retort::gate::{Inspected, StructuralLimits, inspect};
use retort::sandbox::{
    Allocator, Extractor, ForeignModules, Isolation, Options, Pool, ResultCounts, Sandbox,
};
use retort::{Coded, Limits, RunError, Runner};

use self::guests::{Guest, guests};
use crate::support::workspace_root;

/// Few places, for all tests here together, which are made as new in twos, so that each soon serves another guest.
const POOL: Allocator = Allocator::Pooling(Pool {
    instances: 32,
    keep_resident: 16 << 10,
    batch: 2,
    without_swap: false,
});

/// What an event gave: the result with all that goes with it, or the error.
#[derive(Clone, Debug, PartialEq)]
enum Gave {
    Result { json: Vec<u8>, shape: ResultCounts, fuel: u64, conversion_fuel: u64, failed: u32 },
    Error { code: &'static str, says: String },
}

impl Gave {
    fn by(runner: &mut Runner, event: &[u8]) -> Self {
        match runner.run(event) {
            Ok(outcome) => Self::Result {
                json: outcome.json.to_vec(),
                shape: outcome.shape,
                fuel: outcome.fuel,
                conversion_fuel: outcome.conversion_fuel,
                failed: outcome.failed_conversions,
            },
            Err(error) => Self::of(&error),
        }
    }

    fn of(error: &RunError) -> Self {
        let code = error.code();
        // How late a deadline was noticed is another time's in each run.
        let says = if code == "deadline_exceeded" { String::new() } else { error.to_string() };
        Self::Error { code, says }
    }

    fn is_result(&self) -> bool {
        matches!(self, Self::Result { .. })
    }
}

/// Each mode with each allocator.
fn ways() -> impl Iterator<Item = (Isolation, Allocator)> {
    [Allocator::OnDemand, POOL]
        .into_iter()
        .flat_map(|allocator| Isolation::ALL.map(|isolation| (isolation, allocator)))
}

/// A sandbox for one tenant. All tenants of an allocator have one engine, as far as their stacks are of one size.
fn tenant(isolation: Isolation, allocator: Allocator, limits: &Limits) -> Sandbox {
    type Engines = Mutex<HashMap<(bool, usize), Sandbox>>;
    static ENGINES: LazyLock<Engines> = LazyLock::new(Engines::default);
    let key = (allocator == Allocator::OnDemand, limits.stack_bytes);
    let mut engines = ENGINES.lock().unwrap();
    let engine = engines.entry(key).or_insert_with(|| {
        let limits = options!(Limits { stack_bytes: limits.stack_bytes, ..Limits::default() });
        let foreign = ForeignModules::InProcess;
        let options = options!(Options { limits, allocator, foreign, ..Options::default() });
        Sandbox::with_options(options).unwrap()
    });
    engine.for_tenant(limits.clone(), isolation).unwrap()
}

/// What each event gives when it is the only one that an engine's guest ever sees, and how long the slowest takes.
fn alone(module: &Inspected, limits: &Limits, events: &[Vec<u8>]) -> (Vec<Gave>, Duration) {
    let sandbox = tenant(Isolation::PerEvent, Allocator::OnDemand, limits);
    let extractor = sandbox.load(module).unwrap();
    let mut slowest = Duration::ZERO;
    let gave = events.iter().map(|event| {
        let start = Instant::now();
        let gave = Gave::by(&mut extractor.runner(), event);
        slowest = slowest.max(start.elapsed());
        gave
    });
    (gave.collect(), slowest)
}

/// An order in which every event comes after every one, itself too.
fn every_pair(events: usize) -> Vec<usize> {
    (0..events).flat_map(|first| (0..events).flat_map(move |second| [first, second])).collect()
}

/// Runs events in an order with batches of three, and compares with what they gave alone.
fn check(extractor: &Extractor, events: &[Vec<u8>], order: &[usize], alone: &[Gave], what: &str) {
    let mut runner = extractor.runner();
    for (turn, index) in order.iter().enumerate() {
        if turn % 3 == 0 {
            runner.begin_batch();
        }
        let gave = Gave::by(&mut runner, &events[*index]);
        let before = &order[..turn];
        assert_eq!(gave, alone[*index], "{what}: event {index} after {before:?}");
    }
}

#[test]
fn an_event_gives_the_same_whatever_came_before_it() {
    let (mut results, mut failures) = (0, 0);
    for Guest { name, module, limits, events, .. } in guests() {
        let (alone, slowest) = alone(&module, &limits, &events);
        results += alone.iter().filter(|gave| gave.is_result()).count();
        failures += alone.iter().filter(|gave| !gave.is_result()).count();
        let order = match slowest.as_millis() {
            ..=20 => every_pair(events.len()),
            21..=100 => vec![1, 0, 1, 0],
            // What takes until its deadline does so in each of the ways.
            _ => vec![0, 1],
        };
        for (isolation, allocator) in ways() {
            let what = format!("{name}, {}, {allocator:?}", isolation.as_str());
            let extractor = tenant(isolation, allocator, &limits).load(&module).unwrap();
            check(&extractor, &events, &order, &alone, &what);
        }
    }
    assert!(results > 50 && failures > 50, "{results} results, {failures} failures");
}

#[test]
fn guests_that_take_turns_in_one_pool_learn_nothing_of_each_other() {
    let quick: Vec<(Guest, Vec<Gave>)> = guests()
        .into_iter()
        .map(|guest| (alone(&guest.module, &guest.limits, &guest.events), guest))
        .filter(|((_, slowest), _)| *slowest < Duration::from_millis(20))
        .map(|((alone, _), guest)| (guest, alone))
        .collect();
    for isolation in Isolation::ALL {
        let load = |(guest, _): &(Guest, Vec<Gave>)| {
            tenant(isolation, POOL, &guest.limits).load(&guest.module).unwrap()
        };
        let extractors: Vec<Extractor> = quick.iter().map(load).collect();
        // One place serves guest after guest; in the second round what they left is beneath others.
        for round in 0..2 {
            for step in 0..quick.len() {
                let index = (step * (1 + 6 * round) + round) % quick.len();
                let (guest, alone) = &quick[index];
                let mut runner = extractors[index].runner();
                for (event, alone) in guest.events.iter().zip(alone) {
                    let gave = Gave::by(&mut runner, event);
                    assert_eq!(gave, *alone, "{}, {isolation:?}, round {round}", guest.name);
                }
            }
        }
    }
}

#[test]
fn guests_beside_each_other_learn_nothing_of_each_other() {
    let beside: Vec<Guest> = guests().into_iter().filter(|guest| guest.leaks).collect();
    assert!(beside.len() >= 4, "{}", beside.len());
    for isolation in Isolation::ALL {
        std::thread::scope(|scope| {
            for guest in beside.iter().take(6) {
                scope.spawn(move || {
                    let (alone, _) = alone(&guest.module, &guest.limits, &guest.events);
                    let sandbox = tenant(isolation, POOL, &guest.limits);
                    let extractor = sandbox.load(&guest.module).unwrap();
                    for _ in 0..5 {
                        let order = every_pair(guest.events.len());
                        check(&extractor, &guest.events, &order, &alone, &guest.name);
                    }
                });
            }
        });
    }
}

#[test]
fn fresh_memory_holds_nothing_of_other_guests() {
    let text = std::fs::read_to_string(workspace_root().join("tests/isolation/scavenger.wat"));
    // In the part that a pool writes over, behind it, and at the end of the memory.
    let places = [8192, 20_480, 200_704, 393_208];
    let modules = places.map(|place| {
        let text = text.as_ref().unwrap().replace("DATA_AT", &place.to_string());
        inspect(&wat::parse_str(text).unwrap(), &StructuralLimits::default()).unwrap()
    });
    let pools = [0, 4 << 10, 16 << 10, 1 << 20].map(|keep_resident| {
        [(1, false), (3, false), (1, true)].map(|(batch, without_swap)| {
            Allocator::Pooling(Pool { instances: 4, keep_resident, batch, without_swap })
        })
    });
    let event = br#"{"event_type":"e"}"#;
    for allocator in pools.into_iter().flatten().chain([Allocator::OnDemand]) {
        for isolation in Isolation::ALL {
            let limits = options!(Limits { fuel_base: 10_000_000, ..Limits::default() });
            let foreign = ForeignModules::InProcess;
            let options =
                options!(Options { limits, isolation, allocator, foreign, ..Options::default() });
            let sandbox = Sandbox::with_options(options).unwrap();
            let extractors = modules.each_ref().map(|module| sandbox.load(module).unwrap());
            for turn in 0..12 {
                let index = (turn + turn / 4) % extractors.len();
                let mut runner = extractors[index].runner();
                for _ in 0..2 {
                    let json = runner.run(event).unwrap().json;
                    let json = String::from_utf8_lossy(json);
                    let what = format!("{allocator:?}, {isolation:?}, turn {turn}: {json}");
                    assert!(json.ends_with(r#"span_ids":["0"]}"#), "{what}");
                }
            }
        }
    }
}
