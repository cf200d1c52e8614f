//! The sandbox: inspected modules run inside wasmtime, with every limit on.
//!
//! A [`Sandbox`] is one engine with its limits; a [`Extractor`] is a module made ready in it; a [`Runner`] reads events,
//! gives the extractor its declared inputs and checks what comes back. Engines and extractors are shared between threads, a
//! runner belongs to one. A [`TenantPolicy`] says what an extractor may do in it.
//!
//! It knows the ABI and inspected modules, and nothing of plans, samples or bundles.

#[cfg(feature = "cli")]
pub(crate) mod bare;
mod blame;
mod cache;
mod declared;
mod engine;
mod error;
mod exports;
mod extractor;
pub(crate) mod files;
mod guest;
pub(crate) mod helper;
mod known_form;
mod limits;
mod native;
mod options;
mod places;
mod pool;
mod process;
mod restore;
pub(crate) mod runner;
pub(crate) mod rustc;
pub(crate) mod standing;
mod store;
pub(crate) mod tenant;
mod trace;
mod trap;
mod wasi;
mod worker;

pub use crate::abi::block::BlockError;
pub use crate::abi::event::{DEFAULT_MAX_EVENT_BYTES, EventError, MAX_DEPTH};
pub use crate::abi::result::{ResultCounts, ResultError};
pub use blame::Blame;
pub use cache::{Cache, CacheReport, CacheWarning};
pub(crate) use engine::MAX_STACK_BYTES;
pub use engine::Sandbox;
pub use error::{GuestError, ModuleLoadError, RunError};
pub use extractor::Extractor;
pub use helper::{COMPILE_COMMAND, run_compile_helper};
pub use limits::Limits;
pub use options::{Allocator, ForeignModules, Isolation, Options, Pool};
pub use runner::{Observer, RunOutcome, Runner, Step};
pub use rustc::{
    Confinement, RUSTC_COMMAND, RustModule, RustcError, RustcLimits, RustcMessage, RustcOptions,
    Toolchain, run_rustc_helper,
};
pub use tenant::{TenantError, TenantPolicy};
pub use wasi::{Directory, Log, WasiGrants};
pub use worker::{OwnedRunOutcome, Worker};

/// The version of the wasmtime that fuel figures come from: another version may count differently.
pub const WASMTIME_VERSION: &str = "48.0.8";

#[cfg(test)]
mod tests {
    #[test]
    fn the_version_named_is_the_version_locked() {
        let lock = include_str!("../../../Cargo.lock");
        let locked = format!("name = \"wasmtime\"\nversion = \"{}\"", super::WASMTIME_VERSION);
        assert!(lock.contains(&locked));
    }
}
