//! What wasmtime ends a call with, as the error that it is.

use wasmtime::Trap;

use super::GuestError;
use super::error::{is_refused_by_system, said};
use crate::abi::block::Deadline;

/// What one event may take of the limits that go by the event.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventBudget<'a> {
    pub(super) fuel: u64,
    pub(super) stack_bytes: usize,
    pub(super) deadline: Deadline<'a>,
}

impl EventBudget<'_> {
    pub(super) fn out_of_fuel(&self) -> GuestError {
        GuestError::OutOfFuel { used: self.fuel.saturating_add(1), allowed: self.fuel }
    }

    pub(super) fn too_late(&self) -> GuestError {
        let allowed_ms = self.deadline.allowed_ms();
        // Two clocks may differ by a tick.
        GuestError::Deadline { used_ms: self.deadline.used_ms().max(allowed_ms), allowed_ms }
    }
}

/// A trap as the error that it is under a budget. A limiter's refusal travels as it is.
pub(super) fn trapped(error: &wasmtime::Error, budget: &EventBudget<'_>) -> GuestError {
    if let Some(refused) = error.downcast_ref::<GuestError>() {
        return refused.clone();
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => budget.out_of_fuel(),
        Some(Trap::Interrupt) => budget.too_late(),
        Some(Trap::StackOverflow) => GuestError::StackOverflow { allowed: budget.stack_bytes },
        Some(Trap::UnreachableCodeReached) => GuestError::Unreachable,
        Some(Trap::MemoryOutOfBounds | Trap::HeapMisaligned) => GuestError::OutOfBounds,
        Some(
            Trap::IntegerDivisionByZero | Trap::IntegerOverflow | Trap::BadConversionToInteger,
        ) => GuestError::Division,
        Some(Trap::TableOutOfBounds | Trap::IndirectCallToNull | Trap::BadSignature) => {
            GuestError::IndirectCall
        }
        Some(other) => GuestError::Trap(other.to_string()),
        None if is_refused_by_system(error) => GuestError::host(error),
        // What it gave a function of the host is nonsense.
        None => GuestError::Trap(said(error)),
    }
}

#[cfg(test)]
mod tests {
    use rustix::io::Errno;
    use wasmtime::{Error, ResourceLimiter};

    use super::*;
    use crate::diagnostics::problem::Coded;
    use crate::sandbox::store::Limiter;
    use crate::sandbox::{Limits, ModuleLoadError};

    /// What memory and files that can't be had look like: as the system reports them, with what wasmtime says around it.
    fn refused() -> [Error; 4] {
        let io = std::io::Error::from(std::io::ErrorKind::OutOfMemory);
        let files = std::io::Error::from(Errno::MFILE);
        [
            Errno::NOMEM.into(),
            Error::from(Errno::NOMEM).context("mmap failed"),
            io.into(),
            Error::from(files).context("cannot create a memfd"),
        ]
    }

    #[test]
    fn what_the_host_has_not_is_no_fault_of_a_guest() {
        for error in refused() {
            assert!(is_refused_by_system(&error), "{error:#}");
            assert_eq!(ModuleLoadError::module(error).code(), "host_failed");
        }
        let error = Error::msg("not a module").context("cannot allocate memory");
        assert!(!is_refused_by_system(&error));
        assert_eq!(ModuleLoadError::module(error).code(), "load_failed");
    }

    #[test]
    fn a_guest_that_could_not_grow_for_the_host_is_ended_by_it() {
        let mut limiter = Limiter::new(&Limits::default());
        for error in refused() {
            let ended =
                limiter.memory_grow_failed(error).expect_err("it is reported to nobody else");
            assert_eq!(ended.downcast_ref::<GuestError>().map(Coded::code), Some("host_failed"));
        }
        assert!(limiter.memory_grow_failed(Error::msg("Memory maximum size exceeded")).is_ok());
    }
}
