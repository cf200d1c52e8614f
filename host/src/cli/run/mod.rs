//! `retort run`: bundles over streams of events.

mod checkpoint;
mod columns;
mod drive;
pub(super) mod inputs;
mod outputs;
mod progress;
mod state;
mod stop;
mod summary;

use std::io::{self, Write};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::time::Duration;

use retort::columns::{EventsError, FilesError};
use retort::runtime::{Stream, StreamEnd, StreamError, StreamInput, Summary};
use retort::{Coded, ColumnSink, Pipeline, Registry};

use self::checkpoint::Checkpoint;
use self::columns::ColumnArgs;
use self::drive::{Drive, Driven};
use self::inputs::{BytesRead, EventReader};
use self::progress::{AboveBar, Bar};
use self::state::{At, Job, JobParts, State};
use self::stop::Stop;
use super::args::{CacheArg, PolicyArg};
use super::error::CliError;
use super::overwrite::{Inputs, guard_two};
use super::{CommandResult, CommandVerdict, files, output};

/// Run bundles over events, one JSON object a line
///
/// Each event goes to the bundle that serves its event_type. For an event that gave something, one line goes to stdout:
/// {"line", "event_type", "bundle", "result"}. What of it doesn't fit the graph spec of the bundle is dropped, and told of in
/// "dropped". A failed event goes to the rejects, {"line", "code", "message"}, and the
/// stream goes on. With several inputs, both carry "file". A summary goes to stderr. Exits with 1 if any event failed, any
/// part of a result was dropped, or a bundle could not be served; with 130 or 143 if a signal ended it.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RunArgs {
    /// Directory of bundles
    #[arg(long, value_name = "DIR")]
    bundles: PathBuf,
    /// Files of events, as they are or packed by gzip or zstd, or patterns like "logs/*.gz"; - is stdin
    #[arg(value_name = "EVENTS", default_value = "-")]
    events: Vec<PathBuf>,
    /// Where failed events go [default: stderr]
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,
    /// Where results go: a file, or the directory of tables [default: stdout]
    #[arg(long, value_name = "FILE|DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    columns: ColumnArgs,
    #[command(flatten)]
    policy: PolicyArg,
    #[command(flatten)]
    cache: CacheArg,
    /// When bundles go through the gates: all at the start, or each with its first event, whose rejects then say what is wrong with
    /// it [default: at-start for up to 64 bundles, first-event for more]
    #[arg(long, value_name = "WHEN", value_enum)]
    load: Option<LoadWhen>,
    /// Write results as they are, and not what of them fits the graph spec of their bundle
    #[arg(long, conflicts_with = "allow_external_endpoints", overrides_with = "check_graph")]
    no_graph_check: bool,
    /// Hold results to the graph spec of their bundle, which is the default
    #[arg(long = "check-graph", hide = true, overrides_with = "no_graph_check")]
    check_graph: bool,
    /// Let edges lead to nodes of other events, also where their bundle was compiled without
    #[arg(long)]
    allow_external_endpoints: bool,
    /// Read one in N results in full, where their form is proven, which changes nothing in what is written
    #[arg(long, value_name = "N")]
    check_one_in: Option<NonZeroU32>,
    /// Serve on N threads, which changes nothing in what is written [default: as many as run at one time here]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Write results and rejects as soon as they are there, and not in the order of the events
    #[arg(long)]
    unordered: bool,
    /// Keep in this file how far the run is, and go on from there where the file is there already
    #[arg(long, value_name = "STATE", requires = "out", conflicts_with_all = ["unordered", "table"])]
    resume: Option<PathBuf>,
    /// With --resume: seconds from one time that the file is written to the next [default: 1, and 60 where results are columns, whose
    /// files are ended then]
    #[arg(long, value_name = "SECONDS", requires = "resume", value_parser = seconds)]
    checkpoint_every: Option<Duration>,
}

/// When bundles are loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum LoadWhen {
    AtStart,
    FirstEvent,
}

/// Up to so many bundles are loaded at the start, which takes some tenths of a second where they have to be compiled.
const LOADED_AT_START: usize = 64;

const EXAMPLES: &str = "\
Examples:
  retort run --bundles bundles events.ndjson > results.ndjson
  tail -f events.ndjson | retort run --bundles bundles --rejects rejects.ndjson
  retort run --bundles bundles \"logs/2026-*.ndjson.gz\" --out results.ndjson
  retort run --bundles bundles year.zst --out results.ndjson --rejects rejects.ndjson --resume state.json
  retort run --bundles bundles events.ndjson --out tables --format parquet
  retort run --bundles bundles events.parquet --column event --out tables --format parquet --resume state.json";

/// Whether an error of the system stands for one of this type.
fn is_of<E: std::error::Error + 'static>(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<E>())
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok();
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.ok_or_else(|| format!("expected a number of seconds, found {text:?}"))
}

pub(super) fn main(args: &RunArgs) -> CommandResult {
    files::allow_open_files();
    args.check_options()?;
    let mut pipeline = args.cache.pipeline(&args.policy)?;
    if let Some(check_one_in) = args.check_one_in {
        pipeline = pipeline.checking_one_in(check_one_in);
    }
    let registry = args.open_registry(&pipeline)?;
    args.cache.report(&pipeline);
    if !args.no_graph_check {
        registry.read_graphs();
    }
    if args.events.iter().filter(|path| files::is_stdin(path)).count() > 1 {
        return Err(CliError::StdinTwice { expected: "a file of events" });
    }
    // Nothing is created or overwritten before all that is read has been found.
    let events = inputs::expand(&args.events)?;
    events.iter().try_for_each(|path| files::probe(path, "a file of events"))?;
    inputs::probe_column(&events, args.columns.column.as_deref())?;
    args.guard(&events)?;
    let is_lines = args.columns.format.is_lines();
    let tables = if is_lines { None } else { Some(ColumnArgs::tables(&registry)?) };
    let state = args.state(&registry, &events)?;
    let before = match &state {
        Some((path, state)) => state.known_summary(path)?,
        None => Summary::default(),
    };
    let is_well = |summary: &Summary| {
        // Without a bundle that should be there, events may have gone unserved.
        let are_whole = summary.rejected() == 0 && summary.in_part == 0;
        CommandVerdict::from_ok(are_whole && registry.failures().is_empty())
    };
    if let Some((path, done)) = state.as_ref().filter(|(_, state)| state.done) {
        if let (Some(tables), Some(out)) = (&tables, &args.out) {
            // What the state counts may not have had its names yet.
            args.columns.files(out, tables, Some(&done.files))?;
        }
        output::note(format_args!("{}: all of it is done already", path.display()));
        output::say(summary::describe(&before, None));
        return Ok(is_well(&before));
    }

    let stop = Stop::listen()?;
    let bytes_read = BytesRead::default();
    let at = state.as_ref().map(|(_, state)| state.at).unwrap_or_default();
    let readers = args.readers(&events, at, &stop, &bytes_read)?;
    let total = inputs::total_bytes(&events);
    let drive = |shows_results: bool, checkpoint: Option<Checkpoint>| Drive {
        args,
        bar: Bar::new(total, &bytes_read, &before, shows_results),
        stop: &stop,
        before: &before,
        checkpoint,
    };
    let driven = match tables {
        None => {
            let outputs::Opened { checkpoint, out, rejects } = args.open_lines(state)?;
            let drive = drive(out.is_none(), checkpoint);
            let rejects: Box<dyn Write + Send> = match rejects {
                Some(file) => Box::new(file),
                None => Box::new(AboveBar(drive.bar.clone())),
            };
            let out: Box<dyn Write + Send> = match out {
                Some(file) => Box::new(file),
                None => Box::new(io::stdout()),
            };
            drive.through(Stream::new(&registry, out, rejects), readers, |_| Ok(()))
        }
        Some(tables) => match &args.out {
            None => {
                let stream = Stream::into_sink(&registry, args.columns.stream(tables)?);
                let end = |sink: &mut ColumnSink| sink.end().map_err(CliError::Output);
                drive(true, None).through(stream, readers, end)
            }
            Some(out) => {
                let mark = state.as_ref().map(|(_, state)| &state.files);
                let files = args.columns.files(out, &tables, mark)?;
                let every = args.checkpoint_every.unwrap_or(TABLES_EVERY);
                let checkpoint = state
                    .map(|(path, state)| Checkpoint::of_tables(path, state, files.clone(), every));
                let is_kept = checkpoint.is_some();
                let sink = ColumnSink::files(tables, files.clone());
                let end = |_: &mut ColumnSink| -> Result<(), CliError> {
                    // A checkpoint ends them itself.
                    if !is_kept {
                        let mut files = files.lock();
                        files.finish()?;
                        files.publish()?;
                    }
                    Ok(())
                };
                let stream = Stream::into_sink(&registry, sink);
                drive(false, checkpoint).through(stream, readers, end)
            }
        },
    };
    let Driven { ended, is_ended, kept, summary, elapsed } = driven;

    let is_broken_pipe = ended.as_ref().is_err_and(StreamError::is_broken_pipe);
    for failure in registry.late_failures() {
        output::coded(failure.code(), &failure.error);
    }
    if !is_broken_pipe {
        output::say(summary::describe(&summary, Some((&before, elapsed))));
    }
    let is_done = matches!(ended, Ok(StreamEnd::Complete));
    ended.map_err(|error| args.told(&events, error))?;
    is_ended?;
    kept?;
    match stop.exit_code().filter(|_| !is_done) {
        Some(code) => {
            output::note("a signal has ended it before all was read");
            Ok(CommandVerdict::Signalled(code))
        }
        None => Ok(is_well(&summary)),
    }
}

/// Seconds from one checkpoint to the next, where it ends a file of each table.
const TABLES_EVERY: Duration = Duration::from_mins(1);

/// The same for lines.
const LINES_EVERY: Duration = Duration::from_secs(1);

impl RunArgs {
    /// Refuses options that mean nothing together.
    fn check_options(&self) -> Result<(), CliError> {
        let (out, rejects) = (self.out.as_deref(), self.rejects.as_deref());
        self.columns.check(out, rejects)?;
        if self.resume.is_some() && self.columns.format.is_lines() && rejects.is_none() {
            let expected = "--rejects with a file, as --resume needs of lines";
            return Err(CliError::OutputOptions { expected, found: "none" });
        }
        Ok(())
    }

    /// The files of lines, and what keeps how far they are.
    fn open_lines(&self, state: Option<(&Path, State)>) -> Result<outputs::Opened, CliError> {
        let (out, rejects) = outputs::open(self.out.as_deref(), self.rejects.as_deref())?;
        match (state, out, rejects) {
            (Some((path, state)), Some(out), Some(rejects)) => {
                let every = self.checkpoint_every.unwrap_or(LINES_EVERY);
                let checkpoint = Checkpoint::begin(path, state, out, rejects, every)?;
                let (out, rejects) = checkpoint.writers()?.unzip();
                Ok(outputs::Opened { checkpoint: Some(checkpoint), out, rejects })
            }
            (_, out, rejects) => {
                let emptied = |file: outputs::OutputFile<'_>| file.cut(0);
                let (out, rejects) =
                    (out.map(emptied).transpose()?, rejects.map(emptied).transpose()?);
                Ok(outputs::Opened { checkpoint: None, out, rejects })
            }
        }
    }

    /// Refuses to write what is read as well, and two outputs to one file.
    fn guard(&self, events: &[PathBuf]) -> Result<(), CliError> {
        let inputs = Inputs::default()
            .files(events.iter().chain(&self.policy.policy).map(PathBuf::as_path))
            .bundles(&self.bundles);
        let new_state = self.resume.as_deref().map(files::new_path);
        let written = [
            (self.out.as_deref(), "--out"),
            (self.rejects.as_deref(), "--rejects"),
            (self.resume.as_deref(), "--resume"),
            (new_state.as_deref(), "the new file of --resume"),
        ];
        let written: Vec<(&Path, &'static str)> =
            written.into_iter().filter_map(|(path, role)| Some((path?, role))).collect();
        for (index, one) in written.iter().enumerate() {
            inputs.guard(one.0, one.1)?;
            written.iter().take(index).try_for_each(|earlier| guard_two(*earlier, *one))?;
        }
        if self.out.is_none() { inputs.guard_stdout() } else { Ok(()) }
    }

    /// Where the state of this run is kept, and what it is.
    fn state(
        &self,
        registry: &Registry,
        events: &[PathBuf],
    ) -> Result<Option<(&Path, State)>, CliError> {
        let (Some(path), Some(out)) = (&self.resume, &self.out) else { return Ok(None) };
        let job = Job::new(&JobParts {
            registry,
            policy: self.policy.read()?,
            check_graph: !self.no_graph_check,
            allow_external_endpoints: self.allow_external_endpoints,
            out,
            // Rejects are a table, where results are.
            rejects: self.rejects.as_deref().unwrap_or(Path::new("")),
            format: self.columns.format,
            column: self.columns.column.as_deref(),
            inputs: events,
        })?;
        let Some(state) = State::read(path, &job)? else {
            return Ok(Some((path, State::of(job))));
        };
        state.check_outputs(path)?;
        Ok(Some((path, state)))
    }

    /// What is left to be read.
    fn readers(
        &self,
        events: &[PathBuf],
        at: At,
        stop: &Stop,
        bytes_read: &BytesRead,
    ) -> Result<Vec<StreamInput<EventReader>>, CliError> {
        let is_named = events.len() > 1;
        for done in events.iter().take(at.input) {
            bytes_read.add(done.metadata().map_or(0, |found| found.len()));
        }
        let left = events.iter().enumerate().skip(at.input);
        let readers = left.map(|(index, path)| {
            let begun = if index == at.input { at.in_input() } else { Default::default() };
            let reader = EventReader::new(path, stop, bytes_read)?;
            let reader = reader.of_column(self.columns.column.as_deref()).after(begun.offset);
            let input = StreamInput::new(reader).starting_at(begun);
            Ok(if is_named { input.named(files::name(path)) } else { input })
        });
        readers.collect()
    }

    /// The error of a stream, with what it is about where it doesn't say so itself.
    fn told(&self, events: &[PathBuf], error: StreamError) -> CliError {
        let error = match error {
            StreamError::Read { file, source, .. } if is_of::<EventsError>(&source) => {
                let first = events.first().map(|path| files::name(path));
                let origin = file.or(first).unwrap_or_default();
                return match source.downcast::<EventsError>() {
                    Ok(error) => CliError::Events { origin, error },
                    Err(source) => CliError::Output(source),
                };
            }
            StreamError::Results(source) if is_of::<FilesError>(&source) => {
                return match source.downcast::<FilesError>() {
                    Ok(error) => error.into(),
                    Err(source) => CliError::Output(source),
                };
            }
            error => error,
        };
        let file = |path: &Option<PathBuf>, default: &str| {
            path.as_deref().map_or_else(|| default.to_owned(), files::name)
        };
        let origin = match &error {
            StreamError::Read { file: Some(_), .. } => None,
            StreamError::Read { .. } => events.first().map(|path| files::name(path)),
            StreamError::Results(_) => Some(file(&self.out, "stdout")),
            StreamError::Rejects(_) => Some(file(&self.rejects, "stderr")),
            _ => None,
        };
        CliError::Stream { origin, error }
    }

    /// The bundles of the directory. What isn't served is reported; if nothing is, that is an error.
    fn open_registry(&self, pipeline: &Pipeline) -> Result<Registry, CliError> {
        let root = &self.bundles;
        files::require_directory(root, "a directory of bundles")?;
        let registry = match self.load_when() {
            LoadWhen::AtStart => Registry::open(root, pipeline),
            LoadWhen::FirstEvent => Registry::open_lazily(root, pipeline),
        };
        for failure in registry.failures() {
            output::coded(failure.code(), &failure.error);
        }
        if registry.is_empty() {
            return Err(CliError::NoBundles(root.to_owned()));
        }
        Ok(registry)
    }

    fn load_when(&self) -> LoadWhen {
        let are_many = || {
            let entries = std::fs::read_dir(&self.bundles).into_iter().flatten().flatten();
            entries.filter(|it| it.path().is_dir()).nth(LOADED_AT_START).is_some()
        };
        match self.load {
            Some(when) => when,
            None if !are_many() => LoadWhen::AtStart,
            None => LoadWhen::FirstEvent,
        }
    }
}
