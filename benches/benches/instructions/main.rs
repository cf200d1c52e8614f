//! Instructions, counted: how many each stage of an event takes, and getting an extractor ready. A machine that others use too
//! changes times and no counts, so a change of some percent shows.
//!
//! ```sh
//! cargo bench -p retort-benches --bench instructions
//! cargo bench -p retort-benches --bench instructions -- telemetry --json > before.json
//! cargo bench -p retort-benches --bench instructions -- telemetry --baseline before.json
//! ```
//!
//! This program runs itself under valgrind, once for each stage of each set of events. After one pass over the events that warms up
//! there is another one, and that alone is counted, on its own thread: neither what gets ready before it nor the engine's clock that ticks
//! beside it. (To subtract a run without that pass was tried: getting ready differs by more from run to run than a pass takes.) Counts
//! are of the code that runs on the processor which valgrind shows a program, and that has no AVX-512.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the figures are what this prints")]

mod report;
mod sets;
mod stages;
mod valgrind;

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use report::{Count, Report};
use sets::Set;
use stages::Stage;

/// How many percent more than in the baseline a stage may take.
const TOLERANCE: f64 = 2.0;

/// What the command line asks for.
#[derive(Default)]
struct Asked {
    /// Parts of the names of sets; all of them where there are none.
    filters: Vec<String>,
    json: bool,
    baseline: Option<String>,
    tolerance: Option<f64>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` runs benches with `--test`: nothing is measured then.
    if arguments.iter().any(|argument| argument == "--test") {
        return ExitCode::SUCCESS;
    }
    if let [mode, set, stage] = arguments.as_slice()
        && mode == valgrind::INSIDE
    {
        return inside(set, stage);
    }
    let done = asked(&arguments).and_then(|asked| outside(&asked));
    done.unwrap_or_else(|message| {
        eprintln!("{message}");
        ExitCode::from(2)
    })
}

fn asked(arguments: &[String]) -> Result<Asked, String> {
    let mut asked = Asked::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().cloned().ok_or(format!("{argument}: expected a value"));
        match argument.as_str() {
            // Cargo says so to every bench.
            "--bench" => {}
            "--json" => asked.json = true,
            "--baseline" => asked.baseline = Some(value()?),
            "--tolerance" => {
                let text = value()?;
                let percent = text.parse::<f64>().ok().filter(|it| *it >= 0.0);
                let refused = || format!("--tolerance: expected a percentage, found `{text}`");
                asked.tolerance = Some(percent.ok_or_else(refused)?);
            }
            option if option.starts_with('-') => {
                return Err(format!(
                    "expected the name of a set, --json, --baseline FILE or --tolerance PERCENT, found `{option}`"
                ));
            }
            name => asked.filters.push(name.to_owned()),
        }
    }
    Ok(asked)
}

/// What runs under valgrind.
fn inside(set: &str, stage: &str) -> ExitCode {
    let set = Set::all().into_iter().find(|found| found.name == set);
    let stage = Stage::ALL.into_iter().find(|found| found.name() == stage);
    match (set, stage) {
        (Some(set), Some(stage)) => {
            stage.run(&set);
            ExitCode::SUCCESS
        }
        _ => ExitCode::from(2),
    }
}

/// Counts everything, and prints it.
fn outside(asked: &Asked) -> Result<ExitCode, String> {
    let baseline = asked.baseline.as_deref().map(Report::read).transpose()?;
    let Some(version) = valgrind::version() else {
        eprintln!("no valgrind is found on this machine: no instructions are counted");
        return Ok(ExitCode::SUCCESS);
    };
    let is_asked = |set: &Set| {
        asked.filters.is_empty() || asked.filters.iter().any(|part| set.name.contains(part))
    };
    let sets: Vec<Set> = Set::all().into_iter().filter(is_asked).collect();
    let jobs: Vec<(&Set, Stage)> =
        sets.iter().flat_map(|set| Stage::ALL.into_iter().map(move |stage| (set, stage))).collect();
    if jobs.is_empty() {
        let names: Vec<String> = Set::all().into_iter().map(|set| set.name).collect();
        return Err(format!("expected a part of the name of a set: {}", names.join(", ")));
    }
    let report = Report::new(version, &sets, counted(&jobs)?);
    let slower = baseline.map(|was| report.compare(was, asked.tolerance.unwrap_or(TOLERANCE)));
    if asked.json {
        println!("{}", report.to_json());
    } else {
        print!("{}", report.table());
    }
    match slower {
        None => Ok(ExitCode::SUCCESS),
        Some(changes) => {
            eprint!("{}", changes.text);
            Ok(if changes.more == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) })
        }
    }
}

/// All counts, in the order of the jobs; as many at a time as there are processors, which changes none of them.
fn counted(jobs: &[(&Set, Stage)]) -> Result<Vec<Count>, String> {
    let next = AtomicUsize::new(0);
    let counts: Mutex<Vec<(usize, Result<Count, String>)>> = Mutex::default();
    let work = || {
        while let Some((set, stage)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let place = next.load(Ordering::Relaxed);
            let count = valgrind::count(&set.name, stage.name());
            let count = count.map(|instructions| Count {
                set: set.name.clone(),
                stage: stage.name().to_owned(),
                instructions,
            });
            if let Ok(mut counts) = counts.lock() {
                counts.push((place, count));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let mut counts: Vec<Count> = counts
        .into_inner()
        .map_err(|_| "a thread has panicked".to_owned())?
        .into_iter()
        .map(|(_, count)| count)
        .collect::<Result<_, _>>()?;
    let place = |count: &Count| {
        jobs.iter().position(|(set, stage)| set.name == count.set && stage.name() == count.stage)
    };
    counts.sort_by_key(place);
    Ok(counts)
}
