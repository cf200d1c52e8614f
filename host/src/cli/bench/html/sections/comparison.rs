//! Against an earlier run.

use super::{figure, section};
use crate::cli::bench::baseline::Comparison;
use crate::cli::bench::figures::{change, grouped};
use crate::cli::bench::html::changes::changes;
use crate::cli::bench::html::markup::Markup;
use crate::cli::bench::report::BenchReport;

/// Against the baseline, where there is one.
pub(in super::super) fn comparison(markup: &mut Markup, report: &BenchReport) {
    let Some(comparison) = &report.comparison else { return };
    let Comparison { baseline, baseline_measured_at, tolerated, slower, .. } = comparison;
    let said = format!(
        "{baseline}, measured {baseline_measured_at}. The dot is the median of the turns, the ring their quieter quarter. What \
         takes more than {} in both is slower; the band is what is tolerated.",
        change(*tolerated)
    );
    section(markup, "Against the baseline", &said, |markup| {
        let (class, verdict) = match slower {
            0 => ("verdict-line", "Nothing is slower than in the baseline.".to_owned()),
            count => {
                let all = comparison.changes.len();
                ("verdict-line slower", format!("{count} of {all} slower than in the baseline."))
            }
        };
        markup.leaf("p", &[("class", &class)], verdict);
        for it in &comparison.fuel {
            let (was, is) = (grouped(it.was as f64), grouped(it.is as f64));
            let text = format!("{}: the fuel of all events was {was} and is {is}.", it.bundle);
            markup.leaf("p", &[], text);
        }
        for note in &comparison.notes {
            markup.leaf("p", &[("class", &"soft")], note);
        }
        figure(markup, |markup| changes(markup, comparison));
    });
}
