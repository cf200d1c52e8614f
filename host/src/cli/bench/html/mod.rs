//! A page with the figures: one file, which loads nothing and runs nothing.

mod bars;
mod changes;
mod lines;
mod markup;
mod plot;
mod scale;
mod sections;

use super::figures::{digits, grouped, nanoseconds};
use super::report::BenchReport;
use markup::Markup;

/// The whole page. `baseline` is the report that was compared with.
pub(super) fn page(report: &BenchReport, baseline: Option<&BenchReport>) -> String {
    let mut markup = Markup::default();
    markup.raw("<!DOCTYPE html>\n");
    markup.element("html", &[("lang", &"en")], |markup| {
        markup.element("head", &[], |markup| {
            markup.empty("meta", &[("charset", &"utf-8")]);
            markup.empty(
                "meta",
                &[("name", &"viewport"), ("content", &"width=device-width, initial-scale=1")],
            );
            // Whatever a browser might take for something to load or to run: it may not.
            let policy = "default-src 'none'; style-src 'unsafe-inline'";
            markup
                .empty("meta", &[("http-equiv", &"Content-Security-Policy"), ("content", &policy)]);
            markup.leaf("title", &[], format!("retort bench, {}", report.measured_at));
            markup.element("style", &[], |markup| markup.raw(include_str!("style.css")));
        });
        markup.element("body", &[], |markup| {
            markup.element("main", &[], |markup| {
                head(markup, report);
                sections::comparison(markup, report);
                sections::throughput(markup, report, baseline);
                sections::latency(markup, report, baseline);
                sections::steps(markup, report, baseline);
                sections::threads(markup, report, baseline);
                sections::cold_starts(markup, report, baseline);
                sections::metering(markup, report);
                sections::how(markup, report);
            });
        });
    });
    markup.raw("\n");
    markup.finish()
}

/// The title, and for each bundle the one figure that is asked for first.
fn head(markup: &mut Markup, report: &BenchReport) {
    markup.leaf("h1", &[], "retort bench");
    let on = super::table::on(&report.machine);
    markup.leaf("p", &[("class", &"soft")], format!("{}, on {on}", report.measured_at));
    markup.element("div", &[("class", &"tiles")], |markup| {
        for bundle in &report.bundles {
            let Some(run) = bundle.runs.first() else { continue };
            markup.element("div", &[("class", &"tile")], |markup| {
                markup.leaf("span", &[], report.name_of(bundle));
                markup.leaf("b", &[], format!("{} events/s", grouped(run.events_per_s)));
                let each = nanoseconds(run.ns_per_event.median);
                let megabytes = digits(run.mb_per_s);
                markup.leaf("span", &[], format!("{each} an event, {megabytes} MB/s"));
                markup.leaf("span", &[], run.what());
            });
        }
    });
}
