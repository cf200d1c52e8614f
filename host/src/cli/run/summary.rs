//! What a run came to, for a person.

use std::fmt::Write as _;
use std::time::Duration;

use retort::runtime::Summary;

/// The summary of all, with the rate of what was added to an earlier one in this time.
pub(super) fn describe(summary: &Summary, took: Option<(&Summary, Duration)>) -> String {
    let Summary {
        events,
        results,
        in_part,
        dropped,
        empty,
        unrouted,
        rejects,
        bytes,
        fuel,
        failed_conversions,
    } = summary;
    let rejected = summary.rejected();
    let mut text = format!(
        "{events} events: {results} results, {empty} empty, {unrouted} unrouted, {rejected} rejected"
    );
    text.push('\n');
    if let Some((before, elapsed)) = took.filter(|(_, elapsed)| !elapsed.is_zero()) {
        let seconds = elapsed.as_secs_f64();
        let rate = (events - before.events) as f64 / seconds;
        let megabytes = (bytes - before.bytes) as f64 / 1e6 / seconds;
        let _ = write!(text, "{seconds:.3} s, {rate:.0} events/s, {megabytes:.1} MB/s, ");
    }
    let _ = write!(text, "{fuel} fuel");
    if *failed_conversions > 0 {
        let _ = write!(text, ", {failed_conversions} failed conversions");
    }
    if *in_part > 0 {
        let _ = write!(text, ", {in_part} results in part");
    }
    for (code, count) in dropped {
        let _ = write!(text, "\n{count:>8} {code} dropped");
    }
    for (code, count) in rejects {
        let _ = write!(text, "\n{count:>8} {code}");
    }
    text
}
