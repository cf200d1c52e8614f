//! A run against an earlier one.
//!
//! Times of two runs on a machine that others use differ without a cause. So a way counts as slower only where its median and its
//! quieter quarter both are: what others do to the machine moves the first much more than the second. Fuel is exact, and
//! compared exactly; it is told, and no verdict: who changes what an extractor does changes its fuel.

use std::path::Path;

use retort::diagnostics::sanitize;
use retort::internal::document::DocumentKind;
use retort::internal::wording::expected_first;
use retort::sandbox::Isolation;
use serde::Serialize;
use serde_json::Value;

use super::figures::change;
use super::peers::READING;
use super::report::{BENCH_VERSION, BenchReport, BundleFigures, RunFigures, fine};
use super::turns::Spread;
use crate::cli::error::CliError;
use crate::cli::files;

/// How much of a name in a baseline is repeated, in characters: more than any that this command writes.
const NAME_CHARS: usize = 200;

/// How a way does now, against then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verdict {
    Same,
    Faster,
    Slower,
}

impl Verdict {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Faster => "faster",
            Self::Slower => "slower",
        }
    }
}

/// What became of everything that both runs have measured.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Comparison {
    pub(super) baseline: String,
    /// When the baseline was measured, as it says.
    pub(super) baseline_measured_at: String,
    /// How many times as long something may take: 1.1 is 10 % more.
    pub(super) tolerated: f64,
    /// How many changes are for the worse.
    pub(super) slower: usize,
    pub(super) changes: Vec<Change>,
    pub(super) fuel: Vec<FuelChange>,
    /// What makes the comparison less than it could be.
    pub(super) notes: Vec<String>,
}

/// One way, then and now.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Change {
    pub(super) bundle: String,
    pub(super) what: String,
    /// Nanoseconds, the median.
    pub(super) was_ns: f64,
    pub(super) is_ns: f64,
    /// Times what it was, the median.
    pub(super) ratio: f64,
    /// The same of the quieter quarter.
    pub(super) quiet_ratio: f64,
    pub(super) verdict: Verdict,
}

/// The fuel of a bundle's events, where it isn't what it was.
#[derive(Clone, Debug, Serialize)]
pub(super) struct FuelChange {
    pub(super) bundle: String,
    pub(super) was: u64,
    pub(super) is: u64,
}

/// Reads an earlier report.
pub(super) fn read(path: &Path) -> Result<BenchReport, CliError> {
    let value = files::read_json(path, DocumentKind::BenchReport)?;
    let refused = |path_in: String, message: String| CliError::BaselineInvalid {
        origin: files::name(path),
        path: if path_in == "." { String::new() } else { path_in },
        message,
    };
    match value.get("bench_version").and_then(Value::as_u64) {
        Some(found) if found == u64::from(BENCH_VERSION) => {}
        found => {
            let found = found.map_or("none".to_owned(), |found| found.to_string());
            let message = format!("expected version {BENCH_VERSION} of the form, found {found}");
            return Err(refused("bench_version".to_owned(), message));
        }
    }
    let mut report: BenchReport = serde_path_to_error::deserialize(value).map_err(|error| {
        let message = sanitize(&expected_first(&error.inner().to_string()), 400);
        refused(error.path().to_string(), message)
    })?;
    // Whoever wrote the file, these are repeated in messages.
    let BenchReport { measured_at, retort, wasmtime, settings, bundles, .. } = &mut report;
    let names = bundles.iter_mut().flat_map(|it| [&mut it.name, &mut it.fingerprint]);
    for text in [measured_at, retort, wasmtime, &mut settings.allocator].into_iter().chain(names) {
        *text = sanitize(text, NAME_CHARS);
    }
    Ok(report)
}

/// What is going to be measured.
pub(super) struct Wanted<'a> {
    /// By fingerprint and function.
    pub(super) bundles: Vec<(String, String)>,
    pub(super) isolations: &'a [Isolation],
    pub(super) threads: &'a [usize],
    pub(super) has_cold_starts: bool,
}

/// Refuses a baseline that holds nothing of what is going to be measured, before it is measured for nothing.
pub(super) fn require_related(
    origin: String,
    was: &BenchReport,
    wanted: &Wanted<'_>,
) -> Result<(), CliError> {
    let is_known = |then: &&BundleFigures| {
        let mut bundles = wanted.bundles.iter();
        bundles.any(|(digest, name)| then.fingerprint == *digest || then.name == *name)
    };
    let is_run = |run: &RunFigures| {
        wanted.isolations.contains(&run.isolation) && wanted.threads.contains(&run.threads)
    };
    let has_common = |then: &BundleFigures| {
        then.runs.iter().any(is_run) || (wanted.has_cold_starts && !then.cold_starts.is_empty())
    };
    if was.bundles.iter().filter(is_known).any(has_common) {
        return Ok(());
    }
    Err(CliError::BaselineUnrelated { origin })
}

/// Compares a run with an earlier one; `tolerated` is how many times as long something may take.
pub(super) fn compare(
    origin: String,
    was: &BenchReport,
    is: &BenchReport,
    tolerated: f64,
) -> Result<Comparison, CliError> {
    let mut comparison = Comparison {
        baseline: origin,
        baseline_measured_at: was.measured_at.clone(),
        tolerated: fine(tolerated),
        slower: 0,
        changes: Vec::new(),
        fuel: Vec::new(),
        notes: circumstances(was, is),
    };
    for bundle in &is.bundles {
        match counterpart(was, is, bundle) {
            Some(then) => comparison.bundle(is.name_of(bundle), then, bundle),
            None => comparison.notes.push(format!("the baseline has no `{}`", is.name_of(bundle))),
        }
    }
    let pairs = pairs(&was.bundles, &is.bundles);
    for (index, bundle) in was.bundles.iter().enumerate() {
        if !pairs.iter().any(|(then, _)| *then == index) {
            comparison
                .notes
                .push(format!("`{}` of the baseline isn't measured", was.name_of(bundle)));
        }
    }
    if comparison.changes.is_empty() {
        return Err(CliError::BaselineUnrelated { origin: comparison.baseline });
    }
    comparison.slower =
        comparison.changes.iter().filter(|change| change.verdict == Verdict::Slower).count();
    Ok(comparison)
}

/// What else differs between two runs, and may be why their times do.
fn circumstances(was: &BenchReport, is: &BenchReport) -> Vec<String> {
    let mut notes = Vec::new();
    if was.machine != is.machine {
        notes.push("the baseline was measured on another machine".to_owned());
    }
    if was.build != is.build {
        let (was, is) = (was.build.as_str(), is.build.as_str());
        notes.push(format!("the baseline is of a {was} build, this of a {is} build"));
    }
    for (what, was, is) in [
        ("retort", &was.retort, &is.retort),
        ("wasmtime", &was.wasmtime, &is.wasmtime),
        ("allocator", &was.settings.allocator, &is.settings.allocator),
    ] {
        if was != is {
            notes.push(format!("{what}: {was} in the baseline, {is} now"));
        }
    }
    if was.settings.batch != is.settings.batch {
        let (was, is) = (was.settings.batch, is.settings.batch);
        notes.push(format!("batches of {was} events in the baseline, of {is} now"));
    }
    notes
}

/// Which bundle of the baseline each bundle is compared with, by their places: the very same, else one of the same function. None is
/// compared twice.
fn pairs(was: &[BundleFigures], is: &[BundleFigures]) -> Vec<(usize, usize)> {
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    let same = |then: &BundleFigures, now: &BundleFigures| then.fingerprint == now.fingerprint;
    let successor = |then: &BundleFigures, now: &BundleFigures| then.name == now.name;
    for matches in [same, successor as fn(&BundleFigures, &BundleFigures) -> bool] {
        for (now, bundle) in is.iter().enumerate() {
            if pairs.iter().any(|(_, taken)| *taken == now) {
                continue;
            }
            let free = |then: &usize| !pairs.iter().any(|(taken, _)| taken == then);
            let mut found = was.iter().enumerate().filter(|(_, then)| matches(then, bundle));
            if let Some((then, _)) = found.find(|(then, _)| free(then)) {
                pairs.push((then, now));
            }
        }
    }
    pairs
}

/// What a bundle of a report is compared with.
pub(super) fn counterpart<'a>(
    was: &'a BenchReport,
    is: &BenchReport,
    bundle: &BundleFigures,
) -> Option<&'a BundleFigures> {
    let place = is.bundles.iter().position(|it| std::ptr::eq(it, bundle))?;
    let pairs = pairs(&was.bundles, &is.bundles);
    let (then, _) = pairs.iter().find(|(_, now)| *now == place)?;
    was.bundles.get(*then)
}

impl Comparison {
    fn bundle(&mut self, name: String, was: &BundleFigures, is: &BundleFigures) {
        let is_same_input = was.events.sha256 == is.events.sha256;
        if !is_same_input {
            self.notes.push(format!("`{name}`: the baseline was measured on other events"));
        } else if was.fuel.total != is.fuel.total {
            let (was, now) = (was.fuel.total, is.fuel.total);
            self.fuel.push(FuelChange { bundle: name.clone(), was, is: now });
        }
        let reading = |of: &BundleFigures| {
            let peer = of.peers.iter().find(|peer| peer.name == READING);
            peer.map(|peer| peer.ns_per_event.median)
        };
        if let (Some(then), Some(now)) = (reading(was), reading(is)) {
            let ratio = now / then;
            if is_same_input && (ratio > self.tolerated || ratio < 1.0 / self.tolerated) {
                let change = change(ratio);
                self.notes.push(format!(
                    "`{name}`: what serde_json takes to read the same events has changed by {change}, and that is the machine's doing"
                ));
            }
        }
        if was.fingerprint != is.fingerprint {
            let digits = |text: &str| text.chars().take(8).collect::<String>();
            let (then, now) = (digits(&was.fingerprint), digits(&is.fingerprint));
            self.notes.push(format!("`{name}`: {then}.. in the baseline, {now}.. now"));
        }
        for run in &is.runs {
            let same =
                |then: &&RunFigures| (then.isolation, then.threads) == (run.isolation, run.threads);
            if let Some(then) = was.runs.iter().find(same) {
                self.change(&name, run.what(), &then.ns_per_event, &run.ns_per_event);
            }
        }
        for start in &is.cold_starts {
            if let Some(then) = was.cold_starts.iter().find(|then| then.cached == start.cached) {
                self.change(&name, start.what().to_owned(), &then.total_ns, &start.total_ns);
            }
        }
    }

    fn change(&mut self, bundle: &str, what: String, was: &Spread, is: &Spread) {
        // What took no time can't be compared.
        if !(was.median > 0.0 && was.p25 > 0.0 && is.median > 0.0 && is.p25 > 0.0) {
            return;
        }
        let (ratio, quiet_ratio) = (is.median / was.median, is.p25 / was.p25);
        let verdict = if ratio.min(quiet_ratio) > self.tolerated {
            Verdict::Slower
        } else if ratio.max(quiet_ratio) < 1.0 / self.tolerated {
            Verdict::Faster
        } else {
            Verdict::Same
        };
        self.changes.push(Change {
            bundle: bundle.to_owned(),
            what,
            was_ns: was.median,
            is_ns: is.median,
            ratio: fine(ratio),
            quiet_ratio: fine(quiet_ratio),
            verdict,
        });
    }
}
