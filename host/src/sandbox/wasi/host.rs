//! What a store holds for a guest that imports WASI.

use wasmtime_wasi::p1::WasiP1Ctx;
use wasmtime_wasi::{FsPerms, WasiCtxBuilder};

use super::deterministic::{VirtualClock, random};
use super::{Granted, Log};
use crate::sandbox::GuestError;

/// Most files and directories that an instance may have open, besides the granted ones: descriptors are the whole process's.
pub(super) const MAX_OPEN: usize = 32;

/// The state of one instance. It is made anew with each, so that every event finds the same clock and the same random bytes.
pub(in crate::sandbox) struct Host {
    pub(super) context: WasiP1Ctx,
    pub(super) log: Log,
    /// How many files and directories the guest has open.
    pub(super) open: usize,
}

impl Host {
    pub(in crate::sandbox) fn new(granted: &Granted, log: &Log) -> Result<Self, GuestError> {
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
        for directory in &granted.wasi().directories {
            builder.preopened_dir(&directory.host, &directory.guest, FsPerms::ReadOnly).map_err(
                |error| GuestError::Trap {
                    trap: format!("the directory {} can't be opened: {error}", directory.guest),
                },
            )?;
        }
        Ok(Self { context: builder.build_p1(), log: log.clone(), open: 0 })
    }
}
