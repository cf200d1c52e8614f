//! `retort run`: bundles over streams of events.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use retort::runtime::{Stream, Summary};
use retort::{Coded, Pipeline, Registry};

use super::args::{CacheArg, EndpointsArg, PolicyArg};
use super::error::CliError;
use super::overwrite::{Inputs, guard_two};
use super::{CommandResult, CommandVerdict, files, output};

/// Run bundles over events, one JSON object a line
///
/// Each event goes to the bundle that serves its event_type. For an event that gave something, one line goes to stdout:
/// {"line", "event_type", "bundle", "result"}. A failed event goes to the rejects, {"line", "code", "message"}, and the
/// stream goes on. With several inputs, both carry "file". A summary goes to stderr. Exits with 1 if any event failed, or
/// a bundle could not be served.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RunArgs {
    /// Directory of bundles
    #[arg(long, value_name = "DIR")]
    bundles: PathBuf,
    /// Files of events; - is stdin
    #[arg(value_name = "EVENTS", default_value = "-")]
    events: Vec<PathBuf>,
    /// Where failed events go [default: stderr]
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,
    /// Where results go [default: stdout]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    policy: PolicyArg,
    #[command(flatten)]
    cache: CacheArg,
    /// Hold every result to the graph spec of its bundle
    #[arg(long)]
    check_graph: bool,
    /// With --check-graph: let edges lead to nodes of other events
    #[arg(long, requires = "check_graph")]
    allow_external_endpoints: bool,
    /// Serve on N threads, which changes nothing in what is written [default: as many as run at one time here]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Write results and rejects as soon as they are there, and not in the order of the events
    #[arg(long)]
    unordered: bool,
}

const EXAMPLES: &str = "\
Examples:
  retort run --bundles bundles events.ndjson > results.ndjson
  tail -f events.ndjson | retort run --bundles bundles --rejects rejects.ndjson
  retort run --bundles bundles monday.ndjson tuesday.ndjson --out results.ndjson";

pub(super) fn main(args: &RunArgs) -> CommandResult {
    let pipeline = args.cache.pipeline(&args.policy)?;
    let registry = open_registry(&args.bundles, &pipeline)?;
    args.cache.report(&pipeline);
    let specs = if args.check_graph {
        Some(registry.graph_specs().map_err(CliError::refused)?)
    } else {
        None
    };
    if args.events.iter().filter(|path| files::is_stdin(path)).count() > 1 {
        return Err(CliError::StdinTwice { expected: "a file of events" });
    }
    // Nothing is created or overwritten before all that is read has been found.
    args.events.iter().try_for_each(|path| files::probe(path, "a file of events"))?;
    args.guard()?;
    // Both are opened before either is emptied, so that a wrong path costs no earlier results.
    let is_new = args.out.as_deref().filter(|path| !path.exists());
    let out = open(args.out.as_deref())?;
    let rejects = open(args.rejects.as_deref()).inspect_err(|_| {
        // The error is what counts: an empty file that can't be removed again does no harm.
        is_new.map(fs::remove_file);
    })?;
    let out = writer(out, || Box::new(io::stdout()))?;
    let rejects = writer(rejects, || Box::new(io::stderr()))?;
    let threads = args.threads.or_else(|| available_parallelism().ok());
    let mut stream =
        Stream::new(&registry, out, rejects).with_threads(threads.unwrap_or(NonZeroUsize::MIN));
    if args.unordered {
        stream = stream.unordered();
    }
    if let Some(specs) = specs {
        let endpoints = EndpointsArg { allow_external_endpoints: args.allow_external_endpoints };
        stream = stream.with_graphs(specs, endpoints.validate_options());
    }
    let start = Instant::now();
    for path in &args.events {
        let origin = files::name(path);
        let file = (args.events.len() > 1).then_some(origin.as_str());
        let stopped = |error| CliError::Stream { origin: origin.clone(), error };
        stream.run(files::open_events(path)?, file).map_err(stopped)?;
    }
    output::say(describe(stream.summary(), start.elapsed()));
    // Without a bundle that should be there, events may have gone unserved.
    Ok(CommandVerdict::from_ok(stream.summary().rejected() == 0 && registry.failures().is_empty()))
}

impl RunArgs {
    /// Refuses to write what is read as well, and two outputs to one file.
    fn guard(&self) -> Result<(), CliError> {
        let inputs = Inputs::default()
            .files(self.events.iter().chain(&self.policy.policy).map(PathBuf::as_path))
            .bundles(&self.bundles);
        for (written, role) in [(&self.out, "--out"), (&self.rejects, "--rejects")] {
            written.iter().try_for_each(|written| inputs.guard(written, role))?;
        }
        match (&self.out, &self.rejects) {
            (Some(out), Some(rejects)) => guard_two(out, rejects),
            (Some(_), None) => Ok(()),
            (None, _) => inputs.guard_stdout(),
        }
    }
}

/// The bundles of a directory. What isn't served is reported; if nothing is, that is an error.
fn open_registry(root: &Path, pipeline: &Pipeline) -> Result<Registry, CliError> {
    match std::fs::metadata(root) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => {
            return Err(CliError::FileNotReadable {
                path: root.to_owned(),
                expected: "a directory of bundles",
                source: io::ErrorKind::NotADirectory.into(),
            });
        }
        Err(_) => files::probe(root, "a directory of bundles")?,
    }
    let registry = Registry::open(root, pipeline);
    for failure in registry.failures() {
        output::coded(failure.code(), &failure.error);
    }
    if registry.is_empty() {
        return Err(CliError::NoBundles(root.to_owned()));
    }
    Ok(registry)
}

/// A file to write, with its path.
type OpenedFile<'a> = (&'a Path, File);

fn unwritable(path: &Path, source: io::Error) -> CliError {
    CliError::FileNotWritable { path: path.to_owned(), source }
}

/// Opens a file to write; what it holds is still there.
fn open(path: Option<&Path>) -> Result<Option<OpenedFile<'_>>, CliError> {
    let Some(path) = path else { return Ok(None) };
    let file = File::options().write(true).create(true).truncate(false).open(path);
    Ok(Some((path, file.map_err(|source| unwritable(path, source))?)))
}

/// A writer to a file that was opened, emptied now.
fn writer(
    target: Option<OpenedFile<'_>>,
    default: impl FnOnce() -> Box<dyn Write + Send>,
) -> Result<Box<dyn Write + Send>, CliError> {
    let Some((path, file)) = target else { return Ok(default()) };
    let refused = |source| unwritable(path, source);
    // A pipe or a device has nothing to empty.
    if file.metadata().map_err(refused)?.is_file() {
        file.set_len(0).map_err(refused)?;
    }
    Ok(Box::new(file))
}

/// The summary for a person.
fn describe(summary: &Summary, elapsed: Duration) -> String {
    let Summary { events, results, empty, unrouted, rejects, bytes, fuel, failed_conversions } =
        summary;
    let rejected = summary.rejected();
    let mut text = format!(
        "{events} events: {results} results, {empty} empty, {unrouted} unrouted, {rejected} rejected"
    );
    let seconds = elapsed.as_secs_f64();
    if seconds > 0.0 {
        let (rate, megabytes) = (*events as f64 / seconds, *bytes as f64 / 1e6 / seconds);
        let _ = write!(text, "\n{seconds:.3} s, {rate:.0} events/s, {megabytes:.1} MB/s");
    }
    let _ = write!(text, ", {fuel} fuel");
    if *failed_conversions > 0 {
        let _ = write!(text, ", {failed_conversions} failed conversions");
    }
    for (code, count) in rejects {
        let _ = write!(text, "\n{count:>8} {code}");
    }
    text
}
