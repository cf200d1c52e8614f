//! Guests in Rust against those that plans are rendered to in WebAssembly text, and against the same by hand over `serde_json::Value` and
//! over derived types: the call alone, an event with an instance kept or a fresh one, fuel, bytes, and what compiling takes.
//!
//! Both guests come from one plan, and have to give the same bytes for all events before anything is measured.

#![allow(clippy::print_stdout, reason = "the figures are what this prints")]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use retort::gate::{Inspected, SourceLimits, StructuralLimits, inspect, vet_source};
use retort::internal::{
    bare::{Bare, Metering},
    block::BlockWriter,
    event::{Projection, Projector},
};
use retort::plan::{self, Plan};
use retort::render;
use retort::sandbox::{
    Allocator, Extractor, ForeignModules, Isolation, Observer, Options, Pool, RUSTC_COMMAND,
    RustcError, RustcOptions, Sandbox, Step, Toolchain, run_rustc_helper,
};
use retort_benches::dataset::{Dataset, inspected};
use retort_benches::turns::{Figures, Way, median, take};
use retort_benches::whole::{ALL, Extract, is_same};

/// Events of one turn, calls of one where nothing but the guest is called, and turns of each way.
const EVENTS: usize = 200;
const CALLS: usize = 4_000;
const ROUNDS: usize = 61;
/// How often something is compiled; the median counts.
const COMPILED: usize = 5;
/// Those of the whole language that are measured.
const WHOLE: [&str; 3] = ["shop-orders", "mako-tools", "tool-results"];

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(RUSTC_COMMAND) {
        return run_rustc_helper();
    }
    // `cargo test --benches` runs benches with `--test`: that all ways agree is looked at all the same, and nothing is measured.
    let is_test = std::env::args().any(|argument| argument == "--test");
    let helper = std::env::current_exe().expect("this program has a path");
    let toolchain = match Toolchain::find(RustcOptions::new(helper)) {
        Ok(toolchain) => toolchain,
        Err(reason @ (RustcError::ToolchainMissing { .. } | RustcError::TargetMissing { .. })) => {
            println!("skipped: {reason}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            println!("the toolchain: {error}");
            return ExitCode::FAILURE;
        }
    };
    println!("rustc {}", toolchain.version());
    // `cargo bench --bench guest -- shop` measures those with that in their names.
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    for subject in subjects() {
        if filter.as_ref().is_some_and(|filter| !subject.name.contains(filter)) {
            continue;
        }
        let guests = Guests::of(&subject.plan, &toolchain);
        compare(&subject, &guests);
        if !is_test {
            println!("\n{}", subject.name);
            sizes(&subject, &guests, &toolchain);
            calls(&subject, &guests);
            events(&subject, &guests);
            steps(&subject, &guests);
        }
    }
    ExitCode::SUCCESS
}

/// A plan with its events, and the same by hand.
struct Subject {
    name: &'static str,
    plan: Plan,
    events: Vec<Vec<u8>>,
    by_hand: [(&'static str, Extract); 2],
    /// Whether the same by hand gives the same JSON.
    is_exact: bool,
}

fn subjects() -> Vec<Subject> {
    let telemetry = Dataset::all().into_iter().next().map(|set| Subject {
        name: set.name,
        by_hand: [
            ("by hand, Value", set.by_hand.by_value),
            ("by hand, types", set.by_hand.by_type),
        ],
        plan: set.plan,
        events: set.events,
        is_exact: true,
    });
    let whole = ALL.into_iter().filter(|set| WHOLE.contains(&set.name)).filter_map(|set| {
        let Some(events) = set.events() else {
            println!("{}: skipped: its events aren't here", set.name);
            return None;
        };
        let plan = plan::parse(&set.plan().expect("the plan is there")).expect("the plan is valid");
        let by_hand = [("by hand, Value", set.by_value), ("by hand, types", set.by_type)];
        Some(Subject { name: set.name, plan, events, by_hand, is_exact: set.is_exact })
    });
    telemetry.into_iter().chain(whole).collect()
}

/// What a plan becomes: in WebAssembly text, and in Rust.
struct Guests {
    wat: Inspected,
    source: String,
    rust: Inspected,
}

impl Guests {
    fn of(plan: &Plan, toolchain: &Toolchain) -> Self {
        let source = render::render_rust(plan).expect("the plan renders");
        let rust = admitted(&compiled(&source, toolchain));
        Self { wat: inspected(plan), source, rust }
    }

    fn named(&self) -> [(&'static str, &Inspected); 2] {
        [("WAT", &self.wat), ("Rust", &self.rust)]
    }
}

/// What the compiler makes of a source.
fn compiled(source: &str, toolchain: &Toolchain) -> Vec<u8> {
    let vetted = vet_source(source, &SourceLimits::default())
        .unwrap_or_else(|refused| panic!("{refused}\n{source}"));
    toolchain.compile(&vetted).unwrap_or_else(|error| panic!("{error}\n{source}")).module
}

fn admitted(module: &[u8]) -> Inspected {
    inspect(module, &StructuralLimits::default()).expect("the module is admitted")
}

fn loaded(module: &Inspected, isolation: Isolation, allocator: Allocator) -> Extractor {
    let mut options = Options::default();
    options.isolation = isolation;
    options.allocator = allocator;
    options.foreign = ForeignModules::InProcess;
    let sandbox = Sandbox::with_options(options).expect("an engine");
    sandbox.load(module).expect("the module loads")
}

/// Both guests give the same bytes for all events, and what is written by hand the same.
fn compare(subject: &Subject, guests: &Guests) {
    let [mut wat, mut rust] = guests
        .named()
        .map(|(_, module)| loaded(module, Isolation::Warm, Allocator::OnDemand).runner());
    let mut out = Vec::new();
    for event in &subject.events {
        let expected = wat.run(event).expect("an event that the plan takes").json.to_vec();
        let found = rust.run(event).expect("an event that the plan takes").json;
        assert!(
            found == expected,
            "{}: {}\ngives {}\nand not {}",
            subject.name,
            String::from_utf8_lossy(event),
            String::from_utf8_lossy(found),
            String::from_utf8_lossy(&expected),
        );
        for (way, by_hand) in subject.by_hand {
            assert!(by_hand(event, &mut out), "{}, {way}", subject.name);
            assert!(is_same(subject.is_exact, &out, &expected), "{}, {way}", subject.name);
        }
    }
}

/// What doesn't depend on the machine, and what compiling takes.
fn sizes(subject: &Subject, guests: &Guests, toolchain: &Toolchain) {
    println!(
        "  {:8}{:>14}{:>16}{:>16}{:>14}{:>14}",
        "", "module, bytes", "fuel, median", "of it, host's", "compile, ms", "native, ms"
    );
    for (name, module) in guests.named() {
        let made =
            |compile: &dyn Fn()| median((0..COMPILED).map(|_| milliseconds(compile)).collect());
        let from_source = match name {
            "WAT" => made(&|| _ = black_box(inspected(&subject.plan))),
            _ => made(&|| _ = black_box(admitted(&compiled(&guests.source, toolchain)))),
        };
        let sandbox = loaded(module, Isolation::PerEvent, Allocator::OnDemand);
        let native = made(&|| _ = black_box(sandbox.sandbox().load(module).is_ok()));
        let mut runner = sandbox.runner();
        let fuel = subject.events.iter().map(|event| {
            let outcome = runner.run(event).expect("it ran before");
            (outcome.fuel as f64, outcome.conversion_fuel as f64)
        });
        let (fuel, conversion): (Vec<f64>, Vec<f64>) = fuel.unzip();
        println!(
            "  {name:8}{:>14}{:>16}{:>16}{from_source:>14.1}{native:>14.1}",
            module.wasm().len(),
            median(fuel),
            median(conversion),
        );
    }
}

fn milliseconds(work: &dyn Fn()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e3
}

fn print(title: &str, figures: &[Figures]) {
    println!("  {title:36}{:>10}{:>10}{:>10}{:>12}", "median", "fastest", "ratio", "more");
    for Figures { name, median, fastest, ratio, more } in figures {
        println!("    {name:34}{median:>10.0}{fastest:>10.0}{ratio:>10.2}{more:>12.0}");
    }
}

/// The blocks that the host writes for the events.
fn blocks(module: &Inspected, events: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let projector = Projector::of(module.section());
    let (mut projection, mut writer) = (Projection::default(), BlockWriter::default());
    let block = |event: &Vec<u8>| {
        projector.project(event, &mut projection).expect("the events are well");
        let block = writer.write(&projector, event, &projection, usize::MAX);
        block.expect("nothing is limited").to_vec()
    };
    events.iter().map(block).collect()
}

/// The call into the guest alone, one instance for all.
fn calls(subject: &Subject, guests: &Guests) {
    let ways = guests.named().into_iter().map(|(name, module)| -> Way<'_> {
        let blocks = blocks(module, &subject.events);
        let capacity = blocks.iter().map(Vec::len).max().unwrap_or_default();
        let metering = Metering { fuel: true, deadline: true };
        let mut bare = Bare::new(module, capacity, metering).expect("it imports nothing");
        let turn = move || {
            for block in blocks.iter().cycle().take(CALLS) {
                // That of a plan has one place for all blocks.
                if name == "Rust" {
                    bare.begin().expect("it ran before");
                }
                black_box(bare.call(black_box(block)).expect("it ran before"));
            }
        };
        (name.to_owned(), Box::new(turn))
    });
    print("the call alone, one instance, ns", &take(ways.collect(), ROUNDS, CALLS));
}

/// Where instances come from: the system, a pool, and a pool of a host that has no swap.
fn allocators() -> [(&'static str, Allocator); 3] {
    let unswapped = Pool { keep_resident: 64 << 10, without_swap: true, ..Pool::default() };
    [
        ("pool", Allocator::Pooling(Pool::default())),
        ("pool, no swap", Allocator::Pooling(unswapped)),
        ("on demand", Allocator::OnDemand),
    ]
}

/// What a runner has left of an instance for the next event.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Serving {
    Kept,
    Fresh,
}

/// An event to a checked result.
fn events(subject: &Subject, guests: &Guests) {
    let events: Vec<&Vec<u8>> = subject.events.iter().cycle().take(EVENTS).collect();
    let events = &events;
    let sandboxed = |name: String, extractor: Extractor, instance: Serving| -> Way<'_> {
        let mut runner = extractor.runner();
        let turn = move || {
            for event in events {
                if instance == Serving::Fresh {
                    runner.begin_batch();
                }
                black_box(runner.run(black_box(event)).is_ok());
            }
        };
        (name, Box::new(turn))
    };
    let pool = Allocator::Pooling(Pool::default());
    let warm = loaded(&guests.wat, Isolation::Warm, pool);
    let mut ways = vec![sandboxed("WAT, one instance".to_owned(), warm, Serving::Kept)];
    for (name, module) in guests.named() {
        let extractor = loaded(module, Isolation::PerEvent, pool);
        ways.push(sandboxed(format!("{name}, put back"), extractor, Serving::Kept));
    }
    for (allocator_name, allocator) in allocators() {
        for (name, module) in guests.named() {
            let extractor = loaded(module, Isolation::PerEvent, allocator);
            let name = format!("{name}, fresh, {allocator_name}");
            ways.push(sandboxed(name, extractor, Serving::Fresh));
        }
    }
    for (name, by_hand) in subject.by_hand {
        let mut out = Vec::new();
        let turn = move || {
            for event in events {
                black_box(by_hand(black_box(event), &mut out));
            }
        };
        ways.push((name.to_owned(), Box::new(turn)));
    }
    print("an event to a checked result, ns", &take(ways, ROUNDS, EVENTS));
}

/// Remembers how long the making of the instance and the call took.
#[derive(Default)]
struct Clock {
    last: Option<Instant>,
    instantiate: Vec<f64>,
    guest: Vec<f64>,
}

impl Observer for Clock {
    fn ended(&mut self, step: Step) {
        let now = Instant::now();
        let spent = self.last.map_or(0.0, |last| (now - last).as_nanos() as f64);
        match step {
            Step::Instantiate => self.instantiate.push(spent),
            Step::Guest => self.guest.push(spent),
            Step::Project | Step::CopyIn | Step::Check => {}
        }
        self.last = Some(now);
    }
}

/// Where the time of an instance as new goes: to make it or put it back, and to call it, which brings in the pages that it writes.
fn steps(subject: &Subject, guests: &Guests) {
    println!("  {:36}{:>12}{:>10}", "an instance as new, ns", "to make it", "the call");
    let print = |name: String, module: &Inspected, allocator: Allocator, instance: Serving| {
        let mut runner = loaded(module, Isolation::PerEvent, allocator).runner();
        let mut clock = Clock::default();
        for event in subject.events.iter().cycle().take(EVENTS * 10) {
            if instance == Serving::Fresh {
                runner.begin_batch();
            }
            black_box(runner.run_observed(event, &mut clock).is_ok());
        }
        let (make, call) = (median(clock.instantiate), median(clock.guest));
        println!("    {name:34}{make:>12.0}{call:>10.0}");
    };
    for (name, module) in guests.named() {
        let pool = Allocator::Pooling(Pool::default());
        print(format!("{name}, put back"), module, pool, Serving::Kept);
    }
    for (allocator_name, allocator) in allocators() {
        for (name, module) in guests.named() {
            let name = format!("{name}, fresh, {allocator_name}");
            print(name, module, allocator, Serving::Fresh);
        }
    }
}
