//! What a stream came to.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::graph::Failure;

/// Counts over a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Events: lines that aren't blank.
    pub events: u64,
    /// Events that gave a node, an edge or a handled span.
    pub results: u64,
    /// Those of them whose result was written in part, since the rest of it doesn't fit the graph spec.
    pub in_part: u64,
    /// What was wrong with those, by code.
    pub dropped: BTreeMap<&'static str, u64>,
    /// Events that their extractor declined.
    pub empty: u64,
    /// Valid events whose type no bundle serves.
    pub unrouted: u64,
    /// Failed events, by code.
    pub rejects: BTreeMap<&'static str, u64>,
    /// Bytes of all events.
    pub bytes: u64,
    /// Fuel of all calls that gave a result.
    pub fuel: u64,
    /// Conversions that failed in them, and left a value out.
    pub failed_conversions: u64,
}

impl Summary {
    /// How many events failed.
    #[must_use]
    pub fn rejected(&self) -> u64 {
        self.rejects.values().sum()
    }

    /// Notes a result that is written in part.
    pub(crate) fn note_dropped(&mut self, failures: &[Failure]) {
        self.in_part += 1;
        for failure in failures {
            *self.dropped.entry(failure.code.name).or_default() += 1;
        }
    }

    /// Adds what another part of the events came to.
    pub fn add(&mut self, other: &Self) {
        let Self {
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
        } = other;
        self.events += events;
        self.results += results;
        self.in_part += in_part;
        self.empty += empty;
        self.unrouted += unrouted;
        for (sums, counts) in [(&mut self.dropped, dropped), (&mut self.rejects, rejects)] {
            for (code, count) in counts {
                *sums.entry(code).or_default() += count;
            }
        }
        self.bytes += bytes;
        self.fuel += fuel;
        self.failed_conversions += failed_conversions;
    }
}
