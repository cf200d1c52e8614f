//! What stands for WASI in a build without it: no sandbox grants any, so the static gate lets no guest pass that imports it.

use wasmtime::{Engine, Linker};

use super::{Granted, Log};
use crate::abi::block::Deadline;
use crate::gate::inspect::Grant;
use crate::sandbox::GuestError;
use crate::sandbox::store::StoreState;

/// The host's side of a guest that imports WASI, of which there is none.
pub(in crate::sandbox) enum Host {}

impl Host {
    pub(in crate::sandbox) fn new(
        _: &Granted,
        _: &Log,
        _: Deadline<'_>,
    ) -> Result<Self, GuestError> {
        Err(GuestError::Trap("this build of Retort has no WASI".to_owned()))
    }
}

/// A linker that holds nothing: whatever a module imports isn't there.
pub(in crate::sandbox) fn linker(
    engine: &Engine,
    _: Grant,
) -> wasmtime::Result<Linker<StoreState>> {
    Ok(Linker::new(engine))
}
