//! When the work on one event has to be over.

use std::sync::atomic::{AtomicU64, Ordering};

use super::BlockError;

/// A deadline by a clock that somebody else advances: to look at it costs one load.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deadline<'a> {
    clock: Option<&'a AtomicU64>,
    started: u64,
    allowed_ms: u64,
    step_ms: u64,
}

impl<'a> Deadline<'a> {
    /// No deadline.
    pub const NEVER: Self = Self { clock: None, started: 0, allowed_ms: u64::MAX, step_ms: 0 };

    /// A deadline of `allowed_ms` milliseconds from `started` on. `clock` counts milliseconds, and is advanced every
    /// `step_ms` of them: by so much the deadline may be late. It is never early.
    #[must_use]
    pub fn new(clock: &'a AtomicU64, started: u64, allowed_ms: u64, step_ms: u64) -> Self {
        Self { clock: Some(clock), started, allowed_ms, step_ms }
    }

    /// Milliseconds since the start, to one step.
    #[must_use]
    pub fn used_ms(self) -> u64 {
        let now = self.clock.map_or(0, |clock| clock.load(Ordering::Relaxed));
        now.saturating_sub(self.started)
    }

    /// Milliseconds that are allowed.
    #[must_use]
    pub fn allowed_ms(self) -> u64 {
        self.allowed_ms
    }

    /// Milliseconds that are left, a step included; 0 when the deadline is over.
    #[must_use]
    pub fn left_ms(self) -> u64 {
        // The clock may have stood still for a step before the start.
        self.allowed_ms.saturating_add(self.step_ms).saturating_sub(self.used_ms())
    }

    /// Whether it is over.
    #[must_use]
    #[inline]
    pub fn is_over(self) -> bool {
        self.clock.is_some() && self.left_ms() == 0
    }

    /// Goes on unless it is over.
    pub(super) fn check(self) -> Result<(), BlockError> {
        if self.is_over() {
            let (used_ms, allowed_ms) = (self.used_ms(), self.allowed_ms());
            return Err(BlockError::Deadline { used_ms, allowed_ms });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_over_a_step_behind_its_time() {
        let clock = AtomicU64::new(70);
        let deadline = Deadline::new(&clock, 70, 25, 10);
        for (now, left, is_over) in [(70, 35, false), (100, 5, false), (105, 0, true)] {
            clock.store(now, Ordering::Relaxed);
            assert_eq!((deadline.left_ms(), deadline.is_over()), (left, is_over), "{now}");
        }
        assert_eq!((deadline.used_ms(), deadline.allowed_ms()), (35, 25));
        assert!(!Deadline::NEVER.is_over());
    }
}
