//! `retort bench`: what a bundle costs on real events.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use retort::bundle::{self, Expect};
use retort::internal::oracle;
use retort::plan::Plan;
use retort::sandbox::{Observer, Step};
use retort::{Coded, RunError, Runner};
use serde::Serialize;

use super::args::{CacheArg, JsonArg, PolicyArg};
use super::error::CliError;
use super::{CommandResult, CommandVerdict, events, files, output};

/// Measure a bundle on real events, on one core
///
/// Every event is validated whole, with fuel and deadline on. Throughput, latency and the share of each step are measured
/// in passes of their own, so that reading the clock disturbs none of the others.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct BenchArgs {
    /// The bundle's directory
    #[arg(value_name = "BUNDLE")]
    bundle: PathBuf,
    /// Events, one JSON object a line; - is stdin
    #[arg(value_name = "EVENTS")]
    events: PathBuf,
    /// How many events to run in each pass, at least
    #[arg(long = "events", id = "runs", value_name = "N", default_value_t = 100_000,
        value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    #[command(flatten)]
    policy: PolicyArg,
    #[command(flatten)]
    cache: CacheArg,
    #[command(flatten)]
    output: JsonArg,
}

const EXAMPLES: &str = "\
Examples:
  retort bench bundles/0f3a.. events.ndjson
  retort bench bundles/0f3a.. events.ndjson --events 1000000 --json";

/// How long each pass may take.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// How long the oracle's pass may take.
const ORACLE_TIME_LIMIT: Duration = Duration::from_secs(2);
/// How many events the oracle gets for each that the bundle gets.
const ORACLE_SHARE: u64 = 20;
/// How many events run between two looks at the clock.
const BATCH: u64 = 256;
/// Bytes of events that are held in memory.
const MAX_BYTES: usize = 256 << 20;

/// The figures.
#[derive(Debug, Serialize)]
struct BenchFigures {
    /// Events of the throughput pass.
    events: u64,
    /// Bytes of them.
    bytes: u64,
    events_per_s: f64,
    /// Millions of bytes a second.
    mb_per_s: f64,
    latency_ns: Latency,
    fuel: Fuel,
    share: Share,
    #[serde(skip_serializing_if = "Option::is_none")]
    oracle: Option<Oracle>,
}

#[derive(Debug, Serialize)]
struct Latency {
    p50: u64,
    p99: u64,
    p999: u64,
}

#[derive(Debug, Serialize)]
struct Fuel {
    per_event: f64,
    per_byte: f64,
}

/// Parts of the time of a run, together 1.
#[derive(Debug, Default, Serialize)]
struct Share {
    project: f64,
    copy_in: f64,
    guest: f64,
    check: f64,
}

#[derive(Debug, Serialize)]
struct Oracle {
    events_per_s: f64,
}

pub(super) fn main(args: &BenchArgs) -> CommandResult {
    let pipeline = args.cache.pipeline(&args.policy)?;
    let loaded = bundle::load(&args.bundle, &Expect::default(), &pipeline);
    let loaded = loaded.map_err(CliError::refused)?;
    args.cache.report(&pipeline);
    let mut runner = loaded.module().extractor().runner();
    let events = match read_events(args, pipeline.sandbox().limits().event_bytes)? {
        Ok(events) => warm_up(&mut runner, &events).map(|()| events),
        Err(error) => Err(error),
    };
    let events = match events {
        Ok(events) => events,
        Err((line, error)) => {
            let origin = files::name(&args.events);
            output::coded(error.code(), format_args!("{origin} line {line}: {error}"));
            return Ok(CommandVerdict::Fail);
        }
    };
    let figures = measure(&mut runner, loaded.module().plan(), &events, args.runs);
    output::print_as(args.output.json, &figures, || describe(&figures))?;
    Ok(CommandVerdict::Pass)
}

/// An event with its line.
type BenchEvent = (u64, Vec<u8>);

/// Why an event can't be measured, with its line.
type BenchFault = (u64, RunError);

/// The events; or the first that is too large.
fn read_events(
    args: &BenchArgs,
    limit: usize,
) -> Result<Result<Vec<BenchEvent>, BenchFault>, CliError> {
    let mut events: Vec<BenchEvent> = Vec::new();
    let mut bytes = 0;
    let mut refused = None;
    events::for_each(&args.events, limit, |line, event| match event {
        Ok(event) => {
            bytes += event.len();
            events.push((line, event.to_vec()));
            Ok(bytes < MAX_BYTES && (events.len() as u64) < args.runs)
        }
        Err(error) => {
            refused = Some((line, error.into()));
            Ok(false)
        }
    })?;
    match refused {
        Some(refused) => Ok(Err(refused)),
        None if events.is_empty() => Err(CliError::NoEvents { origin: files::name(&args.events) }),
        None => Ok(Ok(events)),
    }
}

/// Runs every event once; the first that fails.
fn warm_up(runner: &mut Runner, events: &[BenchEvent]) -> Result<(), BenchFault> {
    let mut nonempty = false;
    for (line, event) in events {
        let outcome = runner.run(event).map_err(|error| (*line, error))?;
        nonempty |= !outcome.shape.is_empty();
    }
    if !nonempty {
        output::note("the extractor declined every event: the figures are those of declining");
    }
    Ok(())
}

fn measure(
    runner: &mut Runner,
    plan: Option<&Plan>,
    events: &[BenchEvent],
    runs: u64,
) -> BenchFigures {
    let (mut bytes, mut fuel) = (0_u64, 0_u64);
    let (count, elapsed) = pass(events, runs, TIME_LIMIT, |event| {
        bytes += event.len() as u64;
        // The warm-up has shown that every event gives a result.
        fuel += runner.run(event).map_or(0, |outcome| outcome.fuel);
    });
    let seconds = elapsed.as_secs_f64();
    BenchFigures {
        events: count,
        bytes,
        events_per_s: count as f64 / seconds,
        mb_per_s: bytes as f64 / 1e6 / seconds,
        latency_ns: latency(runner, events, runs),
        fuel: Fuel { per_event: fuel as f64 / count as f64, per_byte: fuel as f64 / bytes as f64 },
        share: share(runner, events, runs),
        oracle: plan.map(|plan| oracle(plan, events, runs)),
    }
}

/// Goes over the events again and again, for `runs` events or until the time is up; how many there were and how long
/// it took.
fn pass(
    events: &[BenchEvent],
    runs: u64,
    limit: Duration,
    mut run: impl FnMut(&[u8]),
) -> (u64, Duration) {
    let start = Instant::now();
    let mut count = 0;
    for (_, event) in events.iter().cycle() {
        run(event);
        count += 1;
        if count >= runs || (count.is_multiple_of(BATCH) && start.elapsed() >= limit) {
            break;
        }
    }
    (count, start.elapsed().max(Duration::from_nanos(1)))
}

fn latency(runner: &mut Runner, events: &[BenchEvent], runs: u64) -> Latency {
    // Three digits, whatever the range: it grows as needed.
    let mut histogram: Option<Histogram<u64>> = Histogram::new(3).ok();
    pass(events, runs, TIME_LIMIT, |event| {
        let start = Instant::now();
        let _ = std::hint::black_box(runner.run(event));
        let elapsed = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        if let Some(histogram) = &mut histogram {
            // Nothing is out of range for a histogram that grows.
            let _ = histogram.record(elapsed);
        }
    });
    let at = |quantile| histogram.as_ref().map_or(0, |found| found.value_at_quantile(quantile));
    Latency { p50: at(0.5), p99: at(0.99), p999: at(0.999) }
}

/// Adds up the seconds of each step.
struct Steps {
    last: Instant,
    share: Share,
}

impl Observer for Steps {
    fn ended(&mut self, step: Step) {
        let now = Instant::now();
        *self.share.of(step) += (now - self.last).as_secs_f64();
        self.last = now;
    }
}

impl Share {
    fn of(&mut self, step: Step) -> &mut f64 {
        match step {
            Step::Project => &mut self.project,
            Step::CopyIn => &mut self.copy_in,
            Step::Instantiate | Step::Guest => &mut self.guest,
            Step::Check => &mut self.check,
        }
    }
}

fn share(runner: &mut Runner, events: &[BenchEvent], runs: u64) -> Share {
    let mut steps = Steps { last: Instant::now(), share: Share::default() };
    pass(events, runs, TIME_LIMIT, |event| {
        steps.last = Instant::now();
        let _ = std::hint::black_box(runner.run_observed(event, &mut steps));
    });
    let Share { project, copy_in, guest, check } = steps.share;
    let all = project + copy_in + guest + check;
    if all == 0.0 {
        return Share::default();
    }
    Share { project: project / all, copy_in: copy_in / all, guest: guest / all, check: check / all }
}

fn oracle(plan: &Plan, events: &[BenchEvent], runs: u64) -> Oracle {
    let runs = runs.div_ceil(ORACLE_SHARE);
    let (count, elapsed) = pass(events, runs, ORACLE_TIME_LIMIT, |event| {
        if let Ok(event) = std::str::from_utf8(event) {
            let _ = std::hint::black_box(oracle::eval(plan, event));
        }
    });
    Oracle { events_per_s: count as f64 / elapsed.as_secs_f64() }
}

/// The table for a person.
fn describe(figures: &BenchFigures) -> String {
    let BenchFigures { events, bytes, events_per_s, mb_per_s, latency_ns, fuel, share, oracle } =
        figures;
    let mut rows = vec![
        ("events", format!("{events}")),
        ("bytes", format!("{bytes}")),
        ("throughput", format!("{events_per_s:.0} events/s")),
        ("", format!("{mb_per_s:.1} MB/s")),
        ("latency p50", format!("{} ns", latency_ns.p50)),
        ("latency p99", format!("{} ns", latency_ns.p99)),
        ("latency p99.9", format!("{} ns", latency_ns.p999)),
        ("fuel", format!("{:.1} per event", fuel.per_event)),
        ("", format!("{:.3} per byte", fuel.per_byte)),
    ];
    let parts = [
        ("project", share.project),
        ("copy in", share.copy_in),
        ("guest", share.guest),
        ("check", share.check),
    ];
    rows.extend(parts.map(|(name, part)| (name, format!("{:.1} %", 100.0 * part))));
    if let Some(oracle) = oracle {
        rows.push(("oracle", format!("{:.0} events/s", oracle.events_per_s)));
        let times = events_per_s / oracle.events_per_s;
        rows.push(("", format!("the bundle is {times:.1} times as fast")));
    }
    rows.into_iter().map(|(name, figure)| format!("{name:<14} {figure}\n")).collect()
}
