//! What the service says of itself, by `/metrics`.

use std::collections::BTreeMap;
use std::time::Duration;

use retort_benches::beside::Used;

use super::configuration::ADMIN;
use super::service::Service;

/// Samples by their names and labels, as they are written.
pub(super) struct Metrics(BTreeMap<String, f64>);

impl Metrics {
    pub(super) fn of(service: &Service) -> Self {
        let (status, text) = service.get("/metrics", ADMIN).expect("metrics");
        assert_eq!(status, 200, "{text}");
        let samples = text.lines().filter(|line| !line.starts_with('#'));
        let sample = |line: &str| {
            let (name, value) = line.rsplit_once(' ')?;
            Some((name.to_owned(), value.parse().ok()?))
        };
        Self(samples.filter_map(sample).collect())
    }

    /// All samples of a name, by their labels.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = (&str, f64)> {
        let samples = self.0.iter();
        samples.filter_map(move |(key, value)| Some((key.strip_prefix(name)?, *value)))
    }

    /// The sum of a name's samples whose labels have this in them.
    pub(super) fn sum(&self, name: &str, label: &str) -> f64 {
        self.all(name).filter(|(labels, _)| labels.contains(label)).map(|(_, value)| value).sum()
    }

    /// What a tenant has used.
    pub(super) fn used(&self, tenant: &str) -> Used {
        let label = format!("tenant=\"{tenant}\"");
        let of = |name| self.sum(name, &label);
        Used {
            events: of("retort_events_total{") as u64,
            bytes: of("retort_event_bytes_total{") as u64,
            rejects: of("retort_rejects_total{") as u64,
            time: Duration::from_secs_f64(of("retort_event_seconds_total{")),
        }
    }
}
