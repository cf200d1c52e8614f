//! Whether a run of the compiler may go on.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use super::group::Group;
use super::{RustcError, RustcLimits};
use crate::evidence::effort::Cancel;

/// How often is looked at the time.
pub(super) const LOOK: Duration = Duration::from_millis(10);

/// How often is looked at what the processes have and have written, which takes a millisecond or two.
const LOOK_AROUND: Duration = Duration::from_millis(100);

/// How many times its time a compiler is waited for that had too little of a processor to use it; and how much longer at least.
const PATIENCE: u32 = 3;
const LEAST_PATIENCE: Duration = Duration::from_secs(5);

/// Files and directories that are looked at. So many make the room that they take beside their bytes count.
const MAX_FILES: usize = 4_096;

/// The unit in which the system counts the room that a file takes.
const BLOCK: u64 = 512;

/// Who watches a run: for its limits, and for whoever may cancel it.
pub(super) struct Watch<'a> {
    started: Instant,
    looked_around: Cell<Instant>,
    limits: &'a RustcLimits,
    group: Group,
    directory: &'a Path,
    cancel: &'a Cancel,
}

impl<'a> Watch<'a> {
    /// Of the group that this process leads, which writes in this directory.
    pub(super) fn new(
        leader: u32,
        directory: &'a Path,
        limits: &'a RustcLimits,
        cancel: &'a Cancel,
    ) -> Self {
        let (started, group) = (Instant::now(), Group::led_by(leader));
        Self { started, looked_around: Cell::new(started), limits, group, directory, cancel }
    }

    /// Why it has to end, if it has.
    pub(super) fn look(&self) -> Result<(), RustcError> {
        if self.cancel.is_cancelled() {
            return Err(RustcError::Cancelled);
        }
        if self.looked_around.get().elapsed() >= LOOK_AROUND {
            self.looked_around.set(Instant::now());
            let allowed = self.limits.processes;
            let used = self.group.usage().map_or(0, |usage| usage.processes);
            if used > allowed {
                return Err(RustcError::Processes { used, allowed });
            }
            self.look_at_files()?;
        }
        self.look_at_the_time()
    }

    /// Whether what was written is too much.
    pub(super) fn look_at_files(&self) -> Result<(), RustcError> {
        let allowed = self.limits.written_bytes;
        match written(self.directory) {
            used if used > allowed => Err(RustcError::Written { used, allowed }),
            _ => Ok(()),
        }
    }

    fn look_at_the_time(&self) -> Result<(), RustcError> {
        let (waited, allowed) = (self.started.elapsed(), self.allowed());
        if waited < allowed {
            return Ok(());
        }
        // What keeps a compiler busy keeps a processor busy: where it got less than half of one, it's not for the source to blame.
        let used = self.group.usage().map_or(waited, |usage| usage.processor_time);
        if used >= allowed / 2 {
            return Err(self.late());
        }
        if waited < allowed.saturating_mul(PATIENCE).max(allowed.saturating_add(LEAST_PATIENCE)) {
            return Ok(());
        }
        Err(RustcError::Starved { waited_ms: milliseconds(waited), used_ms: milliseconds(used) })
    }

    /// That its time is over.
    pub(super) fn late(&self) -> RustcError {
        let allowed_ms = self.limits.time_ms;
        let used_ms = milliseconds(self.started.elapsed()).max(allowed_ms);
        RustcError::Timeout { used_ms, allowed_ms }
    }

    fn allowed(&self) -> Duration {
        Duration::from_millis(self.limits.time_ms)
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The room that all files in a directory take; all that there is where they are too many to be looked at.
fn written(directory: &Path) -> u64 {
    let mut bytes = 0_u64;
    let mut looked_at = 0;
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        // One that was removed meanwhile takes none.
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for entry in entries.flatten() {
            looked_at += 1;
            if looked_at > MAX_FILES {
                return u64::MAX;
            }
            let Ok(found) = entry.metadata() else { continue };
            bytes = bytes.saturating_add(found.blocks().saturating_mul(BLOCK));
            if found.is_dir() {
                directories.push(entry.path());
            }
        }
    }
    bytes
}
