//! `retort bench`: what bundles cost on real events.

mod baseline;
mod cold;
mod figures;
mod html;
mod input;
mod latency;
mod machine;
mod measure;
mod metering;
mod peers;
mod report;
mod steps;
mod subject;
mod table;
mod threads;
mod told;
mod turns;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use retort::Pipeline;
use retort::internal::codes;
use retort::sandbox::{Isolation, WASMTIME_VERSION};

use self::baseline::Wanted;
use self::cold::ColdStarts;
use self::input::Events;
use self::measure::{Extent, Measured, measure};
use self::report::{BENCH_VERSION, BenchReport, Build, BundleFigures, Settings};
use self::subject::{Subject, Warm};
use self::told::tell;
use super::args::{CacheArg, JsonArg, PolicyArg, isolation_modes};
use super::error::CliError;
use super::overwrite::Inputs;
use super::{CommandResult, CommandVerdict, output};

/// Measure bundles on real events
///
/// Each bundle is given the events of the types that it declares, whole, with every limit on; lines that are no event, or that a bundle
/// rejects, are counted and told, and aren't measured. All that is measured takes turns, and what counts is the median of the turns:
/// throughput, latency and the share of each step, each by itself, so that reading the clock disturbs none of the others.
/// Exits with 1 if nothing could be measured of a bundle, or something is slower than in the baseline.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct BenchArgs {
    /// Directories of bundles; several are measured side by side
    #[arg(value_name = "BUNDLE", required = true)]
    bundles: Vec<PathBuf>,
    /// Events, one JSON object a line; - is stdin
    #[arg(value_name = "EVENTS", required = true)]
    events: PathBuf,
    /// How many events each way runs at least, on each thread, or for ten seconds
    #[arg(long = "events", id = "runs", value_name = "N", default_value_t = 100_000,
        value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// On how many threads, each with a runner of its own and the same events
    #[arg(long, value_name = "N,..", value_delimiter = ',', default_value = "1",
        value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Vec<u16>,
    /// For how long an instance may serve [default: what the policy says, else warm]
    #[arg(long, value_name = "MODE,..", value_delimiter = ',', value_parser = isolation_modes())]
    isolation: Vec<Isolation>,
    /// Events of a batch, for `--isolation per-batch`
    #[arg(long, value_name = "N", default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(1..))]
    batch: u32,
    /// Measure loading and the first event as well, with and without native code that was kept
    #[arg(long)]
    cold_start: bool,
    /// Measure as well what the limits cost: the guest alone, without metering, with fuel, with fuel and deadline
    #[arg(long)]
    without_limits: bool,
    /// Compare with an earlier run, which --json has printed
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// How much slower than the baseline something may be
    #[arg(long, value_name = "PERCENT", default_value = "10", requires = "baseline",
        value_parser = percent)]
    tolerance: f64,
    /// Write a page with plots: one file that needs no other
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
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
  retort bench bundles/* events.ndjson --threads 1,2,4 --isolation warm,per-event --html bench.html
  retort bench bundles/0f3a.. events.ndjson --json > before.json
  retort bench bundles/0f3a.. events.ndjson --baseline before.json --tolerance 5";

/// A percentage, with its sign or without.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(percent) if (0.0..=1000.0).contains(&percent) => Ok(percent),
        _ => Err("expected a percentage from 0 to 1000".to_owned()),
    }
}

pub(super) fn main(args: &BenchArgs) -> CommandResult {
    // What can be refused is, before minutes are spent.
    args.guard()?;
    let baseline = args.baseline.as_deref().map(baseline::read).transpose()?;
    let pipeline = args.cache.pipeline(&args.policy)?;
    let isolations = distinct(&args.isolation, pipeline.sandbox().isolation());
    let load = |path: &PathBuf| Subject::load(path.clone(), &pipeline, &isolations);
    let subjects = args.bundles.iter().map(load).collect::<Result<Vec<_>, _>>()?;
    args.cache.report(&pipeline);
    let declared: Vec<&[String]> = subjects.iter().map(Subject::event_types).collect();
    let limit = pipeline.sandbox().limits().event_bytes;
    let events = Events::read(&args.events, limit, &declared, args.runs)?;
    let warmed: Vec<Warm<'_>> = subjects
        .iter()
        .zip(&events.of_bundles)
        .map(|(subject, of)| subject.warm_up(&events, of))
        .collect();
    let is_complete = tell(&subjects, &warmed, &events);
    let measurable: Vec<(&Subject, &Warm<'_>)> =
        subjects.iter().zip(&warmed).filter(|(_, warm)| !warm.events.is_empty()).collect();
    if measurable.is_empty() {
        return Ok(CommandVerdict::Fail);
    }
    if let (Some(baseline), Some(path)) = (&baseline, &args.baseline) {
        let named = |(subject, _): &(&'_ Subject, &'_ Warm<'_>)| {
            (subject.bundle.fingerprint().to_string(), subject.name().to_owned())
        };
        let wanted = Wanted {
            bundles: measurable.iter().map(named).collect(),
            isolations: &isolations,
            threads: &args.threads(),
            has_cold_starts: args.cold_start,
        };
        baseline::require_related(super::files::name(path), baseline, &wanted)?;
    }
    let html = args.html.as_deref().map(open).transpose()?;
    let mut report = args.report(&pipeline, &measurable, &events)?;
    if let (Some(baseline), Some(path)) = (&baseline, &args.baseline) {
        let tolerated = 1.0 + args.tolerance / 100.0;
        let origin = super::files::name(path);
        let comparison = baseline::compare(origin, baseline, &report, tolerated)?;
        comparison.notes.iter().for_each(output::note);
        report.comparison = Some(comparison);
    }
    if let (Some(mut file), Some(path)) = (html, &args.html) {
        let page = html::page(&report, baseline.as_ref());
        let written = empty(&file).and_then(|()| file.write_all(page.as_bytes()));
        written.map_err(|source| CliError::FileNotWritable { path: path.clone(), source })?;
    }
    output::print_as(args.output.json, &report, || table::of(&report))?;
    let has_failed = report.bundles.iter().flat_map(|bundle| &bundle.runs).any(|it| it.failed > 0);
    let is_slower = report.comparison.as_ref().is_some_and(|comparison| comparison.slower > 0);
    Ok(CommandVerdict::from_ok(is_complete && !has_failed && !is_slower))
}

/// The values without those that were given before, or what counts where none was given.
fn distinct<T: Copy + Ord>(given: &[T], default: T) -> Vec<T> {
    let mut seen = BTreeSet::new();
    let kept: Vec<T> = given.iter().copied().filter(|it| seen.insert(*it)).collect();
    if kept.is_empty() { vec![default] } else { kept }
}

impl BenchArgs {
    /// Refuses to write over what is read.
    fn guard(&self) -> Result<(), CliError> {
        let files = [Some(&self.events), self.policy.policy.as_ref(), self.baseline.as_ref()];
        let mut inputs = Inputs::default().files(files.into_iter().flatten().map(PathBuf::as_path));
        for bundle in &self.bundles {
            inputs = inputs.artifact(bundle);
        }
        self.html.iter().try_for_each(|path| inputs.guard(path, "--html"))?;
        inputs.guard_stdout()
    }

    /// On how many threads, each number once.
    fn threads(&self) -> Vec<usize> {
        distinct(&self.threads, 1).into_iter().map(usize::from).collect()
    }

    /// Measures everything.
    fn report(
        &self,
        pipeline: &Pipeline,
        subjects: &[(&Subject, &Warm<'_>)],
        events: &Events,
    ) -> Result<BenchReport, CliError> {
        let batch = usize::try_from(self.batch).unwrap_or(usize::MAX);
        let extent = Extent { events: self.runs, threads: &self.threads(), batch };
        let measured = measure(subjects, &extent).map_err(CliError::Threads)?;
        let mut bundles: Vec<BundleFigures> = subjects
            .iter()
            .zip(measured)
            .map(|((subject, warm), Measured { runs, peers })| BundleFigures {
                name: subject.name().to_owned(),
                fingerprint: subject.bundle.fingerprint().to_string(),
                event_types: subject.event_types().to_vec(),
                reset_safe: subject.is_reset_safe(),
                events: warm.figures(),
                fuel: warm.fuel(),
                runs,
                peers,
                cold_starts: Vec::new(),
                metering: Vec::new(),
            })
            .collect();
        for figures in &bundles {
            let failed: u64 = figures.runs.iter().map(|run| run.failed).sum();
            if failed > 0 {
                output::coded(
                    codes::BENCH_EVENT_FAILED.name,
                    format_args!(
                        "`{}`: expected the events to give results again, found {failed} that failed",
                        figures.name
                    ),
                );
            }
        }
        if self.cold_start {
            let first = |(subject, warm): &(&'_ Subject, &'_ Warm<'_>)| {
                // None without events is measured.
                let event = warm.events.first().copied().unwrap_or_default();
                (subject.path.clone(), event.to_vec())
            };
            let firsts: Vec<(PathBuf, Vec<u8>)> = subjects.iter().map(first).collect();
            let firsts: Vec<(&Path, &[u8])> =
                firsts.iter().map(|(path, event)| (path.as_path(), event.as_slice())).collect();
            let starts = ColdStarts::new(&self.cache, &self.policy)?.measure(&firsts)?;
            for (bundle, starts) in bundles.iter_mut().zip(starts) {
                bundle.cold_starts = starts;
            }
        }
        if self.without_limits {
            for (bundle, (subject, warm)) in bundles.iter_mut().zip(subjects) {
                bundle.metering = metering::measure(&subject.bundle, pipeline, &warm.events)?;
                if bundle.metering.is_empty() {
                    output::note(format_args!("`{}`: {}", bundle.name, metering::NOT_RENDERED));
                }
            }
        }
        Ok(BenchReport {
            bench_version: BENCH_VERSION,
            measured_at: now(),
            retort: env!("CARGO_PKG_VERSION").to_owned(),
            wasmtime: WASMTIME_VERSION.to_owned(),
            build: Build::THIS,
            machine: machine::this(),
            settings: Settings {
                events: self.runs,
                batch,
                allocator: pipeline.sandbox().allocator().to_string(),
                clock_ns: measure::clock_ns(),
            },
            input: events.figures(),
            bundles,
            comparison: None,
        })
    }
}

/// The time of the clock, in UTC, to the second.
fn now() -> String {
    let now = Timestamp::now();
    Timestamp::from_second(now.as_second()).unwrap_or(now).to_string()
}

/// Empties a file; a pipe or a device has nothing to empty.
fn empty(file: &File) -> io::Result<()> {
    if file.metadata()?.is_file() { file.set_len(0) } else { Ok(()) }
}

/// Opens a file to write; what it holds is still there.
fn open(path: &Path) -> Result<File, CliError> {
    let file = File::options().write(true).create(true).truncate(false).open(path);
    file.map_err(|source| CliError::FileNotWritable { path: path.to_owned(), source })
}
