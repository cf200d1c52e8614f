//! Processes that are ended with all that they started.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// How often is looked whether a process that broke off has ended.
const LOOK: Duration = Duration::from_millis(1);

/// What tells that a program was refused memory, in what it says before it ends: the standard library before it aborts, arenas that
/// panic, systems, and LLVM.
const OUT_OF_MEMORY: [&str; 6] = [
    "memory allocation of",
    "out of memory",
    "Cannot allocate memory",
    "failed to allocate",
    "bad_alloc",
    "os error 12",
];

/// Whether a program that says so was refused memory.
pub(super) fn is_of_memory(said: &str) -> bool {
    OUT_OF_MEMORY.iter().any(|it| said.contains(it))
}

/// A process that is killed, with all that it started, and waited for when this is dropped.
pub(super) struct ProcessGroup(pub(super) Child);

impl ProcessGroup {
    /// Starts the leader of a group of its own.
    pub(super) fn start(command: &mut Command) -> io::Result<Self> {
        use std::os::unix::process::CommandExt as _;
        command.process_group(0).spawn().map(Self)
    }

    /// How it ended, if it does so in time.
    pub(super) fn ended(&mut self, started: Instant, allowed: Duration) -> Option<ExitStatus> {
        loop {
            if let Ok(Some(status)) = self.0.try_wait() {
                return Some(status);
            }
            if started.elapsed() >= allowed {
                return None;
            }
            std::thread::sleep(LOOK);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Ok(None) = self.0.try_wait() {
            let leader = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw);
            // Both fail only where there is nothing left to kill.
            if let Some(leader) = leader {
                let _ = kill_process_group(leader, Signal::KILL);
            }
            let _ = self.0.kill();
        }
        // It was killed or has ended, so that this doesn't wait; it fails only where it was waited for already.
        let _ = self.0.wait();
    }
}
