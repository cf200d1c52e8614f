//! What bundles take until they serve: time at the start and at the first event, with and without the cache, and memory.
//!
//! Each way is a process of its own, since what one has read and mapped the next one would find. `-- BUNDLES ..` says how many bundles
//! there are, each with a module of its own; 1,000 and 10,000 if nothing is said.

#![allow(clippy::print_stdout, reason = "the figures are what this prints")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use retort::runtime::{Dispatched, Dispatcher};
use retort::sandbox::{Cache, Options};
use retort::{Bundle, Pipeline, Registry};
use retort_benches::bundles;
use retort_benches::resident::resident;
use serde::{Deserialize, Serialize};

/// How often each way is tried; the fastest counts, for the machine is shared.
const TURNS: usize = 3;

/// More bundles are compiled but once, for the cache.
const MOST_COMPILED: usize = 1_000;

/// Room for the native code of all bundles.
const CACHE_BYTES: u64 = 4 << 30;

/// What is measured.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Way {
    /// All bundles at the start, on all cores.
    Eager,
    /// One after the other, on one.
    OneByOne,
    /// Their manifests at the start; then an event of each.
    Lazy,
}

/// What a process is told to do.
#[derive(Debug, Serialize, Deserialize)]
struct Task {
    way: Way,
    bundles: PathBuf,
    cache: Option<PathBuf>,
}

/// What it found.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Found {
    /// Seconds until the registry is open.
    start: f64,
    /// Seconds that the first events of all bundles took together, and the second ones.
    first: f64,
    second: f64,
    /// Resident bytes more than before, once it is open, and once each bundle has served.
    open_bytes: u64,
    served_bytes: u64,
    hits: u64,
}

fn main() {
    // `cargo test --benches` runs benches with `--test`: nothing is measured then.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    if arguments.iter().any(|argument| argument == "--test") {
        return;
    }
    if let [first, task] = arguments.as_slice()
        && first == "task"
    {
        let found = run(&serde_json::from_str(task).expect("a task"));
        println!("{}", serde_json::to_string(&found).expect("figures"));
        return;
    }
    let counts: Vec<usize> = arguments.iter().filter_map(|it| it.parse().ok()).collect();
    for count in if counts.is_empty() { vec![1_000, 10_000] } else { counts } {
        table(count);
    }
}

fn table(count: usize) {
    let root = tempfile::tempdir().expect("a directory");
    let (bundles, cache) = (root.path().join("bundles"), root.path().join("cache"));
    bundles::make(&bundles, 0..count);
    println!("{count} bundles");
    println!(
        "  {:32}{:>11}{:>12}{:>13}{:>14}{:>15}{:>16}",
        "",
        "start, s",
        "ms each",
        "first event",
        "second event",
        "KiB each open",
        "KiB each served"
    );
    let task = |way, cache| Task { way, bundles: bundles.clone(), cache };
    // The first fills the cache.
    show("eager, cache filled", count, spawned(&task(Way::Eager, Some(cache.clone()))));
    for (name, way, cache) in [
        ("eager, no cache", Way::Eager, None),
        ("eager, cache", Way::Eager, Some(&cache)),
        ("one by one, cache", Way::OneByOne, Some(&cache)),
        ("lazy, cache", Way::Lazy, Some(&cache)),
    ] {
        // What is compiled anew takes long: the first line has it, and this one tells what writing the cache adds.
        let turns = match cache {
            Some(_) => TURNS,
            None if count <= MOST_COMPILED => 1,
            None => continue,
        };
        let found = (0..turns).map(|_| spawned(&task(way, cache.cloned())));
        let fastest = found.min_by(|one, other| one.start.total_cmp(&other.start));
        show(name, count, fastest.unwrap_or_default());
    }
}

fn show(name: &str, count: usize, found: Found) {
    let each = |seconds: f64| 1e3 * seconds / count as f64;
    let kib = |bytes: u64| bytes as f64 / 1024.0 / count as f64;
    println!(
        "  {name:32}{:>11.3}{:>12.4}{:>13.4}{:>14.4}{:>15.1}{:>16.1}   {} from the cache",
        found.start,
        each(found.start),
        each(found.first),
        each(found.second),
        kib(found.open_bytes),
        kib(found.served_bytes),
        found.hits,
    );
}

fn spawned(task: &Task) -> Found {
    let program = std::env::current_exe().expect("this program");
    let task = serde_json::to_string(task).expect("a task");
    let output = Command::new(program).args(["task", &task]).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("figures")
}

fn run(task: &Task) -> Found {
    let mut options = Options::default();
    options.cache = task.cache.as_deref().map(cache);
    let gates = Pipeline::builder().options(options).build().expect("an engine");
    let before = resident();
    let mut found = Found::default();
    let start = Instant::now();
    let registry = match task.way {
        Way::Eager => Registry::open(&task.bundles, &gates),
        Way::Lazy => Registry::open_lazily(&task.bundles, &gates),
        Way::OneByOne => {
            let entries = std::fs::read_dir(&task.bundles).expect("a directory");
            let paths = entries.map(|entry| entry.expect("an entry").path());
            let bundles: Vec<Bundle> = paths
                .filter(|path| path.is_dir())
                .map(|path| Bundle::open(path, &gates).expect("it loads"))
                .collect();
            found.start = start.elapsed().as_secs_f64();
            found.open_bytes = resident().saturating_sub(before);
            found.hits = gates.sandbox().cache_report().hits;
            drop(bundles);
            return found;
        }
    };
    found.start = start.elapsed().as_secs_f64();
    found.open_bytes = resident().saturating_sub(before);
    assert!(registry.failures().is_empty(), "{:?}", registry.failures().first());
    let events = bundles::events(0..registry.bundles());
    let mut dispatcher = Dispatcher::new(&registry);
    let mut pass = || {
        let start = Instant::now();
        for event in &events {
            let dispatched = dispatcher.dispatch(event.as_bytes());
            assert!(matches!(dispatched, Ok(Dispatched::Served(_))), "{event}: {dispatched:?}");
        }
        start.elapsed().as_secs_f64()
    };
    found.first = pass();
    found.second = pass();
    found.served_bytes = resident().saturating_sub(before);
    found.hits = gates.sandbox().cache_report().hits;
    found
}

fn cache(directory: &Path) -> Cache {
    let mut cache = Cache::new(directory);
    cache.max_bytes = CACHE_BYTES;
    cache
}
