//! What a tenant may use of a host in a second, and at one time.

use std::fmt;
use std::num::{NonZeroU64, NonZeroUsize};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What one tenant may use of a host. Limits are of events, quotas are of tenants. The default is without any.
///
/// What is counted by the second is held over time: up to the amount of one second may be used at once after a pause, and an event is
/// begun as long as something is left, so that what it takes beyond that is paid before the next one.
///
/// # Example
/// ```
/// use retort::runtime::Quotas;
///
/// let quotas: Quotas = serde_json::from_str(r#"{"events": 500, "concurrent": 2}"#)?;
/// assert_eq!(quotas.events.map(u64::from), Some(500));
/// assert_eq!(quotas.fuel, None);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Quotas {
    /// Events a second.
    pub events: Option<NonZeroU64>,
    /// Bytes of events a second.
    pub bytes: Option<NonZeroU64>,
    /// Units of fuel a second. An event that fails is charged a unit for each nanosecond that it took: its counter is lost with its
    /// instance.
    pub fuel: Option<NonZeroU64>,
    /// Milliseconds a second for which threads are busy with its events, all of them together: what fuel doesn't count, as memory that the
    /// system has to bring in, is in it.
    pub busy_ms: Option<NonZeroU64>,
    /// Rejected events a second: beyond that none is taken, so that nobody fills the host's logs.
    pub rejects: Option<NonZeroU64>,
    /// Events at one time.
    pub concurrent: Option<NonZeroUsize>,
    /// Bytes of native code and instances that stay for the tenant's next events. Beyond that, what was used the longest ago is given up
    /// and loaded again with its next event. Nothing is refused for it.
    pub resident_bytes: Option<NonZeroU64>,
}

/// One of the [`Quotas`] that events are refused for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Quota {
    /// Events a second.
    Events,
    /// Bytes of events a second.
    Bytes,
    /// Units of fuel a second.
    Fuel,
    /// Milliseconds a second for which threads are busy.
    BusyMs,
    /// Rejected events a second.
    Rejects,
    /// Events at one time.
    Concurrent,
}

impl Quota {
    /// The key of [`Quotas`].
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Bytes => "bytes",
            Self::Fuel => "fuel",
            Self::BusyMs => "busy_ms",
            Self::Rejects => "rejects",
            Self::Concurrent => "concurrent",
        }
    }
}

impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Events => "events a second",
            Self::Bytes => "bytes of events a second",
            Self::Fuel => "units of fuel a second",
            Self::BusyMs => "milliseconds of threads a second",
            Self::Rejects => "rejected events a second",
            Self::Concurrent => "events at one time",
        })
    }
}

/// That a quota is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exceeded {
    pub(super) quota: Quota,
    /// How much it allows.
    pub(super) allowed: u64,
    /// When something is left again; `None` where that is when an event ends.
    pub(super) until: Option<Duration>,
}

/// So much a second, held over time.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    quota: Quota,
    rate: NonZeroU64,
    left: f64,
    at: Duration,
}

impl Bucket {
    fn new(quota: Quota, rate: NonZeroU64, now: Duration) -> Self {
        Self { quota, rate, left: rate.get() as f64, at: now }
    }

    fn refill(&mut self, now: Duration) {
        let rate = self.rate.get() as f64;
        let passed = now.saturating_sub(self.at).as_secs_f64();
        self.left = (self.left + rate * passed).min(rate);
        self.at = self.at.max(now);
    }

    /// When something is left, if nothing is now.
    fn until(&mut self, now: Duration) -> Option<Duration> {
        self.refill(now);
        if self.left > 0.0 {
            return None;
        }
        // A millisecond more, so that rounding leaves nobody with nothing.
        let seconds = -self.left / self.rate.get() as f64 + 0.001;
        Some(now.saturating_add(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)))
    }
}

/// What a tenant has used of its quotas.
#[derive(Debug)]
pub(super) struct Meter {
    buckets: Vec<Bucket>,
    concurrent: Option<NonZeroUsize>,
    running: usize,
}

impl Meter {
    pub(super) fn new(quotas: &Quotas, now: Duration) -> Self {
        let rates = [
            (Quota::Events, quotas.events),
            (Quota::Bytes, quotas.bytes),
            (Quota::Fuel, quotas.fuel),
            (Quota::BusyMs, quotas.busy_ms),
            (Quota::Rejects, quotas.rejects),
        ];
        let buckets = rates.iter().filter_map(|(quota, rate)| Some((*quota, (*rate)?)));
        let buckets = buckets.map(|(quota, rate)| Bucket::new(quota, rate, now)).collect();
        Self { buckets, concurrent: quotas.concurrent, running: 0 }
    }

    /// The same with other quotas. What was overdrawn of one that stays is still to be paid.
    pub(super) fn change(&mut self, quotas: &Quotas, now: Duration) {
        let mut meter = Self { running: self.running, ..Self::new(quotas, now) };
        for bucket in &mut meter.buckets {
            if let Some(old) = self.buckets.iter_mut().find(|it| it.quota == bucket.quota) {
                old.refill(now);
                bucket.left = bucket.left.min(old.left);
            }
        }
        *self = meter;
    }

    /// Begins an event of so many bytes, if there is something left of each quota.
    pub(super) fn begin(&mut self, bytes: usize, now: Duration) -> Result<(), Exceeded> {
        if let Some(allowed) = self.concurrent.filter(|most| self.running >= most.get()) {
            let allowed = allowed.get() as u64;
            return Err(Exceeded { quota: Quota::Concurrent, allowed, until: None });
        }
        if let Some(exceeded) = self.exceeded(now) {
            return Err(exceeded);
        }
        self.charge(Quota::Events, 1.0);
        self.charge(Quota::Bytes, bytes as f64);
        self.running += 1;
        Ok(())
    }

    /// The quota by the second of which nothing is left for the longest, if there is one.
    pub(super) fn exceeded(&mut self, now: Duration) -> Option<Exceeded> {
        let mut exceeded: Option<Exceeded> = None;
        for bucket in &mut self.buckets {
            if let Some(until) = bucket.until(now)
                && exceeded.is_none_or(|it| it.until < Some(until))
            {
                let (quota, allowed) = (bucket.quota, bucket.rate.get());
                exceeded = Some(Exceeded { quota, allowed, until: Some(until) });
            }
        }
        exceeded
    }

    /// Ends an event that took so much fuel and time.
    pub(super) fn end(&mut self, fuel: u64, time: Duration, is_rejected: bool) {
        self.running = self.running.saturating_sub(1);
        self.pay(fuel, time);
        self.charge(Quota::Rejects, f64::from(u8::from(is_rejected)));
    }

    /// Pays for an event, or for what was run beside one.
    pub(super) fn pay(&mut self, fuel: u64, time: Duration) {
        self.charge(Quota::Fuel, fuel as f64);
        self.charge(Quota::BusyMs, 1e3 * time.as_secs_f64());
    }

    /// Pays for an event that was rejected before it was begun, and whose bytes were paid for.
    #[cfg(feature = "serve")]
    pub(super) fn pay_rejected(&mut self) {
        self.charge(Quota::Events, 1.0);
        self.charge(Quota::Rejects, 1.0);
    }

    /// Pays for bytes that are no event, and for the time that it took to read them.
    #[cfg(feature = "serve")]
    pub(super) fn pay_spare(&mut self, bytes: u64, time: Duration) {
        self.charge(Quota::Bytes, bytes as f64);
        self.charge(Quota::BusyMs, 1e3 * time.as_secs_f64());
    }

    fn charge(&mut self, quota: Quota, used: f64) {
        for bucket in self.buckets.iter_mut().filter(|it| it.quota == quota) {
            bucket.left -= used;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quotas() -> Quotas {
        Quotas {
            events: NonZeroU64::new(100),
            fuel: NonZeroU64::new(1_000),
            concurrent: NonZeroUsize::new(2),
            ..Quotas::default()
        }
    }

    #[test]
    fn over_time_no_more_is_used_than_a_quota_says() {
        let mut meter = Meter::new(&quotas(), Duration::ZERO);
        let (mut now, mut served) = (Duration::ZERO, 0_u64);
        while now < Duration::from_secs(60) {
            match meter.begin(10, now) {
                Ok(()) => {
                    meter.end(3, Duration::ZERO, false);
                    served += 1;
                }
                Err(Exceeded { quota, until, .. }) => {
                    assert_eq!(quota, Quota::Events);
                    now = until.unwrap_or(now);
                }
            }
        }
        // A second's worth was there at the beginning.
        assert!((6_000..=6_105).contains(&served), "{served}");
    }

    #[test]
    fn what_an_event_took_too_much_is_paid_before_the_next_one() {
        let mut meter = Meter::new(&quotas(), Duration::ZERO);
        assert_eq!(meter.begin(10, Duration::ZERO), Ok(()));
        meter.end(6_000, Duration::ZERO, false);
        let until = meter.begin(10, Duration::ZERO).map_err(|it| (it.quota, it.allowed, it.until));
        assert_eq!(until, Err((Quota::Fuel, 1_000, Some(Duration::from_millis(5_001)))));
        assert!(meter.begin(10, Duration::from_millis(4_990)).is_err());
        assert_eq!(meter.begin(10, Duration::from_millis(5_001)), Ok(()));
    }

    #[test]
    fn time_that_fuel_does_not_count_is_counted() {
        let mut quotas = quotas();
        quotas.busy_ms = NonZeroU64::new(50);
        let mut meter = Meter::new(&quotas, Duration::ZERO);
        assert_eq!(meter.begin(10, Duration::ZERO), Ok(()));
        meter.end(1, Duration::from_millis(150), false);
        let until = meter.begin(10, Duration::ZERO).map_err(|it| (it.quota, it.until));
        assert_eq!(until, Err((Quota::BusyMs, Some(Duration::from_millis(2_001)))));
    }

    #[test]
    fn so_many_events_at_one_time() {
        let mut meter = Meter::new(&quotas(), Duration::ZERO);
        assert_eq!(meter.begin(1, Duration::ZERO), Ok(()));
        assert_eq!(meter.begin(1, Duration::ZERO), Ok(()));
        let third = meter.begin(1, Duration::ZERO).map_err(|it| (it.quota, it.until));
        assert_eq!(third, Err((Quota::Concurrent, None)));
        meter.end(0, Duration::ZERO, false);
        assert_eq!(meter.begin(1, Duration::ZERO), Ok(()));
    }

    #[test]
    fn other_quotas_forgive_nothing() {
        let mut meter = Meter::new(&quotas(), Duration::ZERO);
        assert_eq!(meter.begin(10, Duration::ZERO), Ok(()));
        meter.end(6_000, Duration::ZERO, false);
        meter.change(&quotas(), Duration::from_secs(1));
        assert!(meter.begin(10, Duration::from_secs(4)).is_err());
        meter.change(&Quotas::default(), Duration::from_secs(4));
        assert_eq!(meter.begin(10, Duration::from_secs(4)), Ok(()));
    }
}
