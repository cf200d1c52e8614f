//! `retort revalidate`: bundles over events that are known, held to a reference.

mod recorded;

use std::path::{Path, PathBuf};

use retort::internal::document::DocumentKind;
use retort::runtime::{
    Noted, Reference, Revalidation, RevalidationReport, ThresholdCheck, Thresholds,
};
use retort::{Pipeline, Registry};
use serde::Serialize;
use serde_json::Value;

use self::recorded::Recorded;
use super::args::{CacheArg, PolicyArg};
use super::error::CliError;
use super::overwrite::Inputs;
use super::run::inputs::expand;
use super::{CommandResult, CommandVerdict, events, files, output};

/// Hold bundles to a reference, over events that are known
///
/// Counts what would become of each event with a fallback at hand (the bundle's result as it is, what is right of it, or the
/// fallback's), and whether the bundle gives what the reference gives: another directory of bundles, the plans themselves by
/// Retort's own evaluator, or results that `retort run` has recorded of the same events. Events of types that either has nothing for are
/// skipped. The exit code is 0, 1 if a threshold isn't kept, and 2, without a report, if something can't be read: a bundle, an event.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RevalidateArgs {
    /// Directory of bundles
    #[arg(value_name = "DIR")]
    bundles: PathBuf,
    /// Files of events, one JSON object a line; `-` for stdin, patterns, gzip and zstd as `run` has them
    #[arg(value_name = "EVENTS", required = true)]
    events: Vec<PathBuf>,
    #[command(flatten)]
    reference: ReferenceArg,
    /// What the report has to come to: JSON
    #[arg(long, value_name = "FILE")]
    thresholds: Option<PathBuf>,
    /// Write the report to this file
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Samples of each kind in the report
    #[arg(long, value_name = "N", default_value_t = retort::runtime::DEFAULT_SAMPLES)]
    samples: usize,
    #[command(flatten)]
    policy: PolicyArg,
    #[command(flatten)]
    cache: CacheArg,
    /// Print the report
    #[arg(long)]
    json: bool,
}

/// What bundles are held to.
#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct ReferenceArg {
    /// Directory of bundles that give what is right
    #[arg(long, value_name = "DIR")]
    reference: Option<PathBuf>,
    /// What the plans of the bundles mean is right, by the evaluator that serves no events; bundles of code have none
    #[arg(long)]
    against_plans: bool,
    /// What `retort run` has written of the same events is right; of an event without a line, nothing
    #[arg(long, value_name = "FILE")]
    recorded: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  retort revalidate bundles events.ndjson --against-plans
  retort revalidate bundles 'yesterday/*.gz' --reference bundles-in-use --thresholds thresholds.json --report report.json
  retort run --bundles bundles events.ndjson --out good.ndjson
  retort revalidate new-bundles events.ndjson --recorded good.ndjson --json";

#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    report: &'a RevalidationReport,
    threshold_check: Option<ThresholdCheck>,
}

pub(super) fn main(args: &RevalidateArgs) -> CommandResult {
    let inputs = expand(&args.events)?;
    if let Some(report) = &args.report {
        args.guard(&inputs, report)?;
    }
    for path in inputs.iter().filter(|path| !files::is_stdin(path)) {
        files::probe(path, "a file of events")?;
    }
    let gates = args.cache.pipeline(&args.policy)?;
    args.cache.report(&gates);
    let registry = opened(&args.bundles, &gates)?;
    let reference = args.reference.reference.as_ref();
    let reference = reference.map(|root| opened(root, &gates)).transpose()?;
    let recorded = args.reference.recorded.as_deref().map(Recorded::open).transpose()?;
    let thresholds = args.thresholds()?;
    let held_to = match (&reference, recorded) {
        (Some(reference), _) => HeldTo::Reference(Box::new(Revalidation::bundles_of(reference))),
        (None, Some(recorded)) => HeldTo::Recorded(Box::new(recorded)),
        (None, None) => {
            let plans = Revalidation::plans_of(&registry).map_err(CliError::refused)?;
            HeldTo::Reference(Box::new(plans))
        }
    };
    let revalidation =
        Revalidation::new(&registry, jiff::Timestamp::now()).with_samples(args.samples);
    let limit = gates.sandbox().limits().event_bytes;
    let report = run(revalidation, held_to, &inputs, limit)?;
    let check = thresholds.map(|thresholds| thresholds.check(&report));
    let is_ok = check.as_ref().is_none_or(|check| check.ok);
    let written = written(&Report { report: &report, threshold_check: check.clone() });
    if let Some(path) = &args.report {
        let unwritten = |source| CliError::FileNotWritable { path: path.clone(), source };
        files::replace(path, written.as_bytes()).map_err(unwritten)?;
    }
    match args.json {
        true => output::print(&written)?,
        false => output::print(&text(&report, check.as_ref()))?,
    }
    Ok(CommandVerdict::from_ok(is_ok))
}

/// What bundles are held to, event by event.
enum HeldTo<'r> {
    Reference(Box<Reference<'r>>),
    Recorded(Box<Recorded>),
}

fn run(
    mut revalidation: Revalidation<'_>,
    mut held_to: HeldTo<'_>,
    inputs: &[PathBuf],
    limit: usize,
) -> Result<RevalidationReport, CliError> {
    let several = inputs.len() > 1;
    for path in inputs {
        let name = several.then(|| files::name(path));
        events::for_each(path, limit, |number, text| {
            let origin = || format!("{}:{number}", files::name(path));
            let text = text.map_err(|error| CliError::refused_in(&origin(), error))?;
            let noted = match &mut held_to {
                HeldTo::Reference(reference) => {
                    revalidation.event(text, |event| reference.reference(event))
                }
                HeldTo::Recorded(recorded) => {
                    let result = recorded.of(name.as_deref(), number)?;
                    revalidation.event(text, |_| Some(Ok(result)))
                }
            };
            match noted {
                Noted::NoEvent(error) => Err(CliError::refused_in(&origin(), error)),
                _ => Ok(true),
            }
        })?;
    }
    if let HeldTo::Recorded(recorded) = held_to {
        recorded.finish()?;
    }
    Ok(revalidation.finish(jiff::Timestamp::now()))
}

impl RevalidateArgs {
    /// Refuses to write the report over what is read, and where nothing can be written.
    fn guard(&self, inputs: &[PathBuf], report: &Path) -> Result<(), CliError> {
        let read = inputs.iter().chain(&self.thresholds).chain(&self.reference.recorded);
        let mut guarded =
            Inputs::default().files(read.map(PathBuf::as_path)).bundles(&self.bundles);
        if let Some(reference) = &self.reference.reference {
            guarded = guarded.bundles(reference);
        }
        guarded.guard(report, "--report")?;
        let parent = report.parent().filter(|parent| !parent.as_os_str().is_empty());
        match parent.filter(|parent| !parent.is_dir()) {
            Some(parent) => files::require_directory(parent, "a directory for the report"),
            None => Ok(()),
        }
    }

    fn thresholds(&self) -> Result<Option<Thresholds>, CliError> {
        let Some(path) = &self.thresholds else { return Ok(None) };
        let thresholds = Thresholds::parse(&files::read(path, DocumentKind::Value)?);
        thresholds.map(Some).map_err(|error| CliError::refused_in(&files::name(path), error))
    }
}

/// The bundles of a directory, of which every one has to be well.
fn opened(root: &Path, gates: &Pipeline) -> Result<Registry, CliError> {
    files::require_directory(root, "a directory of bundles")?;
    let registry = Registry::open(root, gates);
    if let Some(failure) = registry.failures().first() {
        return Err(CliError::refused(failure.clone()));
    }
    if registry.is_empty() {
        return Err(CliError::NoBundles(root.to_owned()));
    }
    Ok(registry)
}

/// The report as JSON, its keys in order.
fn written(report: &Report<'_>) -> String {
    // Text, numbers, lists and maps always serialise, to a value whose keys are sorted.
    let value = serde_json::to_value(report).unwrap_or(Value::Null);
    let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
    text.push('\n');
    text
}

/// A line for each event type, the rates, and what is wrong.
fn text(report: &RevalidationReport, check: Option<&ThresholdCheck>) -> String {
    let mut text = String::new();
    for (event_type, it) in &report.counts_by_event_type {
        text.push_str(&format!(
            "{event_type}: {} events, {} as they are, {} in part, {} for a fallback ({} failed); {} as the reference, {} not, {} not compared\n",
            it.total,
            it.compiled_unchanged,
            it.compiled_filtered,
            it.fallback_for_event,
            it.compiled_path_faults,
            it.parity_matches,
            it.parity_divergences,
            it.parity_not_checked
        ));
    }
    text.push_str(&format!(
        "{} events, {} skipped; compiled_unchanged_rate {:.4}, parity_match_rate {:.4}\n",
        report.total_events,
        report.skipped_events,
        report.compiled_unchanged_rate(),
        report.parity_match_rate()
    ));
    let samples =
        report.sample_decision_divergences.iter().chain(&report.sample_parity_divergences);
    text.extend(samples.map(|sample| format!("  {sample}\n")));
    let violations = check.into_iter().flat_map(|check| &check.violations);
    text.extend(violations.map(|it| format!("violated: {it}\n")));
    text
}
