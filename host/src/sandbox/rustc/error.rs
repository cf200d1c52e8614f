//! Why there is no module.

use std::path::PathBuf;

use super::{Confinement, RustcMessage, TARGET};
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::{Coded, Problem, Stage};

/// Why source did not become a module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RustcError {
    /// There is no compiler, or what is named as one is none.
    #[error(
        "there is no Rust compiler: {reason}; install one from https://rustup.rs, or name one in RETORT_RUSTC"
    )]
    ToolchainMissing {
        /// What was looked for and why it isn't one.
        reason: String,
    },
    /// The compiler can't compile for WebAssembly.
    #[error("{} compiles nothing for {TARGET}: run `rustup target add {TARGET}`", rustc.display())]
    TargetMissing {
        /// The compiler.
        rustc: PathBuf,
    },
    /// The SDK can't be compiled, or the helper that confines the compiler fails.
    #[error("the toolchain can't be used: {0}")]
    ToolchainFailed(String),
    /// The compiler can't use the libraries of the SDK, though they were compiled anew.
    #[error("the compiled SDK can't be used, though it was compiled anew: {0}")]
    SdkUnusable(String),
    /// The compiler got so little of a processor that it wasn't done.
    #[error(
        "the compiler had {used_ms} ms of a processor in {waited_ms} ms, which says nothing about the source: the machine is too busy"
    )]
    Starved {
        /// How long it was waited for, in milliseconds.
        waited_ms: u64,
        /// How long it was at work, in milliseconds.
        used_ms: u64,
    },
    /// The kernel can't confine the compiler as it has to be.
    #[error(
        "the compiler would be confined by {}, and all of Landlock is required, which Linux has from 6.12 on", found.as_str()
    )]
    Unconfined {
        /// How it would be.
        found: Confinement,
    },
    /// Nobody waits for the module any longer.
    #[error("the compiling was cancelled")]
    Cancelled,
    /// The source has errors.
    #[error("{}", rejection(messages, *omitted))]
    Rejected {
        /// The errors: at least one, at most ten.
        messages: Vec<RustcMessage>,
        /// How many more there are.
        omitted: usize,
    },
    /// The compiler wasn't done in time.
    #[error(
        "the compiler took more than {allowed_ms} ms and was ended: it has too much to work out in types, constants or generic functions"
    )]
    Timeout {
        /// How long it took until then, in milliseconds.
        used_ms: u64,
        /// How long it may take.
        allowed_ms: u64,
    },
    /// The compiler needs more memory than it may have.
    #[error(
        "the compiler asked for more than {allowed} bytes of memory: it has too much to lay out or work out"
    )]
    Memory {
        /// How much it may have.
        allowed: u64,
    },
    /// There are too many processes of the compiler's.
    #[error("the compiler started more than {allowed} processes")]
    Processes {
        /// How many there are.
        used: u64,
        /// How many there may be.
        allowed: u64,
    },
    /// The compiler has written too much.
    #[error("the compiler wrote more than {allowed} bytes")]
    Written {
        /// How much it has written until then.
        used: u64,
        /// How much it may write.
        allowed: u64,
    },
    /// The compiler ended by itself without an error of the source.
    #[error("the compiler failed: {0}")]
    Crashed(String),
    /// The module is too large.
    #[error("a module of more than {allowed} bytes, debug information included")]
    ModuleTooLarge {
        /// How large it may be.
        allowed: u64,
    },
}

fn rejection(messages: &[RustcMessage], omitted: usize) -> String {
    let mut said: Vec<String> = messages.iter().map(ToString::to_string).collect();
    if omitted > 0 {
        said.push(format!("and {omitted} more"));
    }
    said.join("; ")
}

impl RustcError {
    /// Whether it is the machine that can't do it, whatever the source is.
    #[must_use]
    pub fn is_of_host(&self) -> bool {
        matches!(
            self,
            Self::ToolchainMissing { .. }
                | Self::TargetMissing { .. }
                | Self::ToolchainFailed(_)
                | Self::SdkUnusable(_)
                | Self::Starved { .. }
                | Self::Unconfined { .. }
                | Self::Cancelled
        )
    }

    /// Whether it may be the fault of the compiler, or of what it was given beside the source: then a source that is known to be
    /// good tells.
    pub(super) fn is_doubtful(&self) -> bool {
        match self {
            Self::Crashed(_) | Self::SdkUnusable(_) => true,
            Self::Rejected { messages, .. } => messages.iter().any(RustcMessage::is_doubtful),
            _ => false,
        }
    }

    /// Every problem: one for each error of the source, with its place.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let Self::Rejected { messages, .. } = self else { return vec![self.problem()] };
        messages
            .iter()
            .map(|message| {
                Problem::new(Stage::Compile, self.entry(), message.text())
                    .at(message.place().unwrap_or_default())
            })
            .collect()
    }
}

impl Coded for RustcError {
    fn entry(&self) -> Code {
        match self {
            Self::ToolchainMissing { .. } => codes::TOOLCHAIN_MISSING,
            Self::TargetMissing { .. } => codes::TARGET_MISSING,
            Self::ToolchainFailed(_) => codes::TOOLCHAIN_FAILED,
            Self::SdkUnusable(_) => codes::SDK_UNUSABLE,
            Self::Starved { .. } => codes::RUSTC_STARVED,
            Self::Unconfined { .. } => codes::RUSTC_UNCONFINED,
            Self::Cancelled => codes::GATES_INTERRUPTED,
            Self::Rejected { .. } => codes::RUSTC_REJECTED,
            Self::Timeout { .. } => codes::RUSTC_TIMEOUT,
            Self::Memory { .. } => codes::RUSTC_MEMORY_EXCEEDED,
            Self::Processes { .. } => codes::RUSTC_PROCESSES_EXCEEDED,
            Self::Written { .. } => codes::RUSTC_WRITTEN_EXCEEDED,
            Self::Crashed(_) => codes::RUSTC_CRASHED,
            Self::ModuleTooLarge { .. } => codes::RUSTC_MODULE_TOO_LARGE,
        }
    }

    fn place(&self) -> Option<String> {
        match self {
            Self::Rejected { messages, .. } => messages.first().and_then(RustcMessage::place),
            _ => None,
        }
    }

    fn usage(&self) -> Option<(u64, u64)> {
        match *self {
            Self::Timeout { used_ms, allowed_ms } => Some((used_ms, allowed_ms)),
            Self::Processes { used, allowed } | Self::Written { used, allowed } => {
                Some((used, allowed))
            }
            // How much more it would have been isn't known.
            Self::Memory { allowed } | Self::ModuleTooLarge { allowed } => Some((allowed, allowed)),
            _ => None,
        }
    }
}
