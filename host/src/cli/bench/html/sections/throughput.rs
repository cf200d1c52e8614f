//! How much is dealt with in a second.

use super::{figure, run_then, section, then};
use crate::cli::bench::figures::{bytes, digits, grouped, round_digits};
use crate::cli::bench::html::bars::{Axis, Bar, Group, bars};
use crate::cli::bench::html::markup::Markup;
use crate::cli::bench::html::plot::{colour, legend};
use crate::cli::bench::report::{BenchReport, BundleFigures};
use crate::cli::bench::turns::Spread;

/// Millions of bytes a second, where an event of so many bytes takes so long.
fn rate(mean_bytes: f64, nanoseconds: f64) -> f64 {
    if nanoseconds > 0.0 { mean_bytes * 1e3 / nanoseconds } else { 0.0 }
}

/// How much of the input is dealt with in a second.
pub(in super::super) fn throughput(
    markup: &mut Markup,
    report: &BenchReport,
    baseline: Option<&BenchReport>,
) {
    let said = "Events read, validated, extracted and checked, with every limit on. Bars are medians of turns, the line in each is \
                where half of the turns were. Grey is what else deals with the same events, on one thread: the native evaluator of the \
                plan, which parses each event whole; and reading or validating alone, which extracts nothing.";
    section(markup, "Throughput", said, |markup| {
        let bar = |name: String, spread: &Spread, events: f64, bundle: &BundleFigures| {
            let rate = |nanoseconds| rate(bundle.events.mean_bytes(), nanoseconds);
            let value = rate(spread.median);
            let said = format!("{} MB/s, {} events/s", digits(value), grouped(events));
            let half = (rate(spread.p75), rate(spread.p25));
            Bar { name, value, half, was: None, is_own: true, said }
        };
        let group = |bundle: &BundleFigures| {
            let before = then(baseline, report, bundle);
            let runs = bundle.runs.iter().map(|run| {
                let was = run_then(before, run)
                    .zip(before)
                    .map(|(run, before)| rate(before.events.mean_bytes(), run.ns_per_event.median));
                Bar { was, ..bar(run.what(), &run.ns_per_event, run.events_per_s, bundle) }
            });
            let peers = bundle.peers.iter().map(|peer| Bar {
                is_own: false,
                ..bar(peer.what().to_owned(), &peer.ns_per_event, peer.events_per_s, bundle)
            });
            let size = bytes(bundle.events.mean_bytes());
            let name = format!("{}, events of {size}", report.name_of(bundle));
            Group { name, rows: runs.chain(peers).collect() }
        };
        let groups: Vec<Group<Bar>> = report.bundles.iter().map(group).collect();
        figure(markup, |markup| {
            if baseline.is_some() {
                legend(
                    markup,
                    [
                        (colour(0), "this run"),
                        ("was".to_owned(), "the baseline"),
                        ("other".to_owned(), "for comparison"),
                    ],
                );
            }
            let axis = Axis { name: "MB of events a second", figure: &round_digits };
            bars(markup, "Throughput by bundle and mode", &axis, &groups);
        });
    });
}
