//! The places of a pool, counted.
//!
//! wasmtime's pool gives places back in batches, each on the thread that completes one. While it does, they count as taken:
//! whether an instance may be made can't be read off the pool, so instances are counted here.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::GuestError;

/// How many instances there are, and how many there may be at one time.
#[derive(Debug)]
pub(super) struct PoolPlaces {
    taken: Arc<AtomicU32>,
    allowed: u32,
}

/// One of them, until it is dropped.
#[derive(Debug)]
pub(super) struct PoolPlace {
    taken: Arc<AtomicU32>,
}

impl PoolPlaces {
    pub(super) fn new(allowed: u32) -> Self {
        Self { taken: Arc::default(), allowed }
    }

    pub(super) fn allowed(&self) -> u32 {
        self.allowed
    }

    /// Takes a place, if there is one.
    pub(super) fn take(&self) -> Result<PoolPlace, GuestError> {
        let one_more = |taken: u32| (taken < self.allowed).then_some(taken + 1);
        match self.taken.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more) {
            Ok(_) => Ok(PoolPlace { taken: Arc::clone(&self.taken) }),
            Err(_) => Err(GuestError::PoolExhausted { allowed: self.allowed }),
        }
    }
}

impl Drop for PoolPlace {
    fn drop(&mut self) {
        self.taken.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_places_as_allowed_and_they_come_back() {
        let places = PoolPlaces::new(2);
        let taken = [places.take(), places.take()];
        assert!(taken.iter().all(Result::is_ok));
        assert_eq!(places.take().err(), Some(GuestError::PoolExhausted { allowed: 2 }));
        drop(taken);
        assert!(places.take().is_ok());
    }
}
