//! How long single events take.

use super::{figure, run_then, section, table, then};
use crate::cli::bench::figures::{nanoseconds, round_digits, round_nanoseconds};
use crate::cli::bench::html::lines::{Kind, Range, Series, lines};
use crate::cli::bench::html::markup::Markup;
use crate::cli::bench::report::{BenchReport, BundleFigures, RunFigures};

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
            figure(markup, |markup| latencies(markup, bundle, then(baseline, bundle)));
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
    let distribution = |run: &RunFigures| -> Vec<(f64, f64)> {
        let bins = &run.latency_ns.histogram;
        let all: u64 = bins.iter().map(|(.., count)| count).sum();
        let part = |count: u64| 100.0 * count as f64 / all.max(1) as f64;
        bins.iter().map(|(from, to, count)| ((from * to).sqrt(), part(*count))).collect()
    };
    let mut series = Vec::new();
    for (colour, run) in bundle.runs.iter().enumerate().take(MAX_SHOWN) {
        let measured = |name, run, kind| Series {
            name,
            points: distribution(run),
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
