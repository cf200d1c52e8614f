//! What times are made of: the steps of an event, a cold start, and what limits add to a call.

use super::{figure, run_then, section, then};
use crate::cli::bench::figures::{nanoseconds, round_digits, round_nanoseconds};
use crate::cli::bench::html::bars::{Axis, Bar, Group, Part, Stack, bars, stacks};
use crate::cli::bench::html::markup::Markup;
use crate::cli::bench::html::plot::{colour, legend};
use crate::cli::bench::report::{
    BenchReport, BundleFigures, ColdStart, MeteringFigures, RunFigures,
};
use crate::cli::bench::turns::Spread;

/// What is added to the name of a row that shows how it was.
const BASELINE: &str = ", baseline";

/// Where the time of an event goes.
pub(in super::super) fn steps(
    markup: &mut Markup,
    report: &BenchReport,
    baseline: Option<&BenchReport>,
) {
    let said = "One thread, the clock being looked at after each step; after each bar is what all of them take together. Project: the event is validated, and what the plan declares is \
                found in it. Copy in: conditions, templates and conversions are evaluated, and the guest's input is written. Instantiate: \
                a new instance, where none is kept. Guest: the call. Check: of the result.";
    let stack = |run: &RunFigures, when: &str| {
        let steps = run.steps.as_ref()?;
        let all: f64 = steps.ns_per_event.named().iter().map(|(_, ns)| ns).sum();
        let both = steps.share.named().into_iter().zip(steps.ns_per_event.named());
        let part = |((name, share), (_, ns)): ((&'static str, f64), (&str, f64))| Part {
            name,
            value: 100.0 * share,
            said: nanoseconds(ns),
        };
        let name = format!("{}{when}", run.isolation.as_str());
        Some(Stack { name, parts: both.map(part).collect(), said: nanoseconds(all) })
    };
    let group = |bundle: &BundleFigures| {
        let before = then(baseline, report, bundle);
        let rows = bundle.runs.iter().filter(|run| run.steps.is_some()).flat_map(|run| {
            let was = run_then(before, run).and_then(|then| stack(then, BASELINE));
            stack(run, "").into_iter().chain(was)
        });
        Group { name: report.name_of(bundle), rows: rows.collect() }
    };
    let groups: Vec<Group<Stack>> = report.bundles.iter().map(group).collect();
    section(markup, "Where the time goes", said, |markup| {
        figure(markup, |markup| {
            let first = groups.iter().flat_map(|group| &group.rows).next();
            let names = first.into_iter().flat_map(|stack| stack.parts.iter().enumerate());
            legend(markup, names.map(|(index, part)| (colour(index), part.name)));
            let axis = Axis { name: "% of the time of one event", figure: &round_digits };
            stacks(markup, "Share of each step", &axis, &groups);
        });
    });
}

/// Loading and the first event, where that was measured.
pub(in super::super) fn cold_starts(
    markup: &mut Markup,
    report: &BenchReport,
    baseline: Option<&BenchReport>,
) {
    if report.bundles.iter().all(|bundle| bundle.cold_starts.is_empty()) {
        return;
    }
    let said = "A bundle is read from disk, checked against its digests, inspected, compiled or taken from the cache of native code, and \
                runs its first event; the engine is there already, and the files are in the system's memory.";
    let part = |name, value| Part { name, value, said: nanoseconds(value) };
    let stack = |start: &ColdStart, when: &str| Stack {
        name: format!("{}{when}", start.what()),
        parts: vec![
            part("load", start.load_ns.median),
            part("first event", start.first_event_ns.median),
        ],
        said: nanoseconds(start.total_ns.median),
    };
    let group = |bundle: &BundleFigures| {
        let before = then(baseline, report, bundle);
        let rows = bundle.cold_starts.iter().flat_map(|start| {
            let starts = before.into_iter().flat_map(|then| &then.cold_starts);
            let was = starts.filter(|then| then.cached == start.cached);
            std::iter::once(stack(start, "")).chain(was.map(|then| stack(then, BASELINE)))
        });
        Group { name: report.name_of(bundle), rows: rows.collect() }
    };
    let groups: Vec<Group<Stack>> = report.bundles.iter().map(group).collect();
    section(markup, "Cold start", said, |markup| {
        figure(markup, |markup| {
            legend(markup, [(colour(0), "load"), (colour(1), "first event")]);
            let axis = Axis { name: "time until the first result", figure: &round_nanoseconds };
            stacks(markup, "Time of a cold start", &axis, &groups);
        });
    });
}

/// What it costs to hold a guest to its limits, where that was measured.
pub(in super::super) fn metering(markup: &mut Markup, report: &BenchReport) {
    if report.bundles.iter().all(|bundle| bundle.metering.is_empty()) {
        return;
    }
    let said = "The call into the guest alone, on blocks of events that it has run on before, in engines that count nothing, fuel, or fuel \
                and the deadline. No event is ever served without limits; this tells what they cost.";
    let bar = |it: &MeteringFigures| {
        let Spread { p25, median, p75, .. } = it.ns_per_event;
        let said = format!("{}, {:.2} times", nanoseconds(median), it.ratio);
        let name = it.what().to_owned();
        Bar { name, value: median, half: (p25, p75), was: None, is_own: it.fuel, said }
    };
    let group = |bundle: &BundleFigures| Group {
        name: report.name_of(bundle),
        rows: bundle.metering.iter().map(bar).collect(),
    };
    let groups: Vec<Group<Bar>> = report.bundles.iter().map(group).collect();
    section(markup, "What limits cost", said, |markup| {
        figure(markup, |markup| {
            let axis = Axis { name: "time of a call", figure: &round_nanoseconds };
            bars(markup, "Time of a call by what is counted", &axis, &groups);
        });
    });
}
