//! What changed since the baseline: each way on one axis, with what is tolerated as a band.

use super::markup::{Attribute, Markup};
use super::plot::{AXIS, ROW, ROWS_FROM, WIDTH, axis_below, drawing, fitting, line, rect, text};
use super::scale::Scale;
use crate::cli::bench::baseline::{Change, Comparison, Verdict};
use crate::cli::bench::figures::{change, nanoseconds};

/// Where the axis ends; the verdicts come after it.
const END: f64 = 700.0;
/// What is above the first row.
const TOP: f64 = 6.0;

/// The plot of a comparison: a dot for the median, a ring for the quieter quarter of the turns.
pub(super) fn changes(markup: &mut Markup, comparison: &Comparison) {
    let beyond = |it: &Change| percent(it.ratio).abs().max(percent(it.quiet_ratio).abs());
    let tolerated = percent(comparison.tolerated);
    let most = comparison.changes.iter().map(beyond).fold(tolerated, f64::max).max(5.0) * 1.1;
    let scale = Scale::between(-most, most, ROWS_FROM, END);
    let is_first = |index: usize, it: &Change| {
        let before = index.checked_sub(1).and_then(|before| comparison.changes.get(before));
        before.is_none_or(|before| before.bundle != it.bundle)
    };
    let rows = comparison.changes.iter().enumerate();
    let heads = rows.clone().filter(|(index, it)| is_first(*index, it)).count();
    let bottom = TOP + (comparison.changes.len() + heads) as f64 * ROW + 4.0;
    drawing(markup, bottom + AXIS, "Changes since the baseline", |markup| {
        let from = scale.place(percent(1.0 / comparison.tolerated));
        let band = scale.place(tolerated) - from;
        let title = format!("tolerated: {}", change(comparison.tolerated));
        rect(markup, (from, TOP), (band, bottom - TOP), "band", &title);
        let name = "time, against the baseline";
        let figure =
            |percent: f64| change(1.0 + percent / 100.0).replace(".0 %", " %").replace("+0 ", "0 ");
        axis_below(markup, &scale, &scale.ticks(), (TOP, bottom), name, figure);
        line(markup, (scale.place(0.0), TOP), (scale.place(0.0), bottom), "zero");
        let mut y = TOP - ROW / 2.0;
        for (index, it) in rows {
            if is_first(index, it) {
                y += ROW;
                text(markup, 0.0, y + 5.0, "head", fitting(&it.bundle, ROWS_FROM - 12.0));
            }
            y += ROW;
            row(markup, &scale, y, it);
        }
    });
}

fn row(markup: &mut Markup, scale: &Scale, y: f64, it: &Change) {
    text(markup, 14.0, y + 4.0, "row", fitting(&it.what, ROWS_FROM - 24.0));
    let (median, quiet) = (scale.place(percent(it.ratio)), scale.place(percent(it.quiet_ratio)));
    line(markup, (median, y), (quiet, y), "half");
    let verdict = it.verdict.as_str();
    for (cx, kind, of, ratio) in [
        (quiet, "ring", "quieter quarter of the turns", it.quiet_ratio),
        (median, "dot", "median", it.ratio),
    ] {
        let class = format!("{kind} {verdict}");
        let attributes: [Attribute<'_>; 4] =
            [("cx", &cx), ("cy", &y), ("r", &5), ("class", &class)];
        markup.element("circle", &attributes, |markup| {
            markup.leaf("title", &[], format!("{of}: {}", change(ratio)));
        });
    }
    let said = format!("{} to {}", nanoseconds(it.was_ns), nanoseconds(it.is_ns));
    let mark = match it.verdict {
        Verdict::Same => "",
        Verdict::Faster => ", faster",
        Verdict::Slower => ", slower",
    };
    let class = format!("end verdict {verdict}");
    text(markup, WIDTH, y + 4.0, &class, format!("{said}{mark}"));
}

/// A ratio as a change in percent.
fn percent(ratio: f64) -> f64 {
    100.0 * (ratio - 1.0)
}
