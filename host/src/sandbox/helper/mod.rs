//! Compiling in a process of its own.
//!
//! What the static gate doesn't foresee of a module's compilation ends a helper process, and nothing else: the sandbox
//! starts the program that [`ForeignModules::Helper`](super::ForeignModules::Helper) names, with [`COMMAND`] as its only
//! argument, an empty environment, `/` as its directory and three pipes. The helper limits itself before it reads the
//! module: its address space to [`Limits::compile_memory_bytes`](super::Limits::compile_memory_bytes), its processor time,
//! and no files, processes or core dumps. (The kernel doesn't hold root to the limit on processes.) It hands back native code, serialised, or why there is none. The sandbox kills
//! it when [`Limits::compile_ms`](super::Limits::compile_ms) are over, reads no more than [`MAX_CODE_BYTES`], and waits for
//! its end in any case. As many run at one time, for one engine, as there are processors; waiting for a place isn't counted.
//!
//! For a small module all that takes some 5 ms more than compiling in this process, of which 3 ms are the start of the program.
//!
//! The helper has to be of the same build as the host, which both check: `retort` starts itself, and a program that embeds
//! the library can do the same. File descriptors that the host has opened without close-on-exec, which the standard
//! library never does, are the helper's as well.
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! use retort::sandbox::{ForeignModules, Options, Sandbox, helper};
//!
//! fn main() -> ExitCode {
//!     if std::env::args().nth(1).as_deref() == Some(helper::COMMAND) {
//!         return helper::serve();
//!     }
//!     let foreign = std::env::current_exe().map_or(ForeignModules::Refuse, ForeignModules::Helper);
//!     let sandbox = Sandbox::with_options(Options { foreign, ..Options::default() });
//!     if sandbox.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
//! }
//! ```

mod host;
mod protocol;
mod serve;
mod slots;

pub(super) use host::compile;
pub use serve::serve;
pub(super) use slots::Slots;

/// What a helper's program is given as its only argument.
pub const COMMAND: &str = "compile-module";

/// Most bytes of native code that a helper may hand back: 64 MiB. A module as large as the static gate takes by default
/// becomes some 10 MiB.
pub const MAX_CODE_BYTES: usize = 64 << 20;
