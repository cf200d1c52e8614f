//! Rust source to a module, by the `rustc` of this machine.
//!
//! The compiler runs on the host and is a large program that was never meant to take hostile input. So it only sees what the
//! [source gate](crate::gate::vet_source) has let pass, and is confined besides: `rustc` is called directly, with the libraries of the
//! SDK and nothing else, so that there is no cargo, no build script, no procedural macro and no network; its environment is
//! empty, its directory a new one that is removed afterwards; and before it starts, a [helper process](run_rustc_helper)
//! limits its memory, its processor time, its processes and the size of what it writes, and, where the kernel has Landlock, takes from it every
//! file but the toolchain's, the system's libraries and that directory. At its deadline it is killed with all that it
//! started, and so it is when there are too many of them, or too much is in its directory.
//!
//! The SDK is compiled once for a toolchain, into a directory that belongs to this user alone. Where the compiler fails in a way that may
//! not be the source's fault, a source that is known to be good tells, and the SDK is compiled anew if that fails too. The same source gives the same bytes,
//! whatever the directories are called.

mod compiler;
mod confine;
mod error;
mod flags;
mod group;
mod job;
mod messages;
mod request;
mod sdk;
mod strip;
mod toolchain;
mod watch;

use std::path::PathBuf;

use serde::{Serialize, Serializer};

pub use confine::run_rustc_helper;
pub use error::RustcError;
pub(crate) use flags::SOURCE as RUST_SOURCE;
pub use messages::RustcMessage;
pub use toolchain::Toolchain;

/// What a helper's program is given as its only argument.
pub const RUSTC_COMMAND: &str = "compile-rust";

/// The variable that names a `rustc`; where it isn't set, there is the one on the path.
pub(crate) const RUSTC_VARIABLE: &str = "RETORT_RUSTC";

/// The target that extractors are compiled for.
pub(crate) const TARGET: &str = "wasm32-wasip1";

/// Where the toolchain is, and what it may use.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RustcOptions {
    /// The program that is started, with [`RUSTC_COMMAND`] as its only argument, to confine the compiler: see
    /// [`run_rustc_helper`].
    pub helper: PathBuf,
    /// The compiler. By default what `RETORT_RUSTC` names, else the `rustc` on the path.
    pub rustc: Option<PathBuf>,
    /// Where the compiled SDK is kept: a directory for this purpose alone, owned by the user that this process runs as, with
    /// mode 0700, which is created where it isn't there. By default `retort/sdk` in the user's cache directory. Where it can't be used, a
    /// temporary one takes its place.
    pub cache: Option<PathBuf>,
    /// What the compiler may use.
    pub limits: RustcLimits,
    /// Whether nothing is compiled where the kernel can't confine the compiler by all of Landlock. By default it is, and
    /// [`RustModule::confinement`] says so.
    pub require_confinement: bool,
}

impl RustcOptions {
    /// Options with this helper, and defaults for all else.
    #[must_use]
    pub fn new(helper: impl Into<PathBuf>) -> Self {
        let (rustc, cache, limits) = (None, None, RustcLimits::default());
        Self { helper: helper.into(), rustc, cache, limits, require_confinement: false }
    }
}

/// What the compiler may use for one extractor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RustcLimits {
    /// Wall-clock time, in milliseconds. Default 30,000: a small extractor takes half a second.
    pub time_ms: u64,
    /// Bytes of address space of each of its processes. Default 2 GiB: the compiler takes 800 MiB before it has read anything.
    pub memory_bytes: u64,
    /// Bytes of the module, and of any other file that it writes. Default 32 MiB: debug information is in it at first.
    pub module_bytes: u64,
    /// Bytes that all files may take which it has written and not removed, where the system tells. Default 256 MiB.
    pub written_bytes: u64,
    /// Processes that may be at work for it at one time, where the system tells. Default 64: the compiler, its linker, and scripts in front
    /// of them.
    pub processes: u64,
    /// Bytes that the guest's memory may grow to, which the module states. Default 16 MiB, as much as a sandbox grants by default.
    pub guest_memory_bytes: u64,
}

impl Default for RustcLimits {
    fn default() -> Self {
        Self {
            time_ms: 30_000,
            memory_bytes: 2 << 30,
            module_bytes: 32 << 20,
            written_bytes: 256 << 20,
            processes: 64,
            guest_memory_bytes: 16 << 20,
        }
    }
}

/// How far the compiler was kept from the files of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Confinement {
    /// By Landlock, with all that was asked of it: it could read the toolchain and the system's libraries, and write in its own directory,
    /// and could neither use TCP nor signal other processes. Of other protocols Landlock knows nothing.
    Landlock,
    /// By Landlock, as far as this kernel has it, which is older than Linux 6.12: files alone, or not all that can be done with them.
    Partial,
    /// By nothing but what the source gate refuses: this kernel has no Landlock, or it is turned off.
    None,
}

impl Confinement {
    const ALL: [Self; 3] = [Self::Landlock, Self::Partial, Self::None];

    /// Its name: `landlock`, `partial` or `none`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Landlock => "landlock",
            Self::Partial => "partial",
            Self::None => "none",
        }
    }

    /// The one of this name.
    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == name)
    }

    /// Whether it is all that there can be.
    #[must_use]
    pub fn is_full(self) -> bool {
        self == Self::Landlock
    }
}

impl Serialize for Confinement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// What the compiler made of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RustModule {
    /// The module, without debug information.
    pub module: Vec<u8>,
    /// The same with debug information: code is at the same offsets behind the beginning of the code section, so that a trap's place leads to a line.
    pub unstripped: Vec<u8>,
    /// How the compiler was confined.
    pub confinement: Confinement,
    /// What the compiler says of itself in one line: its name, version, commit and date.
    pub compiler: String,
    /// The SHA-256 digest of the SDK's source.
    pub sdk: [u8; 32],
}
