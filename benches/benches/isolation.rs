//! What limits and isolation cost, in one run: no limits, fuel, fuel and deadline; an instance kept, kept for a batch, put back after each
//! event, made anew for each; instances from the system and from a pool.

#![allow(clippy::print_stdout, reason = "the figures are what this prints")]

use std::hint::black_box;

use retort::Runner;
use retort::gate::Inspected;
use retort::internal::{
    bare::{Bare, Metering},
    block::BlockWriter,
    event::{Projection, Projector},
};
use retort::sandbox::{Allocator, ForeignModules, Isolation, Options, Pool, Sandbox};
use retort_benches::dataset::Dataset;
use retort_benches::guests;
use retort_benches::turns::{Figures, Way, take};

/// Events of one turn, and how many turns each way has.
const EVENTS: usize = 300;
const ROUNDS: usize = 61;
/// Events of a batch.
const BATCH: usize = 100;

fn main() {
    // `cargo test --benches` runs benches with `--test`: nothing is measured then.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    println!("The call into the guest alone, one instance, nanoseconds");
    for dataset in Dataset::all() {
        let event = &dataset.events[dataset.events.len() / 2];
        let module = dataset.inspected();
        call(dataset.name, &module, &block(&module, event));
    }
    let counting = guests::counting();
    call("a loop over 4 KiB", &counting, &[7; 4096]);

    println!("\nAn event to a checked result, nanoseconds");
    for dataset in Dataset::all() {
        isolation(&dataset);
    }

    println!("\nA fresh instance of a guest that nothing vouches for, nanoseconds an event");
    for mebibytes in [1, 16] {
        allocators(mebibytes);
    }
}

fn print(title: &str, figures: &[Figures]) {
    println!("  {title:36}{:>10}{:>10}{:>10}{:>12}", "median", "fastest", "ratio", "more");
    for Figures { name, median, fastest, ratio, more } in figures {
        println!("    {name:34}{median:>10.0}{fastest:>10.0}{ratio:>10.2}{more:>12.0}");
    }
}

/// The block that the host writes for an event.
fn block(module: &Inspected, event: &[u8]) -> Vec<u8> {
    let projector = Projector::of(module.section());
    let mut projection = Projection::default();
    projector.project(event, &mut projection).expect("the events are well");
    let mut writer = BlockWriter::default();
    let block = writer.write(&projector, event, &projection, usize::MAX);
    block.expect("nothing is limited").to_vec()
}

fn call(title: &str, module: &Inspected, block: &[u8]) {
    let names = ["no limits", "fuel", "fuel and deadline"];
    let settings = names.into_iter().zip(Metering::ALL);
    let ways = settings.map(|(name, metering)| -> Way<'_> {
        let mut bare = Bare::new(module, block.len(), metering).expect("it imports nothing");
        let turn = move || {
            (0..20 * EVENTS).for_each(|_| _ = black_box(bare.call(black_box(block)).is_ok()))
        };
        (name.to_owned(), Box::new(turn))
    });
    print(title, &take(ways.collect(), ROUNDS, 20 * EVENTS));
}

fn runner(module: &Inspected, isolation: Isolation, allocator: Allocator) -> Runner {
    let mut options = Options::default();
    options.isolation = isolation;
    options.allocator = allocator;
    options.foreign = ForeignModules::InProcess;
    let sandbox = Sandbox::with_options(options).expect("an engine");
    sandbox.load(module).expect("it loads").runner()
}

fn allocator_names() -> [(&'static str, Allocator); 2] {
    [("on demand", Allocator::OnDemand), ("pooling", Allocator::Pooling(Pool::default()))]
}

/// A pool of a host that has no swap.
fn without_swap() -> Allocator {
    Allocator::Pooling(Pool { keep_resident: 64 << 10, without_swap: true, ..Pool::default() })
}

fn isolation(dataset: &Dataset) {
    let module = dataset.inspected();
    let events: Vec<&Vec<u8>> = dataset.events.iter().cycle().take(EVENTS).collect();
    let mut ways: Vec<Way<'_>> = Vec::new();
    let mut add = |name: String, isolation, allocator, batch| {
        let mut runner = runner(&module, isolation, allocator);
        let events = &events;
        let turn = move || {
            for (index, event) in events.iter().enumerate() {
                if index % batch == 0 {
                    runner.begin_batch();
                }
                black_box(runner.run(black_box(event)).is_ok());
            }
        };
        ways.push((name, Box::new(turn)));
    };
    for isolation in Isolation::ALL.into_iter().rev() {
        for (name, allocator) in allocator_names() {
            add(format!("{}, {name}", isolation.as_str()), isolation, allocator, BATCH);
        }
    }
    // A batch of one event leaves no instance to be put back.
    for (name, allocator) in
        allocator_names().into_iter().chain([("pooling, no swap", without_swap())])
    {
        add(format!("fresh, {name}"), Isolation::PerEvent, allocator, 1);
    }
    print(dataset.name, &take(ways, ROUNDS, EVENTS));
}

fn allocators(mebibytes: u32) {
    let module = guests::copying(mebibytes);
    let event = br#"{"event_type":"e","text":"some text that is copied to the result"}"#;
    let mut allocators: Vec<(String, Allocator)> =
        allocator_names().map(|(name, allocator)| (name.to_owned(), allocator)).into();
    for (keep_resident, batch) in [(0, 1), (0, 16), (16, 1), (64, 16), (1024, 16)] {
        let pool = Pool { keep_resident: keep_resident << 10, batch, ..Pool::default() };
        let name = format!("pooling, keep {keep_resident} KiB, batch {batch}");
        allocators.push((name, Allocator::Pooling(pool)));
    }
    allocators.push(("pooling, keep 64 KiB, no swap".to_owned(), without_swap()));
    let ways = allocators.into_iter().map(|(name, allocator)| -> Way<'_> {
        let mut runner = runner(&module, Isolation::PerEvent, allocator);
        let turn = move || {
            for _ in 0..EVENTS {
                runner.begin_batch();
                black_box(runner.run(event).is_ok());
            }
        };
        (name, Box::new(turn))
    });
    print(&format!("{mebibytes} MiB of memory"), &take(ways.collect(), ROUNDS, EVENTS));
}
