//! Compiling in a process of its own.

mod host;
mod protocol;
mod serve;
mod slots;

pub(super) use host::compile;
pub use serve::run_compile_helper;
pub(super) use slots::Slots;

/// What a helper's program is given as its only argument.
pub const COMPILE_COMMAND: &str = "compile-module";

/// Most bytes of native code that a helper may hand back: 64 MiB. A module as large as the static gate takes by default
/// becomes some 10 MiB.
pub const MAX_CODE_BYTES: usize = 64 << 20;
