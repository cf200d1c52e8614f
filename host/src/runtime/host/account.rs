//! What events came to, by tenant and version.

use std::time::Duration;

use serde::Serialize;

use crate::runtime::Summary;

/// What the events of a tenant, or of one version of an extractor, came to since the host was built.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Account {
    /// Events, results, rejects by code, bytes and fuel.
    #[serde(flatten)]
    pub summary: Summary,
    /// Events whose result is that of a fallback.
    pub fallbacks: u64,
    /// Events that had to come again, since a quota was used up or the queue was full. They aren't among the events of the summary.
    pub refused: u64,
    /// Bytes of all results.
    pub result_bytes: u64,
    /// Time of the threads that served them, in all.
    #[serde(rename = "time_ns", serialize_with = "nanoseconds")]
    pub time: Duration,
}

fn nanoseconds<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

impl Account {
    /// Adds what other events came to.
    pub fn add(&mut self, other: &Self) {
        let Self { summary, fallbacks, refused, result_bytes, time } = other;
        self.summary.add(summary);
        self.fallbacks += fallbacks;
        self.refused += refused;
        self.result_bytes += result_bytes;
        self.time += *time;
    }
}
