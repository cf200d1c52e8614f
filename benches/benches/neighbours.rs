//! An honest tenant beside seven honest ones and beside seven hostile ones, in turns: what its events give, and how long they
//! take.
//!
//! Each tenant is a thread with limits of its own, all of them on one engine with one pool, and there are more of them than
//! processors. The neighbours never rest. The honest tenant is measured twice: as fast as it can (how long an event takes), and
//! with an event every millisecond (how long after it was due its result is there, waiting for a processor included).

#![allow(clippy::print_stdout, reason = "the figures are what this prints")]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use retort::gate::Inspected;
use retort::sandbox::{Allocator, ForeignModules, Isolation, Options, Pool, Sandbox};
use retort::{Coded, Limits, Runner};
use retort_benches::dataset::Dataset;
use retort_benches::guests::{Attack, hostile};

const PHASE: Duration = Duration::from_millis(700);
const ROUNDS: usize = 8;
const PACE: Duration = Duration::from_millis(1);

/// The seven hostile neighbours, and how each of their events has to end.
const HOSTILE: [(Attack, Stop); 7] = [
    (Attack::Stall, Stop::Fuel),
    (Attack::Stall, Stop::Deadline),
    (Attack::Memory, Stop::Nothing),
    (Attack::Memory, Stop::Nothing),
    (Attack::Trap, Stop::Trap),
    (Attack::Stack, Stop::Stack),
    (Attack::Flood, Stop::Result),
];

#[derive(Clone, Copy, Debug)]
enum Stop {
    Fuel,
    Deadline,
    Nothing,
    Trap,
    Stack,
    Result,
}

impl Stop {
    fn code(self) -> &'static str {
        match self {
            Self::Fuel => "out_of_fuel",
            Self::Deadline => "deadline_exceeded",
            Self::Nothing => "ok",
            Self::Trap => "unreachable",
            Self::Stack => "stack_overflow",
            Self::Result => "result_not_json",
        }
    }

    /// The limits that their host gives them: generous ones, where that makes it worse.
    fn limits(self) -> Limits {
        let mut limits = Limits::default();
        match self {
            Self::Deadline => (limits.fuel_base, limits.deadline_ms) = (u64::MAX, 100),
            Self::Result => limits.fuel_base = 100_000_000,
            _ => {}
        }
        limits
    }
}

/// A neighbour: what runs, on which event, and how it has to end.
struct Neighbour {
    runner: Runner,
    events: Vec<Vec<u8>>,
    code: &'static str,
}

/// Latencies of an honest tenant in nanoseconds.
#[derive(Default)]
struct Latencies(Vec<u64>);

impl Latencies {
    fn at(&self, share: f64) -> f64 {
        let index = (self.0.len() as f64 * share) as usize;
        self.0.get(index.min(self.0.len().saturating_sub(1))).map_or(f64::NAN, |ns| *ns as f64)
    }
}

fn main() {
    // `cargo test --benches` runs benches with `--test`: nothing is measured then.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let mut options = Options::default();
    options.allocator = Allocator::Pooling(Pool::default());
    options.foreign = ForeignModules::InProcess;
    let sandbox = Sandbox::with_options(options);
    let sandbox = sandbox.expect("an engine");
    let datasets = Dataset::all();
    println!(
        "{:12}{:8}{:10}{:>12}{:>12}{:>12}{:>12}{:>10}",
        "instance", "events", "beside", "p50, us", "p99, us", "p99.9, us", "events", "wrong"
    );
    for isolation in [Isolation::Warm, Isolation::PerEvent] {
        for pace in [None, Some(PACE)] {
            measure(&sandbox, &datasets, isolation, pace);
        }
    }
}

fn tenant(sandbox: &Sandbox, module: &Inspected, limits: Limits, isolation: Isolation) -> Runner {
    let sandbox = sandbox.for_tenant(limits, isolation).expect("stacks are of one size");
    sandbox.load(module).expect("it loads").runner()
}

fn measure(sandbox: &Sandbox, datasets: &[Dataset], isolation: Isolation, pace: Option<Duration>) {
    let dataset = datasets.first().expect("there are datasets");
    let mut honest = tenant(sandbox, &dataset.inspected(), Limits::default(), isolation);
    let expected: Vec<Vec<u8>> = dataset
        .events
        .iter()
        .map(|event| honest.run(event).expect("the events are well").json.to_vec())
        .collect();
    let mut beside_honest: Vec<Neighbour> = (0..HOSTILE.len())
        .map(|index| {
            let dataset = &datasets[index % datasets.len()];
            let runner = tenant(sandbox, &dataset.inspected(), Limits::default(), isolation);
            Neighbour { runner, events: dataset.events.clone(), code: "ok" }
        })
        .collect();
    let mut beside_hostile: Vec<Neighbour> = HOSTILE
        .iter()
        .map(|(attack, stop)| {
            let runner = tenant(sandbox, &hostile(*attack), stop.limits(), isolation);
            Neighbour { runner, events: vec![br#"{"event_type":"e"}"#.to_vec()], code: stop.code() }
        })
        .collect();
    let (mut with_honest, mut with_hostile) = (Latencies::default(), Latencies::default());
    let mut wrong = [0, 0];
    for _ in 0..ROUNDS {
        let events = dataset.events.iter().zip(&expected);
        let mut phase = |neighbours: &mut [Neighbour], latencies: &mut Latencies| {
            beside(neighbours, || run(&mut honest, events.clone(), pace, &mut latencies.0))
        };
        wrong[0] += phase(&mut beside_honest, &mut with_honest);
        wrong[1] += phase(&mut beside_hostile, &mut with_hostile);
    }
    let loop_name = if pace.is_some() { "paced" } else { "packed" };
    for (name, latencies, wrong) in
        [("honest", &mut with_honest, wrong[0]), ("hostile", &mut with_hostile, wrong[1])]
    {
        latencies.0.sort_unstable();
        println!(
            "{:12}{loop_name:8}{name:10}{:>12.1}{:>12.1}{:>12.1}{:>12}{wrong:>10}",
            isolation.as_str(),
            latencies.at(0.5) / 1e3,
            latencies.at(0.99) / 1e3,
            latencies.at(0.999) / 1e3,
            latencies.0.len(),
        );
    }
    println!(
        "{:30}{:>12.2}{:>12.2}{:>12.2}",
        "  hostile / honest",
        with_hostile.at(0.5) / with_honest.at(0.5),
        with_hostile.at(0.99) / with_honest.at(0.99),
        with_hostile.at(0.999) / with_honest.at(0.999),
    );
}

/// Does something while the neighbours work, each on a thread; how many of their events didn't end as they have to is added to
/// what it gives.
fn beside(neighbours: &mut [Neighbour], work: impl FnOnce() -> u64) -> u64 {
    let stop = AtomicBool::new(false);
    let wrong = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for neighbour in neighbours {
            let (stop, wrong) = (&stop, &wrong);
            scope.spawn(move || {
                for event in neighbour.events.iter().cycle() {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let code =
                        neighbour.runner.run(event).map_or_else(|error| error.code(), |_| "ok");
                    if code != neighbour.code {
                        wrong.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        let missed = work();
        stop.store(true, Ordering::Relaxed);
        missed
    }) + wrong.load(Ordering::Relaxed)
}

/// Runs the honest tenant for one phase: how many results were not what they are alone.
fn run<'e>(
    honest: &mut Runner,
    events: impl Iterator<Item = (&'e Vec<u8>, &'e Vec<u8>)> + Clone,
    pace: Option<Duration>,
    latencies: &mut Vec<u64>,
) -> u64 {
    let start = Instant::now();
    let mut wrong = 0;
    for (count, (event, expected)) in events.cycle().enumerate() {
        let due = match pace {
            None => Instant::now(),
            Some(pace) => {
                let due = start + pace * count as u32;
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
                due
            }
        };
        if due - start > PHASE {
            break;
        }
        let is_right = honest.run(event).is_ok_and(|outcome| outcome.json == expected);
        latencies.push(due.elapsed().as_nanos() as u64);
        wrong += u64::from(!is_right);
    }
    wrong
}
