//! The sandbox: inspected modules run inside wasmtime, with every limit on.
//!
//! A [`Sandbox`] is one engine with its limits; a [`Extractor`] is a module made ready in it; a [`Runner`] reads events,
//! gives the extractor its declared inputs and checks what comes back. Engines and extractors are shared between threads, a
//! runner belongs to one. A [tenant's policy](tenant) says what an extractor may do in it.
//!
//! It knows the ABI and inspected modules, and nothing of plans, samples or bundles.

mod cache;
mod engine;
mod error;
mod exports;
mod extractor;
pub(crate) mod files;
mod guest;
pub mod helper;
mod limits;
mod native;
mod options;
mod pool;
mod runner;
mod store;
pub mod tenant;
mod trap;
mod wasi;
mod worker;

pub use cache::{Cache, CacheReport, CacheWarning};
pub(crate) use engine::MAX_STACK_BYTES;
pub use engine::Sandbox;
pub use error::{GuestError, ModuleLoadError, RunError};
pub use extractor::Extractor;
pub use limits::Limits;
pub use options::{Allocator, ForeignModules, Isolation, Options, Pool};
pub use runner::{Observer, RunOutcome, Runner, Step};
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
