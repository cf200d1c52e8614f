//! Whether a run of the compiler may go on.

use std::time::{Duration, Instant};

use super::RustcError;
use super::group::Group;
use crate::evidence::effort::Cancel;

/// How often is looked.
pub(super) const LOOK: Duration = Duration::from_millis(10);

/// How many times its time a compiler is waited for that had too little of a processor to use it; and how much longer at least.
const PATIENCE: u32 = 3;
const LEAST_PATIENCE: Duration = Duration::from_secs(5);

/// Who watches a run: for its deadline, and for whoever may cancel it.
pub(super) struct Watch<'a> {
    started: Instant,
    allowed: Duration,
    group: Group,
    cancel: &'a Cancel,
}

impl<'a> Watch<'a> {
    /// Of the group that this process leads.
    pub(super) fn new(leader: u32, allowed: Duration, cancel: &'a Cancel) -> Self {
        Self { started: Instant::now(), allowed, group: Group::led_by(leader), cancel }
    }

    /// Why it has to end, if it has.
    pub(super) fn look(&self) -> Result<(), RustcError> {
        if self.cancel.is_cancelled() {
            return Err(RustcError::Cancelled);
        }
        let waited = self.started.elapsed();
        if waited < self.allowed {
            return Ok(());
        }
        // What keeps a compiler busy keeps a processor busy: where it got less than half of one, it's not for the source to blame.
        let used = self.group.usage().map_or(waited, |usage| usage.processor_time);
        if used >= self.allowed / 2 {
            return Err(self.late());
        }
        if waited < (self.allowed * PATIENCE).max(self.allowed + LEAST_PATIENCE) {
            return Ok(());
        }
        Err(RustcError::Starved { waited_ms: milliseconds(waited), used_ms: milliseconds(used) })
    }

    /// That its time is over.
    pub(super) fn late(&self) -> RustcError {
        let allowed_ms = milliseconds(self.allowed);
        let used_ms = milliseconds(self.started.elapsed()).max(allowed_ms);
        RustcError::Timeout { used_ms, allowed_ms }
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
