//! How long single events take.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use super::report::{Latency, LatencyBin, rounded};

/// How many bins of the printed histogram a factor of ten has.
const BINS_PER_DECADE: f64 = 16.0;

/// Nanoseconds of many events, to three digits.
pub(super) struct Latencies {
    /// `None` never happens: three digits are what it can have.
    histogram: Option<Histogram<u64>>,
}

impl Default for Latencies {
    fn default() -> Self {
        // It grows as needed.
        Self { histogram: Histogram::new(3).ok() }
    }
}

impl Latencies {
    pub(super) fn record(&mut self, nanoseconds: u64) {
        if let Some(histogram) = &mut self.histogram {
            // Nothing is out of range for a histogram that grows.
            let _ = histogram.record(nanoseconds);
        }
    }

    /// Adds what another thread has recorded.
    pub(super) fn add(&mut self, other: &Self) {
        if let (Some(histogram), Some(other)) = (&mut self.histogram, &other.histogram) {
            // As above.
            let _ = histogram.add(other);
        }
    }

    pub(super) fn figures(&self) -> Latency {
        let at =
            |quantile| self.histogram.as_ref().map_or(0, |found| found.value_at_quantile(quantile));
        Latency {
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: self.histogram.as_ref().map_or(0, Histogram::max),
            histogram: self.bins(),
        }
    }

    /// The bins that something is in, each as wide as the others on a logarithmic axis.
    fn bins(&self) -> Vec<LatencyBin> {
        let mut bins: BTreeMap<i32, u64> = BTreeMap::new();
        for found in self.histogram.iter().flat_map(|histogram| histogram.iter_recorded()) {
            let value = found.value_iterated_to().max(1) as f64;
            let bin = (value.log10() * BINS_PER_DECADE).floor() as i32;
            *bins.entry(bin).or_default() += found.count_at_value();
        }
        let edge = |bin: i32| rounded(10_f64.powf(f64::from(bin) / BINS_PER_DECADE));
        bins.into_iter().map(|(bin, count)| (edge(bin), edge(bin + 1), count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Latencies;

    #[test]
    fn every_event_is_in_one_bin() {
        let (mut one, mut other) = (Latencies::default(), Latencies::default());
        (1..=900).for_each(|value| one.record(value));
        (901..=1000).for_each(|value| other.record(10 * value));
        one.add(&other);
        let figures = one.figures();
        let counted: u64 = figures.histogram.iter().map(|(.., count)| count).sum();
        assert_eq!(counted, 1000);
        assert_eq!(figures.p50, 500);
        assert!((9_000..=9_030).contains(&figures.p90) || figures.p90 == 900, "{figures:?}");
        let is_in_order = |pair: &[(f64, f64, u64)]| pair[0].1 <= pair[1].0;
        assert!(figures.histogram.windows(2).all(is_in_order), "{figures:?}");
    }
}
