//! What a store holds for a guest that imports WASI.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use wasmtime_wasi::p1::WasiP1Ctx;
use wasmtime_wasi::{FsPerms, WasiCtxBuilder};

use super::deterministic::{VirtualClock, random};
use super::{Granted, Log};
use crate::abi::block::Deadline;
use crate::sandbox::GuestError;

/// Most files and directories that an instance may have open, besides the granted ones: descriptors are the whole process's.
pub(super) const MAX_OPEN: usize = 32;

/// The state of one instance. It is made anew with each, so that every event finds the same clock and the same random bytes.
pub(in crate::sandbox) struct Host {
    pub(super) context: WasiP1Ctx,
    pub(super) log: Log,
    /// The descriptors that the guest has opened and not closed. Those that it begins with are not among them, so that closing
    /// one of those makes no room.
    pub(super) open: BTreeSet<u32>,
    /// When the instance was made, and for how much longer the event might take then.
    began: Instant,
    left: Duration,
    allowed_ms: u64,
}

impl Host {
    /// The host's side of an instance that is made now, for an event that has this deadline.
    pub(in crate::sandbox) fn new(
        granted: &Granted,
        log: &Log,
        deadline: Deadline<'_>,
    ) -> Result<Self, GuestError> {
        let clock = VirtualClock::default();
        let mut builder = WasiCtxBuilder::new();
        // Standard input is closed; there is no environment, no argument and no network unless somebody adds them.
        builder
            .stdout(log.clone())
            .stderr(log.clone())
            .wall_clock(clock.clone())
            .monotonic_clock(clock)
            .secure_random(random())
            .insecure_random(random())
            .insecure_random_seed(0)
            .allow_tcp(false)
            .allow_udp(false)
            // A file is read at once, on this thread: nothing is left for a runtime to do.
            .allow_blocking_current_thread(true);
        for opened in granted.opened() {
            let guest = opened.guest();
            builder.preopened_dir(opened.path(), guest, FsPerms::ReadOnly).map_err(|error| {
                GuestError::Trap(format!("the directory {guest} can't be opened: {error}"))
            })?;
        }
        Ok(Self {
            context: builder.build_p1(),
            log: log.clone(),
            open: BTreeSet::new(),
            began: Instant::now(),
            left: Duration::from_millis(deadline.left_ms()),
            allowed_ms: deadline.allowed_ms(),
        })
    }

    /// Whether there is time left. The engine's clock stops the code of a guest and nothing that the host does for it.
    pub(super) fn in_time(&self) -> Result<(), GuestError> {
        let over = self.began.elapsed().checked_sub(self.left);
        over.map_or(Ok(()), |over| {
            let over_ms = u64::try_from(over.as_millis()).unwrap_or(u64::MAX);
            let used_ms = self.allowed_ms.saturating_add(over_ms);
            Err(GuestError::Deadline { used_ms, allowed_ms: self.allowed_ms })
        })
    }
}
