//! WASI preview 1 for the guests that import it: `wasmtime-wasi`, behind a short list of granted functions.
//!
//! What a guest gets is the same for every event and on every machine: a clock and random bytes that start anew with each
//! instance, no environment, no arguments, no input. What it writes goes to a bounded [`Log`]. Files it can read where the
//! host grants a directory, and write nowhere.
//!
//! The static gate refuses every other import and names it; after it, the linker made here holds the granted functions and
//! nothing else. Each of them is bounded in what it does for one call, charges fuel for it, and never waits: the futures of
//! `wasmtime-wasi` are all ready at once, because files are read on the guest's own thread and a log is memory. So no function
//! needs a runtime of its own, and a guest may run on any thread, one of an asynchronous runtime included. Such a thread is held
//! up for as long as the guest runs, though: [`Worker`](super::Worker) is the way out.

#[cfg(feature = "wasi")]
mod deterministic;
#[cfg_attr(
    not(feature = "wasi"),
    allow(dead_code, reason = "a part of it is for guests that import WASI")
)]
mod directories;
#[cfg(feature = "wasi")]
mod host;
#[cfg(feature = "wasi")]
mod link;
#[cfg_attr(
    not(feature = "wasi"),
    allow(dead_code, reason = "a part of it is for guests that import WASI")
)]
mod log;
#[cfg(feature = "wasi")]
mod stream;
#[cfg(not(feature = "wasi"))]
mod without;

pub(super) use directories::Granted;
pub use directories::{Directory, WasiGrants};
pub use log::Log;
#[cfg(not(feature = "wasi"))]
pub(super) use without::{Host, linker};
#[cfg(feature = "wasi")]
pub(super) use {host::Host, link::linker};
