//! How long single events take.

use super::{figure, run_then, section, table, then};
use crate::cli::bench::figures::{nanoseconds, round_digits, round_nanoseconds};
use crate::cli::bench::html::lines::{Kind, Range, Series, lines};
use crate::cli::bench::html::markup::Markup;
use crate::cli::bench::report::{BenchReport, BundleFigures, LatencyBin, RunFigures};

/// How many runs are shown in one plot: as many as there are colours.
const MAX_SHOWN: usize = 6;

/// How long single events take.
pub(in super::super) fn latency(
    markup: &mut Markup,
    report: &BenchReport,
    baseline: Option<&BenchReport>,
) {
    let said = format!(
        "Single events, from their bytes to a checked result, the clock being looked at before and after each: that takes {} of it. \
         The axis is logarithmic; the higher the line, the more of the events took so long.",
        nanoseconds(report.settings.clock_ns)
    );
    section(markup, "Latency", &said, |markup| {
        for bundle in &report.bundles {
            markup.leaf("h3", &[], report.name_of(bundle));
            figure(markup, |markup| latencies(markup, bundle, then(baseline, report, bundle)));
            let rows: Vec<Vec<String>> = bundle
                .runs
                .iter()
                .map(|run| {
                    let it = &run.latency_ns;
                    let values = [it.p50, it.p90, it.p99, it.p999, it.max];
                    let cells = values.map(|value| nanoseconds(value as f64));
                    std::iter::once(run.what()).chain(cells).collect()
                })
                .collect();
            table(markup, &["", "p50", "p90", "p99", "p99.9", "most"], &rows);
        }
    });
}

/// The distributions of a bundle's runs; of as many as can be told apart.
fn latencies(markup: &mut Markup, bundle: &BundleFigures, then: Option<&BundleFigures>) {
    let mut series = Vec::new();
    for (colour, run) in shown(bundle).into_iter().enumerate() {
        let measured = |name, run: &RunFigures, kind| Series {
            name,
            points: distribution(&run.latency_ns.histogram),
            colour,
            kind,
            has_dots: false,
        };
        series.push(measured(run.what(), run, Kind::Measured));
        if let Some(then) = run_then(then, run) {
            series.push(measured(format!("{}, baseline", run.what()), then, Kind::Baseline));
        }
    }
    let points = || series.iter().flat_map(|it| &it.points);
    let x = Range {
        name: "time of one event",
        from: points().map(|(x, _)| *x).fold(f64::INFINITY, f64::min) * 0.8,
        to: points().map(|(x, _)| *x).fold(0.0, f64::max) * 1.25,
        is_logarithmic: true,
        ticks: None,
        figure: &round_nanoseconds,
    };
    let y = Range {
        name: "% of the events",
        from: 0.0,
        to: points().map(|(_, y)| *y).fold(0.0, f64::max),
        is_logarithmic: false,
        ticks: None,
        figure: &round_digits,
    };
    lines(markup, "Distribution of latencies", &x, &y, &series);
}

/// The runs whose lines are shown: of several modes one each, with the first number of threads. The table has all.
fn shown(bundle: &BundleFigures) -> Vec<&RunFigures> {
    let Some(first) = bundle.runs.first() else { return Vec::new() };
    let is_one_mode = bundle.runs.iter().all(|run| run.isolation == first.isolation);
    let is_shown = |run: &&RunFigures| is_one_mode || run.threads == first.threads;
    bundle.runs.iter().filter(is_shown).take(MAX_SHOWN).collect()
}

/// The points of a line: each bin's middle with its part of all events in percent, and none beside bins that have no neighbour.
fn distribution(bins: &[LatencyBin]) -> Vec<(f64, f64)> {
    let all: f64 = bins.iter().map(|(.., count)| *count as f64).sum();
    let part = |count: u64| 100.0 * count as f64 / all.max(1.0);
    let mut points = Vec::with_capacity(bins.len() + 2);
    for (index, (from, to, count)) in bins.iter().enumerate() {
        let (middle, width) = ((from * to).sqrt(), to / from.max(1.0));
        let before = index.checked_sub(1).and_then(|before| bins.get(before));
        if before.is_none_or(|(_, end, _)| end < from) {
            points.push((middle / width, 0.0));
        }
        points.push((middle, part(*count)));
        if bins.get(index + 1).is_none_or(|(start, ..)| start > to) {
            points.push((middle * width, 0.0));
        }
    }
    points
}
