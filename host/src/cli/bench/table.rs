//! The figures for a person in a terminal.

use std::fmt::Write as _;

use super::baseline::{Comparison, Verdict};
use super::figures::{bytes, change, digits, grouped, nanoseconds, percent};
use super::report::{BenchReport, BundleFigures, ColdStart, Machine, MeteringFigures, RunFigures};
use super::turns::Spread;

/// How wide the column of names is.
const NAME: usize = 36;

/// Writes to a text, which takes everything.
macro_rules! line {
    ($text:expr, $($arguments:tt)*) => {{
        let _ = writeln!($text, $($arguments)*);
    }};
}

/// All of a report.
pub(super) fn of(report: &BenchReport) -> String {
    let mut text = String::new();
    line!(text, "{}", on(&report.machine));
    line!(
        text,
        "retort {}, {} build, wasmtime {}, instances {}",
        report.retort,
        report.build.as_str(),
        report.wasmtime,
        report.settings.allocator
    );
    for bundle in &report.bundles {
        bundle_of(&mut text, bundle);
    }
    if let Some(comparison) = &report.comparison {
        compared(&mut text, comparison);
    }
    text
}

/// The machine in a line.
pub(super) fn on(machine: &Machine) -> String {
    let cpu = machine.cpu.as_deref().unwrap_or("a processor that the system doesn't name");
    let cores = if machine.cores == 1 { "core" } else { "cores" };
    format!("{cpu}, {} {cores}, {} {}", machine.cores, machine.os, machine.arch)
}

fn bundle_of(text: &mut String, bundle: &BundleFigures) {
    let BundleFigures { name, fingerprint, events, fuel, .. } = bundle;
    let digits: String = fingerprint.chars().take(8).collect();
    line!(
        text,
        "\n{name} ({digits}..): {} events of {}, {} of them declined; fuel {} an event, {:.3} a byte",
        grouped(events.count as f64),
        bytes(events.mean_bytes()),
        events.empty,
        self::digits(fuel.per_event),
        fuel.per_byte,
    );
    rates(text, bundle);
    latencies(text, &bundle.runs);
    steps(text, &bundle.runs);
    if !bundle.cold_starts.is_empty() {
        cold_starts(text, &bundle.cold_starts);
    }
    if !bundle.metering.is_empty() {
        metering(text, &bundle.metering);
    }
}

fn rates(text: &mut String, bundle: &BundleFigures) {
    line!(
        text,
        "  {:NAME$}{:>10}{:>22}{:>14}{:>10}{:>10}",
        "throughput",
        "an event",
        "half of the turns",
        "events/s",
        "MB/s",
        "time"
    );
    let mut row = |name: &str, spread: &Spread, (events, megabytes): (f64, f64), ratio: f64| {
        line!(
            text,
            "  {name:NAME$}{:>10}{:>22}{:>14}{:>10}{:>10}",
            nanoseconds(spread.median),
            half(spread),
            grouped(events),
            digits(megabytes),
            format!("x {}", digits(ratio))
        );
    };
    for run in &bundle.runs {
        row(&run.what(), &run.ns_per_event, (run.events_per_s, run.mb_per_s), run.ratio);
    }
    for peer in &bundle.peers {
        row(peer.what(), &peer.ns_per_event, (peer.events_per_s, peer.mb_per_s), peer.ratio);
    }
}

/// Between which figures half of the turns were.
fn half(spread: &Spread) -> String {
    format!("{} to {}", nanoseconds(spread.p25), nanoseconds(spread.p75))
}

fn latencies(text: &mut String, runs: &[RunFigures]) {
    line!(
        text,
        "  {:NAME$}{:>10}{:>10}{:>10}{:>10}{:>10}",
        "latency",
        "p50",
        "p90",
        "p99",
        "p99.9",
        "most"
    );
    for run in runs {
        let figures = &run.latency_ns;
        let of = |value: u64| nanoseconds(value as f64);
        line!(
            text,
            "  {:NAME$}{:>10}{:>10}{:>10}{:>10}{:>10}",
            run.what(),
            of(figures.p50),
            of(figures.p90),
            of(figures.p99),
            of(figures.p999),
            of(figures.max)
        );
    }
}

fn steps(text: &mut String, runs: &[RunFigures]) {
    let measured: Vec<_> =
        runs.iter().filter_map(|run| Some((run.isolation, run.steps.as_ref()?))).collect();
    let Some((_, first)) = measured.first() else { return };
    let names = first.share.named().map(|(name, _)| format!("{name:>12}"));
    line!(text, "  {:NAME$}{}", "steps", names.concat());
    for (isolation, steps) in measured {
        let shares = steps.share.named().map(|(_, share)| format!("{:>12}", percent(share)));
        line!(text, "  {:NAME$}{}", isolation.as_str(), shares.concat());
    }
}

fn cold_starts(text: &mut String, starts: &[ColdStart]) {
    line!(text, "  {:NAME$}{:>10}{:>14}{:>10}", "", "load", "first event", "both");
    for start in starts {
        line!(
            text,
            "  {:NAME$}{:>10}{:>14}{:>10}",
            start.what(),
            nanoseconds(start.load_ns.median),
            nanoseconds(start.first_event_ns.median),
            nanoseconds(start.total_ns.median)
        );
    }
}

fn metering(text: &mut String, figures: &[MeteringFigures]) {
    line!(
        text,
        "  {:NAME$}{:>10}{:>22}{:>14}",
        "the guest alone",
        "a call",
        "half of the turns",
        "times"
    );
    for it in figures {
        let MeteringFigures { ns_per_event, ratio, .. } = it;
        line!(
            text,
            "  {:NAME$}{:>10}{:>22}{:>14}",
            it.what(),
            nanoseconds(ns_per_event.median),
            half(ns_per_event),
            format!("{ratio:.2}")
        );
    }
}

fn compared(text: &mut String, comparison: &Comparison) {
    let Comparison { baseline, baseline_measured_at, tolerated, slower, changes, fuel, .. } =
        comparison;
    line!(
        text,
        "\nagainst {baseline}, measured {baseline_measured_at}; more than {} is slower",
        change(*tolerated)
    );
    let mut bundle = "";
    line!(
        text,
        "  {:NAME$}{:>10}{:>10}{:>10}{:>16}  verdict",
        "",
        "was",
        "is",
        "median",
        "quiet quarter"
    );
    for it in changes {
        if it.bundle != bundle {
            bundle = &it.bundle;
            line!(text, "  {bundle}");
        }
        line!(
            text,
            "  {:NAME$}{:>10}{:>10}{:>10}{:>16}  {}",
            format!("  {}", it.what),
            nanoseconds(it.was_ns),
            nanoseconds(it.is_ns),
            change(it.ratio),
            change(it.quiet_ratio),
            if it.verdict == Verdict::Slower { "SLOWER" } else { it.verdict.as_str() }
        );
    }
    for it in fuel {
        let ratio = change(it.is as f64 / it.was.max(1) as f64);
        let (was, is) = (grouped(it.was as f64), grouped(it.is as f64));
        line!(text, "  {}: fuel of all events {was}, now {is} ({ratio})", it.bundle);
    }
    match slower {
        0 => line!(text, "nothing is slower"),
        count => line!(text, "{count} of {} slower", changes.len()),
    }
}
