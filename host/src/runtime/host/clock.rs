//! The time that quotas, breakers and turns go by.

use std::time::{Duration, Instant};

/// Time since a host was built.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock(Instant);

impl Default for Clock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock {
    pub(super) fn now(self) -> Duration {
        self.0.elapsed()
    }
}
