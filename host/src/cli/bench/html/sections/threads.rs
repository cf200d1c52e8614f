//! What more threads bring.

use super::{figure, section, then};
use crate::cli::bench::figures::grouped;
use crate::cli::bench::html::lines::{Kind, Range, Series, lines};
use crate::cli::bench::html::markup::Markup;
use crate::cli::bench::report::{
    BenchReport, BundleFigures, RunFigures, threads as threads_in_words,
};

/// What more threads bring, where there are any.
pub(in super::super) fn threads(
    markup: &mut Markup,
    report: &BenchReport,
    baseline: Option<&BenchReport>,
) {
    let counts = |bundle: &BundleFigures| {
        let mut counts: Vec<usize> = bundle.runs.iter().map(|run| run.threads).collect();
        counts.sort_unstable();
        counts.dedup();
        counts
    };
    if report.bundles.iter().all(|bundle| counts(bundle).len() < 2) {
        return;
    }
    let said = format!(
        "Each thread has a runner of its own and the same events. The dotted line is what it would be if every \
         thread brought as much as those of the first figure. This machine runs {} at a time.",
        threads_in_words(report.machine.cores)
    );
    section(markup, "Throughput by threads", &said, |markup| {
        for bundle in &report.bundles {
            markup.leaf("h3", &[], report.name_of(bundle));
            figure(markup, |markup| {
                by_threads(markup, bundle, then(baseline, report, bundle), &counts(bundle));
            });
        }
    });
}

fn by_threads(
    markup: &mut Markup,
    bundle: &BundleFigures,
    then: Option<&BundleFigures>,
    counts: &[usize],
) {
    let mut modes: Vec<_> = bundle.runs.iter().map(|run| run.isolation).collect();
    modes.dedup();
    let points = |bundle: &BundleFigures, mode| -> Vec<(f64, f64)> {
        let is_shown = |run: &&RunFigures| run.isolation == mode && counts.contains(&run.threads);
        let of = bundle.runs.iter().filter(is_shown);
        let mut points: Vec<_> = of.map(|run| (run.threads as f64, run.events_per_s)).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        points
    };
    let mut series = Vec::new();
    for (colour, mode) in modes.into_iter().enumerate() {
        let measured = points(bundle, mode);
        if let (Some((fewest, rate)), Some((most, _))) = (measured.first(), measured.last()) {
            series.push(Series {
                name: "in proportion".to_owned(),
                points: vec![(*fewest, *rate), (*most, rate * most / fewest)],
                colour,
                kind: Kind::Ideal,
                has_dots: false,
            });
        }
        if let Some(then) = then {
            series.push(Series {
                name: format!("{}, baseline", mode.as_str()),
                points: points(then, mode),
                colour,
                kind: Kind::Baseline,
                has_dots: true,
            });
        }
        series.push(Series {
            name: mode.as_str().to_owned(),
            points: measured,
            colour,
            kind: Kind::Measured,
            has_dots: true,
        });
    }
    let rates = series.iter().flat_map(|it| it.points.iter().map(|(_, y)| *y));
    let to = rates.fold(0.0, f64::max);
    let ticks: Vec<f64> = counts.iter().map(|count| *count as f64).collect();
    let ends = ticks.first().copied().zip(ticks.last().copied()).unwrap_or((1.0, 2.0));
    let x = Range {
        name: "threads",
        from: ends.0,
        to: ends.1,
        is_logarithmic: false,
        ticks: Some(ticks),
        figure: &grouped,
    };
    let y = Range {
        name: "events a second",
        from: 0.0,
        to,
        is_logarithmic: false,
        ticks: None,
        figure: &grouped,
    };
    lines(markup, "Throughput by threads", &x, &y, &series);
}
