//! How long the machine has its threads wait, whatever the service does: others may have its processors.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use retort_benches::beside::{Times, times};

/// Between two looks at the clock.
const EVERY: Duration = Duration::from_millis(1);

/// What a thread that has nothing to do came too late.
pub(super) struct Pauses(Mutex<Times>);

impl Pauses {
    pub(super) fn new() -> Self {
        Self(Mutex::new(times()))
    }

    /// Looks at the clock until it is over.
    pub(super) fn watch(&self, is_over: &AtomicBool) {
        while !is_over.load(Ordering::Relaxed) {
            let begun = Instant::now();
            std::thread::sleep(EVERY);
            let late = begun.elapsed().saturating_sub(EVERY);
            let mut times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            times.saturating_record(late.as_nanos() as u64);
        }
    }
}

impl fmt::Display for Pauses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let [p99, p999, most] =
            [0.99, 0.999, 1.0].map(|it| times.value_at_quantile(it) as f64 / 1e6);
        write!(
            f,
            "a thread of the load generator that only sleeps: late by p99 {p99:.3} ms, p99.9 {p999:.3} ms, at most {most:.1} ms"
        )
    }
}
