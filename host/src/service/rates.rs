//! How often something may be done.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Of how many it is noted at most how much they have left.
const MAX_KEYS: usize = 1 << 14;

/// How much may be done at once after a pause: what is allowed in this time.
const BURST: Duration = Duration::from_secs(1);

/// So many a second for each key, held over time.
#[derive(Debug)]
pub(super) struct Rates<K> {
    began: Instant,
    /// When each has all of its burst again, since `began`.
    whole: Mutex<HashMap<K, Duration>>,
}

impl<K> Default for Rates<K> {
    fn default() -> Self {
        Self { began: Instant::now(), whole: Mutex::default() }
    }
}

impl<K: Eq + Hash> Rates<K> {
    /// Takes one of `rate` a second.
    ///
    /// # Errors
    /// For how long there is none.
    pub(super) fn take(&self, key: K, rate: NonZeroU32) -> Result<(), Duration> {
        self.take_at(self.began.elapsed(), key, rate)
    }

    fn take_at(&self, now: Duration, key: K, rate: NonZeroU32) -> Result<(), Duration> {
        // Nothing panics while it is locked.
        let mut whole = self.whole.lock().unwrap_or_else(PoisonError::into_inner);
        if whole.len() >= MAX_KEYS {
            // Who has all of it is as one that was never seen.
            whole.retain(|_, at| *at > now);
        }
        let before = whole.get(&key).copied().unwrap_or(now).max(now);
        let after = before + BURST / rate.get();
        if let Some(over) = after.checked_sub(now + BURST)
            && !over.is_zero()
        {
            return Err(over);
        }
        if whole.len() < MAX_KEYS || whole.contains_key(&key) {
            whole.insert(key, after);
        }
        Ok(())
    }
}

/// Who is counted as one: an address, and of IPv6 the network that one customer is given.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(rate: u32) -> NonZeroU32 {
        NonZeroU32::new(rate).unwrap_or(NonZeroU32::MIN)
    }

    #[test]
    fn a_rate_is_held_over_time() {
        let rates = Rates::default();
        let ms = Duration::from_millis;
        let mut taken = 0;
        for now in 0..5_000 {
            taken += u32::from(rates.take_at(ms(now), "one", rate(10)).is_ok());
        }
        // What one second allows at once, and then ten a second.
        assert_eq!(taken, 10 + 49);
        assert_eq!(rates.take_at(ms(5_000), "one", rate(10)), Ok(()));
        assert_eq!(rates.take_at(ms(5_000), "one", rate(10)), Err(ms(100)));
        assert_eq!(rates.take_at(ms(5_000), "other", rate(10)), Ok(()));
        let pause = ms(60_000);
        assert!((0..10).all(|_| rates.take_at(pause, "one", rate(10)).is_ok()));
        assert!(rates.take_at(pause, "one", rate(10)).is_err(), "a pause saves no more");
    }

    #[test]
    fn no_more_is_noted_than_may_be() {
        let rates = Rates::default();
        for key in 0..3 * MAX_KEYS {
            assert_eq!(rates.take_at(Duration::ZERO, key, rate(1)), Ok(()));
        }
        assert_eq!(rates.whole.lock().map(|it| it.len()).unwrap_or_default(), MAX_KEYS);
        assert!(rates.take_at(Duration::ZERO, 0, rate(1)).is_err(), "who is noted stays so");
        assert_eq!(rates.take_at(Duration::from_secs(2), 3 * MAX_KEYS, rate(1)), Ok(()));
        assert_eq!(rates.whole.lock().map(|it| it.len()).unwrap_or_default(), 1);
    }

    #[test]
    fn one_customer_has_one_rate() {
        let of = |text: &str| text.parse().map(network).ok();
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:2"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
        assert_ne!(of("10.0.0.1"), of("10.0.0.2"));
    }
}
