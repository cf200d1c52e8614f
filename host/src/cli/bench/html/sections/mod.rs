//! The parts of the page, one for each question.

mod comparison;
mod how;
mod latency;
mod parts;
mod threads;
mod throughput;

pub(super) use comparison::comparison;
pub(super) use how::how;
pub(super) use latency::latency;
pub(super) use parts::{cold_starts, metering, steps};
pub(super) use threads::threads;
pub(super) use throughput::throughput;

use super::markup::Markup;
use crate::cli::bench::baseline::counterpart;
use crate::cli::bench::report::{BenchReport, BundleFigures, RunFigures};

/// A heading with what is to be known of what comes below it.
fn section(markup: &mut Markup, title: &str, said: &str, inside: impl FnOnce(&mut Markup)) {
    markup.element("section", &[], |markup| {
        markup.leaf("h2", &[], title);
        markup.leaf("p", &[("class", &"soft")], said);
        inside(markup);
    });
}

fn figure(markup: &mut Markup, inside: impl FnOnce(&mut Markup)) {
    markup.element("figure", &[], inside);
}

/// A table: its heads, and its rows.
fn table(markup: &mut Markup, heads: &[&str], rows: &[Vec<String>]) {
    markup.element("div", &[("class", &"scroll")], |markup| {
        markup.element("table", &[], |markup| {
            markup.element("thead", &[], |markup| {
                markup.element("tr", &[], |markup| {
                    heads.iter().for_each(|head| markup.leaf("th", &[], head));
                });
            });
            markup.element("tbody", &[], |markup| {
                for row in rows {
                    markup.element("tr", &[], |markup| {
                        row.iter().for_each(|cell| markup.leaf("td", &[], cell));
                    });
                }
            });
        });
    });
}

/// The bundle of the baseline that one is compared with.
fn then<'a>(
    baseline: Option<&'a BenchReport>,
    report: &BenchReport,
    bundle: &BundleFigures,
) -> Option<&'a BundleFigures> {
    counterpart(baseline?, report, bundle)
}

fn run_then<'a>(then: Option<&'a BundleFigures>, now: &RunFigures) -> Option<&'a RunFigures> {
    let same = |then: &&RunFigures| (then.isolation, then.threads) == (now.isolation, now.threads);
    then?.runs.iter().find(same)
}
