//! A new version beside the one that is served: it has a share of the same events, and what it gives is compared and given to nobody.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::version::Version;
use crate::bundle::{Digest, ExtractorName, Hold};
use crate::graph::Extraction;

/// How a version has done beside the one that is served.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
#[non_exhaustive]
pub struct ShadowReport {
    /// Events that both have had.
    pub events: u64,
    /// Those of which both gave the same; or both none.
    pub same: u64,
    /// Those of which both gave a result, and not the same one.
    pub different: u64,
    /// Those of which it gave none, and the one that is served did.
    pub failed: u64,
    /// Those of which it gave a result, and the one that is served none.
    pub gained: u64,
}

/// When a version takes the place of the one that is served.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Promotion {
    /// So many events at least were compared. Default 1,000.
    pub least_events: u64,
    /// At most this part of them gave something else. Default 0.
    pub most_different: f64,
    /// At most this part of them gave nothing any more. Default 0.
    pub most_failed: f64,
}

impl Default for Promotion {
    fn default() -> Self {
        Self { least_events: 1_000, most_different: 0.0, most_failed: 0.0 }
    }
}

impl Promotion {
    /// The default with other figures.
    #[must_use]
    pub fn new(least_events: u64, most_different: f64, most_failed: f64) -> Self {
        Self { least_events, most_different, most_failed }
    }

    /// Why a version isn't to be promoted, if it isn't.
    pub(super) fn objection(&self, report: &ShadowReport) -> Option<String> {
        let ShadowReport { events, different, failed, .. } = *report;
        if events < self.least_events {
            return Some(format!("it has had {events} events, {} are wanted", self.least_events));
        }
        let is_over = |found: u64, most: f64| found as f64 > most * events as f64;
        if is_over(failed, self.most_failed) {
            return Some(format!("it has failed on {failed} of {events} events"));
        }
        if is_over(different, self.most_different) {
            return Some(format!("it has given something else for {different} of {events} events"));
        }
        None
    }
}

/// A version that runs beside another one.
#[derive(Debug)]
pub(super) struct Shadow {
    /// Whose versions they are.
    pub(super) name: ExtractorName,
    pub(super) version: Arc<Version>,
    /// It keeps the version from being removed, be it loaded or not.
    _hold: Arc<Hold>,
    share: f64,
    events: AtomicU64,
    report: Mutex<ShadowReport>,
}

impl Shadow {
    pub(super) fn new(version: Arc<Version>, hold: Arc<Hold>, share: f64) -> Self {
        let (name, events, report) = (version.name.clone(), AtomicU64::new(0), Mutex::default());
        Self { name, version, _hold: hold, share, events, report }
    }

    pub(super) fn digest(&self) -> Digest {
        self.version.digest
    }

    /// Whether it has this event: so many of each hundred, spread evenly.
    pub(super) fn is_due(&self) -> bool {
        let number = self.events.fetch_add(1, Ordering::Relaxed) as f64;
        ((number + 1.0) * self.share).floor() > (number * self.share).floor()
    }

    pub(super) fn report(&self) -> ShadowReport {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts an event of which the version that is served gave `served`, and this one `own`.
    pub(super) fn count(&self, served: Option<Extraction>, own: Option<Extraction>) {
        // Before the lock: it takes its time.
        let verdict = match (served.map(ordered), own.map(ordered)) {
            (Some(served), Some(own)) if served == own => Verdict::Same,
            (Some(_), Some(_)) => Verdict::Different,
            (Some(_), None) => Verdict::Failed,
            (None, Some(_)) => Verdict::Gained,
            (None, None) => Verdict::Same,
        };
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        report.events += 1;
        *match verdict {
            Verdict::Same => &mut report.same,
            Verdict::Different => &mut report.different,
            Verdict::Failed => &mut report.failed,
            Verdict::Gained => &mut report.gained,
        } += 1;
    }
}

enum Verdict {
    Same,
    Different,
    Failed,
    Gained,
}

/// The same facts in one order, since that of a result means nothing.
fn ordered(mut extraction: Extraction) -> Extraction {
    for node in &mut extraction.nodes {
        node.labels.sort_unstable();
        node.properties.sort_by(|one, other| one.name.cmp(&other.name));
    }
    for edge in &mut extraction.edges {
        edge.properties.sort_by(|one, other| one.name.cmp(&other.name));
    }
    extraction.nodes.sort_by(|one, other| one.node_id.cmp(&other.node_id));
    extraction.edges.sort_by(|one, other| one.edge_id.cmp(&other.edge_id));
    extraction.fully_handled_span_ids.sort_unstable();
    extraction.partially_handled_span_ids.sort_unstable();
    extraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_decides() {
        let report = |events, different, failed| ShadowReport {
            events,
            different,
            failed,
            ..ShadowReport::default()
        };
        let promotion = Promotion::new(100, 0.01, 0.0);
        for (report, is_promoted) in [
            (report(99, 0, 0), false),
            (report(100, 0, 0), true),
            (report(100, 1, 0), true),
            (report(100, 2, 0), false),
            (report(1_000, 0, 1), false),
        ] {
            assert_eq!(promotion.objection(&report).is_none(), is_promoted, "{report:?}");
        }
    }

    #[test]
    fn the_order_of_a_result_is_no_difference() {
        let parse = |text: &str| serde_json::from_str::<Extraction>(text).ok();
        let node = |id: &str| {
            format!(r#"{{"node_id":"{id}","entity_name":"E","labels":[],"properties":[]}}"#)
        };
        let of =
            |nodes: &[String]| parse(&format!(r#"{{"nodes":[{}],"edges":[]}}"#, nodes.join(",")));
        let (one, other) = (of(&[node("a"), node("b")]), of(&[node("b"), node("a")]));
        assert!(one.is_some() && one != other);
        assert_eq!(one.map(ordered), other.map(ordered));
    }
}
