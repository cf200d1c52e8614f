//! What the events of a corpus came to.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::parity::Divergence;
use super::told;
use crate::diagnostics::untrusted::sanitize;
use crate::runtime::fallback::{Decided, Decision};

/// How much of one id, code or message is in a sample.
const SHOWN_CHARS: usize = 200;

/// How many ids are in a sample.
const SHOWN_IDS: usize = 20;

/// What the events of a corpus came to: how each was decided, and whether what a bundle gave is what the reference gives.
///
/// Rates are worked out when they are asked for. Of no events each of them is 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RevalidationReport {
    /// The same by event type.
    pub counts_by_event_type: BTreeMap<String, TypeCounts>,
    /// Events that were counted.
    pub total_events: u64,
    /// Events that weren't, since nobody is for their type, or they have none.
    pub skipped_events: u64,
    /// Events of which the bundle's result is right as a whole.
    pub total_compiled_unchanged: u64,
    /// Events of which a part of the bundle's result is right.
    pub total_compiled_filtered: u64,
    /// Events for which a fallback would be needed.
    pub total_fallback_for_event: u64,
    /// Those of them for which the bundle has failed.
    pub total_compiled_path_faults: u64,
    /// Events of which the bundle and the reference give the same.
    pub total_parity_matches: u64,
    /// Events of which they don't.
    pub total_parity_divergences: u64,
    /// Events of which the bundle gave nothing that could be compared.
    pub total_parity_not_checked: u64,
    /// The first events whose result isn't right as a whole, and why.
    pub sample_decision_divergences: Vec<String>,
    /// The first events of which bundle and reference differ, and in what.
    pub sample_parity_divergences: Vec<String>,
    /// When it began: UTC, in whole seconds.
    pub started_at: String,
    /// When it ended.
    pub finished_at: String,
}

/// What the events of one type came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TypeCounts {
    /// The type.
    pub event_type: String,
    /// Events.
    pub total: u64,
    /// As in the [report](RevalidationReport::total_compiled_unchanged).
    pub compiled_unchanged: u64,
    /// As in the [report](RevalidationReport::total_compiled_filtered).
    pub compiled_filtered: u64,
    /// As in the [report](RevalidationReport::total_fallback_for_event).
    pub fallback_for_event: u64,
    /// As in the [report](RevalidationReport::total_compiled_path_faults).
    pub compiled_path_faults: u64,
    /// As in the [report](RevalidationReport::total_parity_matches).
    pub parity_matches: u64,
    /// As in the [report](RevalidationReport::total_parity_divergences).
    pub parity_divergences: u64,
    /// As in the [report](RevalidationReport::total_parity_not_checked).
    pub parity_not_checked: u64,
}

impl RevalidationReport {
    pub(super) fn begun(at: jiff::Timestamp) -> Self {
        Self { started_at: in_seconds(at), ..Self::default() }
    }

    pub(super) fn finished(self, at: jiff::Timestamp) -> Self {
        Self { finished_at: in_seconds(at), ..self }
    }

    /// Counts an event, and keeps what is told of it among the first `samples` of its kind.
    pub fn count(
        &mut self,
        event_type: &str,
        decided: &Decided,
        parity: Option<Result<(), Divergence>>,
        samples: usize,
    ) {
        let of_type = self.counts_by_event_type.entry(event_type.to_owned()).or_insert_with(|| {
            TypeCounts { event_type: event_type.to_owned(), ..TypeCounts::default() }
        });
        let is_fault = decided.error.is_some();
        let (decision, of_decision) = match decided.decision {
            Decision::CompiledUnchanged => {
                (&mut self.total_compiled_unchanged, &mut of_type.compiled_unchanged)
            }
            Decision::CompiledFiltered => {
                (&mut self.total_compiled_filtered, &mut of_type.compiled_filtered)
            }
            Decision::FallbackForEvent => {
                (&mut self.total_fallback_for_event, &mut of_type.fallback_for_event)
            }
        };
        let (parities, of_parity) = match &parity {
            Some(Ok(())) => (&mut self.total_parity_matches, &mut of_type.parity_matches),
            Some(Err(_)) => (&mut self.total_parity_divergences, &mut of_type.parity_divergences),
            None => (&mut self.total_parity_not_checked, &mut of_type.parity_not_checked),
        };
        for counter in [decision, of_decision, parities, of_parity] {
            *counter += 1;
        }
        self.total_events += 1;
        of_type.total += 1;
        self.total_compiled_path_faults += u64::from(is_fault);
        of_type.compiled_path_faults += u64::from(is_fault);
        let event_type = sanitize(event_type, SHOWN_CHARS);
        if decided.decision != Decision::CompiledUnchanged
            && self.sample_decision_divergences.len() < samples
        {
            self.sample_decision_divergences.push(format!("{event_type}: {}", shown(decided)));
        }
        if let Some(Err(divergence)) = parity
            && self.sample_parity_divergences.len() < samples
        {
            self.sample_parity_divergences.push(format!("{event_type}: {divergence}"));
        }
    }

    /// The part of the events whose result is right as a whole.
    #[must_use]
    pub fn compiled_unchanged_rate(&self) -> f64 {
        rate(self.total_compiled_unchanged, self.total_events)
    }

    /// The part of the events of whose result a part is right.
    #[must_use]
    pub fn compiled_filtered_rate(&self) -> f64 {
        rate(self.total_compiled_filtered, self.total_events)
    }

    /// The part of the events for which a fallback would be needed.
    #[must_use]
    pub fn fallback_for_event_rate(&self) -> f64 {
        rate(self.total_fallback_for_event, self.total_events)
    }

    /// The part of the events for which the bundle has failed.
    #[must_use]
    pub fn compiled_path_fault_rate(&self) -> f64 {
        rate(self.total_compiled_path_faults, self.total_events)
    }

    /// The part of the events that were compared of which bundle and reference give the same.
    #[must_use]
    pub fn parity_match_rate(&self) -> f64 {
        let compared = self.total_parity_matches + self.total_parity_divergences;
        rate(self.total_parity_matches, compared)
    }
}

fn rate(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

/// Why a result isn't right as a whole.
fn shown(decided: &Decided) -> String {
    let ids = |name: &str, ids: &BTreeSet<String>| format!("{name}={}", listed(ids));
    let (decision, why) = match decided.decision {
        Decision::CompiledUnchanged => ("compiled_unchanged", String::new()),
        Decision::CompiledFiltered => {
            let dropped = &decided.dropped;
            let why = match (dropped.node_ids.is_empty(), dropped.edge_ids.is_empty()) {
                (false, _) => ids("nodes", &dropped.node_ids),
                (true, false) => ids("edges", &dropped.edge_ids),
                (true, true) => {
                    let names = dropped.properties.iter().map(|it| it.name.clone()).collect();
                    ids("properties", &names)
                }
            };
            ("compiled_filtered", why)
        }
        Decision::FallbackForEvent => {
            let why = match &decided.error {
                Some(error) => format!("exception={}", sanitize(&told(error), SHOWN_CHARS)),
                None => {
                    let codes = decided.failures.iter().map(|it| it.code.name.to_owned());
                    ids("validator_codes", &codes.collect())
                }
            };
            ("fallback_for_event", why)
        }
    };
    format!("{decision} ({why})")
}

fn listed(ids: &BTreeSet<String>) -> String {
    let quoted = |it: &String| format!("'{}'", sanitize(it, SHOWN_CHARS));
    let mut listed: Vec<String> = ids.iter().take(SHOWN_IDS).map(quoted).collect();
    if ids.len() > SHOWN_IDS {
        listed.push("..".to_owned());
    }
    format!("[{}]", listed.join(", "))
}

fn in_seconds(at: jiff::Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
