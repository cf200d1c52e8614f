//! What was measured, on what, and how.

use super::{section, table};
use crate::cli::bench::figures::{bytes, digits, grouped, percent};
use crate::cli::bench::html::markup::Markup;
use crate::cli::bench::report::{BenchReport, BundleFigures, InputFigures};

/// What was measured, on what, and how.
pub(in super::super) fn how(markup: &mut Markup, report: &BenchReport) {
    let said = "All ways take turns, some milliseconds each, so that a machine which others use as well slows none of them alone; a first \
                turn warms up and isn't counted. What counts is the median of the turns.";
    section(markup, "What was measured, and how", said, |markup| {
        let BenchReport { machine, settings, input, .. } = report;
        let mut entries = vec![
            ("measured", report.measured_at.clone()),
            ("processor", machine.cpu.clone().unwrap_or_else(|| "not known".to_owned())),
            ("cores", machine.cores.to_string()),
            ("system", format!("{} {}", machine.os, machine.arch)),
            ("retort", format!("{}, {} build", report.retort, report.build.as_str())),
            ("wasmtime", report.wasmtime.clone()),
            ("instances", settings.allocator.clone()),
            ("batches", format!("of {} events", settings.batch)),
            ("events", format!("{} for each way and thread", grouped(settings.events as f64))),
            ("input", read(input)),
        ];
        for bundle in &report.bundles {
            entries.push(("bundle", format!("{}, {}", bundle.name, bundle.fingerprint)));
        }
        markup.element("dl", &[], |markup| {
            for (term, text) in entries {
                markup.leaf("dt", &[], term);
                markup.leaf("dd", &[], text);
            }
        });
        let row = |bundle: &BundleFigures| {
            let (events, fuel) = (&bundle.events, &bundle.fuel);
            let rejected: u64 = events.rejected.values().sum();
            vec![
                report.name_of(bundle),
                grouped(events.count as f64),
                bytes(events.mean_bytes()),
                bytes(events.result_bytes as f64 / events.count.max(1) as f64),
                percent(events.empty as f64 / events.count.max(1) as f64),
                grouped(rejected as f64),
                digits(fuel.per_event),
                grouped(fuel.most as f64),
            ]
        };
        let heads = [
            "bundle",
            "events",
            "an event",
            "a result",
            "declined",
            "rejected",
            "fuel",
            "most fuel",
        ];
        table(markup, &heads, &report.bundles.iter().map(row).collect::<Vec<_>>());
    });
}

/// What was read of the input, in a sentence.
fn read(input: &InputFigures) -> String {
    let rejected: u64 = input.rejected.values().sum();
    let codes: Vec<String> =
        input.rejected.iter().map(|(code, count)| format!("{count} {code}")).collect();
    let codes = if codes.is_empty() { String::new() } else { format!(" ({})", codes.join(", ")) };
    let more = if input.complete { "" } else { ", and more that weren't read" };
    format!(
        "{}: {} lines{more}; {rejected} are no event{codes}, {} are of types that no bundle declares",
        input.origin,
        grouped(input.lines as f64),
        grouped(input.unrouted as f64)
    )
}
