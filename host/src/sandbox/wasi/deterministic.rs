//! A clock and random bytes that are the same for every instance.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use wasmtime_wasi::{HostMonotonicClock, HostWallClock};

/// What the wall clock says first: the beginning of the year 2000, in UTC.
const START: Duration = Duration::from_secs(946_684_800);

/// How far both clocks advance whenever one of them is read.
const STEP: Duration = Duration::from_millis(1);

/// What random bytes begin with.
const SEED: u64 = 0;

/// A clock that nothing but reading it advances. Clones are the same clock.
#[derive(Clone, Debug, Default)]
pub(super) struct VirtualClock {
    reads: Arc<AtomicU64>,
}

impl VirtualClock {
    /// The time since the clock's start, before this reading.
    fn read(&self) -> Duration {
        let reads = self.reads.fetch_add(1, Ordering::Relaxed);
        STEP.saturating_mul(u32::try_from(reads).unwrap_or(u32::MAX))
    }
}

impl HostWallClock for VirtualClock {
    fn resolution(&self) -> Duration {
        STEP
    }

    fn now(&self) -> Duration {
        START.saturating_add(self.read())
    }
}

impl HostMonotonicClock for VirtualClock {
    fn resolution(&self) -> u64 {
        nanoseconds(STEP)
    }

    fn now(&self) -> u64 {
        nanoseconds(self.read())
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Bytes that look random and are always the same: an algorithm that is specified, from a constant seed.
pub(super) fn random() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(SEED)
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;

    #[test]
    fn a_clock_starts_at_its_start_and_advances_when_it_is_read() {
        let clock = VirtualClock::default();
        let seconds = [(); 3].map(|()| HostWallClock::now(&clock).as_millis());
        assert_eq!(seconds, [946_684_800_000, 946_684_800_001, 946_684_800_002]);
        assert_eq!(HostMonotonicClock::now(&clock.clone()), 3_000_000);
    }

    #[test]
    fn random_bytes_are_those_of_every_version_and_machine() {
        let mut bytes = [0; 16];
        random().fill_bytes(&mut bytes);
        // The first two words of xoshiro256++ seeded with 0 through SplitMix64.
        let words = [0x53175d61490b23df_u64, 0x61da6f3dc380d507];
        assert_eq!(bytes.to_vec(), words.map(u64::to_le_bytes).concat());
    }
}
