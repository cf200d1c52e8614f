//! What a store holds for the host: the limiter that every growth of a guest has to ask, and its WASI if it has one.

use wasmtime::ResourceLimiter;

use super::error::is_refused_by_system;
use super::{GuestError, Limits, wasi};

/// The host's side of one instance.
pub(super) struct StoreState {
    pub(super) limiter: Limiter,
    /// In a box, since most guests have none.
    wasi: Option<Box<wasi::Host>>,
}

impl StoreState {
    pub(super) fn new(limits: &Limits, wasi: Option<wasi::Host>) -> Self {
        Self { limiter: Limiter::new(limits), wasi: wasi.map(Box::new) }
    }

    /// What the functions of WASI work on; nothing for a guest that imports none.
    #[cfg(feature = "wasi")]
    pub(super) fn wasi(&mut self) -> Option<&mut wasi::Host> {
        self.wasi.as_deref_mut()
    }

    /// Bytes that the memory has, or was to have where the system refused to let it grow.
    pub(super) fn memory_used(&self) -> usize {
        self.limiter.memory.used
    }

    /// Closes whatever the guest has open.
    pub(super) fn end_wasi(&mut self) {
        self.wasi = None;
    }
}

/// Counts what all memories and all tables of a store have together.
#[derive(Debug)]
pub(super) struct Limiter {
    memory: Growth,
    table: Growth,
}

/// What was taken of what may be taken.
#[derive(Debug)]
struct Growth {
    used: usize,
    allowed: usize,
}

impl Growth {
    /// Whether something may grow so, as far as its own maximum goes; or what would be used, where that is too much.
    fn grow(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> Result<bool, usize> {
        let used = self.used.saturating_add(desired.saturating_sub(current));
        if used > self.allowed {
            return Err(used);
        }
        // What its own maximum forbids won't happen, so it must not be counted either.
        let admitted = maximum.is_none_or(|maximum| desired <= maximum);
        if admitted {
            self.used = used;
        }
        Ok(admitted)
    }
}

impl Limiter {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            memory: Growth { used: 0, allowed: limits.memory_bytes },
            table: Growth { used: 0, allowed: limits.table_elements },
        }
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let allowed = self.memory.allowed;
        let grown = self.memory.grow(current, desired, maximum);
        grown.map_err(|used| GuestError::Memory { used, allowed }.into())
    }

    // Otherwise the guest would learn that it can't have what it may, and most end themselves for that.
    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        if is_refused_by_system(&error) { Err(GuestError::host(&error).into()) } else { Ok(()) }
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let allowed = self.table.allowed;
        let grown = self.table.grow(current, desired, maximum);
        grown.map_err(|used| GuestError::Table { used, allowed }.into())
    }

    fn instances(&self) -> usize {
        1
    }

    fn tables(&self) -> usize {
        1
    }

    fn memories(&self) -> usize {
        1
    }
}
