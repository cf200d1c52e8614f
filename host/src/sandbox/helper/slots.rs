//! How many helpers run at one time.

use std::num::NonZeroUsize;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::evidence::effort::Cancel;

/// How often somebody who waits looks whether anybody still waits for what comes of it.
const LOOK: Duration = Duration::from_millis(20);

/// Places for the helpers of one engine, as many as there are processors: more would only take each other's time, and memory.
#[derive(Debug)]
pub(in crate::sandbox) struct Slots {
    free: Mutex<usize>,
    freed: Condvar,
}

/// A place that is taken until this is dropped.
#[derive(Debug)]
pub(in crate::sandbox) struct HelperSlot<'a>(&'a Slots);

impl Slots {
    /// As many places as there are processors that this process may use.
    pub(in crate::sandbox) fn per_processor() -> Self {
        Self::new(std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }

    fn new(places: NonZeroUsize) -> Self {
        Self { free: Mutex::new(places.get()), freed: Condvar::new() }
    }

    /// Takes a place, when there is one. Whoever holds one has a deadline, so that this ends.
    pub(in crate::sandbox) fn take(&self) -> HelperSlot<'_> {
        let mut free = self
            .freed
            .wait_while(self.free(), |free| *free == 0)
            .unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        HelperSlot(self)
    }

    /// The same, as long as it isn't cancelled.
    pub(in crate::sandbox) fn take_unless(&self, cancel: &Cancel) -> Option<HelperSlot<'_>> {
        let mut free = self.free();
        while !cancel.is_cancelled() {
            if *free > 0 {
                *free -= 1;
                return Some(HelperSlot(self));
            }
            let waited = self.freed.wait_timeout(free, LOOK);
            (free, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        // The word that one is free may have come here, and not to who still waits.
        self.freed.notify_one();
        None
    }

    /// A number that is always right, whoever panicked elsewhere.
    fn free(&self) -> MutexGuard<'_, usize> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for HelperSlot<'_> {
    fn drop(&mut self) {
        *self.0.free() += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    #[test]
    fn no_more_are_taken_at_one_time_than_there_are_and_everybody_gets_one() {
        let slots = Slots::new(NonZeroUsize::new(3).expect("3 is not 0"));
        let (taken, most, served) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..12 {
                scope.spawn(|| {
                    let _slot = slots.take();
                    let now = taken.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(now, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(20));
                    taken.fetch_sub(1, Ordering::SeqCst);
                    served.fetch_add(1, Ordering::SeqCst);
                });
            }
        });
        assert_eq!((most.into_inner(), served.into_inner()), (3, 12));
        assert_eq!(*slots.free(), 3);
    }

    #[test]
    fn who_is_cancelled_waits_no_longer() {
        let slots = Slots::new(NonZeroUsize::MIN);
        let cancel = Cancel::default();
        let held = slots.take_unless(&cancel);
        assert!(held.is_some());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| slots.take_unless(&cancel).is_none());
            cancel.cancel();
            assert!(waiting.join().expect("it doesn't panic"));
        });
        drop(held);
        assert!(slots.take_unless(&cancel).is_none());
        assert!(slots.take_unless(&Cancel::default()).is_some());
    }
}
