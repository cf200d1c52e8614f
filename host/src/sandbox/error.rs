//! The ways in which running a guest fails, each with its code.

use thiserror::Error;

use super::blame::Blame;
use super::trace::Trace;
use crate::abi::block::{BlockError, Deadline};
use crate::abi::event::EventError;
use crate::abi::result::ResultError;
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::diagnostics::untrusted::escaped;
use rustix::io::Errno;

/// Why a module can't be made ready.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ModuleLoadError {
    /// The engine can't be built on this machine; what wasmtime or the system says.
    #[error("the engine can't be built: {0}")]
    Engine(String),
    /// wasmtime refuses the module; what it says.
    #[error("the module can't be compiled to native code: {0}")]
    Module(String),
    /// This host did not render the module, and nobody is named who compiles such.
    #[error(
        "this host did not render the module, and no helper is named that compiles such modules"
    )]
    Foreign,
    /// Compiling the module took longer than it may. The process that did it is gone.
    #[error("the module took {used_ms} ms to compile, {allowed_ms} are allowed")]
    CompileDeadline {
        /// Milliseconds that it took until it was given up.
        used_ms: u64,
        /// Milliseconds that it may take.
        allowed_ms: u64,
    },
    /// Compiling the module took more memory than it may. The process that did it is gone.
    #[error("the module takes more than {allowed} bytes of memory to compile")]
    CompileMemory {
        /// Bytes of address space that compiling may take.
        allowed: usize,
    },
    /// The process that was to compile the module failed; what is known about it, escaped.
    #[error("the helper that compiles modules failed: {0}")]
    Helper(String),
    /// A directory can't be granted.
    #[error("{directory} can't be granted to guests: {message}")]
    Directory {
        /// Where it is.
        directory: String,
        /// What is wrong with it or with the grant.
        message: String,
    },
    /// The host has no memory, no address space or no open file for the module's code; what the system says. The module did nothing wrong.
    #[error("the host could not make the module ready: {0}")]
    Host(String),
    /// A tenant is to have what the engine that it would share isn't built for.
    #[error("the tenant's {what} is {asked}, the engine that is shared has {shared}")]
    OtherEngine {
        /// What belongs to the engine.
        what: &'static str,
        /// As the tenant is to have it.
        asked: String,
        /// As the engine has it.
        shared: String,
    },
    /// The module asks for an import that isn't there; what wasmtime says.
    #[error("the module can't be linked: {0}")]
    Link(String),
}

impl ModuleLoadError {
    pub(super) fn engine(error: wasmtime::Error) -> Self {
        Self::Engine(format!("{error:#}"))
    }

    pub(super) fn module(error: wasmtime::Error) -> Self {
        let refusal = if is_refused_by_system(&error) { Self::Host } else { Self::Module };
        refusal(said(&error))
    }

    /// Whether it is the host that can't do its work, whatever the module is.
    #[must_use]
    pub fn is_of_host(&self) -> bool {
        matches!(self, Self::Engine { .. } | Self::Host { .. } | Self::OtherEngine { .. })
    }

    pub(super) fn link(error: wasmtime::Error) -> Self {
        Self::Link(said(&error))
    }
}

impl Coded for ModuleLoadError {
    fn entry(&self) -> Code {
        match self {
            Self::Engine { .. } | Self::OtherEngine { .. } => codes::ENGINE_FAILED,
            Self::Host { .. } => codes::HOST_FAILED,
            Self::Module { .. } => codes::LOAD_FAILED,
            Self::Foreign => codes::FOREIGN_MODULE,
            Self::CompileDeadline { .. } => codes::COMPILE_DEADLINE_EXCEEDED,
            Self::CompileMemory { .. } => codes::COMPILE_MEMORY_EXCEEDED,
            Self::Helper { .. } => codes::HELPER_FAILED,
            Self::Directory { .. } => codes::DIRECTORY_REFUSED,
            Self::Link { .. } => codes::LINK_FAILED,
        }
    }

    fn usage(&self) -> Option<(u64, u64)> {
        match self {
            Self::CompileDeadline { used_ms, allowed_ms } => Some((*used_ms, *allowed_ms)),
            Self::CompileMemory { allowed } => Some((*allowed as u64, *allowed as u64)),
            _ => None,
        }
    }
}

/// What ended a guest's call: what it did, or that the host could not serve it. The instance it happened in is thrown away.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GuestError {
    /// The fuel for this event is spent.
    #[error("the extractor used up its fuel of {allowed}")]
    OutOfFuel {
        /// The least that it took or was about to take: how much more it was isn't known.
        used: u64,
        /// The fuel that it was given.
        allowed: u64,
    },
    /// The wall-clock deadline has passed.
    #[error("the event took {used_ms} ms when its extractor was stopped, {allowed_ms} are allowed")]
    Deadline {
        /// Milliseconds that the event had taken, from before it was read on.
        used_ms: u64,
        /// The deadline in milliseconds.
        allowed_ms: u64,
    },
    /// It asked for more linear memory than it may have.
    #[error("the extractor asked for {used} bytes of memory, {allowed} are allowed")]
    Memory {
        /// Bytes that it asked for.
        used: usize,
        /// Bytes that it may have.
        allowed: usize,
    },
    /// It asked for larger tables than it may have.
    #[error("the extractor asked for {used} table elements, {allowed} are allowed")]
    Table {
        /// Elements that it asked for.
        used: usize,
        /// Elements that it may have.
        allowed: usize,
    },
    /// There are as many instances as there can be, so that it got none. It did nothing wrong.
    #[error("all {allowed} instances of the pool are in use")]
    PoolExhausted {
        /// Instances that there can be at one time.
        allowed: u32,
    },
    /// The host could not make an instance, or let one grow as its limits allow: it has no memory, no address
    /// space or no open file. The guest did nothing wrong. What the system says, escaped.
    #[error("the host could not run the extractor: {0}")]
    Host(String),
    /// Its stack is full.
    #[error("the extractor's stack overflowed its {allowed} bytes")]
    StackOverflow {
        /// Bytes of stack.
        allowed: usize,
    },
    /// It executed `unreachable`: what a panic of a Rust guest ends in.
    #[error("the extractor executed `unreachable`")]
    Unreachable,
    /// It read or wrote outside its memory.
    #[error("the extractor accessed memory out of bounds")]
    OutOfBounds,
    /// A division by zero, or an integer that doesn't fit.
    #[error("the extractor divided by zero or overflowed an integer conversion")]
    Division,
    /// An indirect call that has no function, or one of another type.
    #[error("the extractor made an indirect call that has no function of its type")]
    IndirectCall,
    /// It ended itself through WASI's `proc_exit`, whatever the status.
    #[error("the extractor exited with status {status} instead of giving a result")]
    Exit {
        /// Its exit status.
        status: i32,
    },
    /// It wrote more to its standard output and standard error than it may.
    #[error("the extractor wrote {used} bytes to its log, {allowed} are allowed")]
    LogExceeded {
        /// Bytes written, those that were one too many included.
        used: usize,
        /// Bytes that it may write.
        allowed: usize,
    },
    /// Another trap, as wasmtime names it.
    #[error("the extractor trapped: {0}")]
    Trap(String),
    /// `retort_buffer` gave a place that isn't in the memory, or refused.
    #[error("`retort_buffer` gave address {address} for {length} bytes, the memory has {memory}")]
    BadBuffer {
        /// The address.
        address: u32,
        /// Length of the input block.
        length: usize,
        /// Bytes of memory.
        memory: usize,
    },
    /// The result isn't in the memory.
    #[error(
        "the result at address {address} with {length} bytes is outside the memory of {memory}"
    )]
    BadResult {
        /// The address.
        address: u32,
        /// Its length.
        length: u32,
        /// Bytes of memory.
        memory: usize,
    },
    /// The result is larger than it may be.
    #[error("the result has {used} bytes, {allowed} are allowed")]
    OutputTooLarge {
        /// Its bytes.
        used: usize,
        /// What it may have.
        allowed: usize,
    },
}

impl GuestError {
    /// What the system refused the host.
    pub(super) fn host(error: &wasmtime::Error) -> Self {
        Self::Host(said(error))
    }

    /// Whether it is the host that could not serve the guest, which did nothing wrong.
    #[must_use]
    pub fn is_of_host(&self) -> bool {
        matches!(self, Self::PoolExhausted { .. } | Self::Host { .. })
    }
}

impl Coded for GuestError {
    fn entry(&self) -> Code {
        match self {
            Self::OutOfFuel { .. } => codes::OUT_OF_FUEL,
            Self::Deadline { .. } => codes::DEADLINE_EXCEEDED,
            Self::Memory { .. } => codes::MEMORY_EXCEEDED,
            Self::Table { .. } => codes::TABLE_EXCEEDED,
            Self::PoolExhausted { .. } => codes::POOL_EXHAUSTED,
            Self::Host { .. } => codes::HOST_FAILED,
            Self::StackOverflow { .. } => codes::STACK_OVERFLOW,
            Self::Unreachable => codes::UNREACHABLE,
            Self::OutOfBounds => codes::OUT_OF_BOUNDS,
            Self::Division => codes::DIVISION,
            Self::IndirectCall => codes::INDIRECT_CALL,
            Self::Exit { .. } => codes::EXIT,
            Self::LogExceeded { .. } => codes::LOG_EXCEEDED,
            Self::Trap { .. } => codes::TRAP,
            Self::BadBuffer { .. } => codes::BAD_BUFFER,
            Self::BadResult { .. } => codes::BAD_RESULT,
            Self::OutputTooLarge { .. } => codes::OUTPUT_TOO_LARGE,
        }
    }

    fn usage(&self) -> Option<(u64, u64)> {
        let (used, allowed) = match self {
            Self::OutOfFuel { used, allowed } => (*used, *allowed),
            Self::Memory { used, allowed }
            | Self::Table { used, allowed }
            | Self::LogExceeded { used, allowed }
            | Self::OutputTooLarge { used, allowed } => (*used as u64, *allowed as u64),
            Self::Deadline { used_ms, allowed_ms } => (*used_ms, *allowed_ms),
            Self::PoolExhausted { allowed } => (u64::from(*allowed), u64::from(*allowed)),
            Self::StackOverflow { allowed } => (*allowed as u64, *allowed as u64),
            _ => return None,
        };
        Some((used, allowed))
    }
}

/// Why one event gave no result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The event never reached the guest.
    #[error(transparent)]
    Event(#[from] EventError),
    /// Its inputs can't be evaluated, or are too much for the guest.
    #[error(transparent)]
    Input(#[from] BlockError),
    /// The guest failed.
    #[error(transparent)]
    Guest(#[from] GuestError),
    /// The guest gave something that isn't a result.
    #[error(transparent)]
    Result(#[from] ResultError),
    /// Reading the event, or checking the result, took longer than the event may.
    #[error("the event took {used_ms} ms, {allowed_ms} are allowed")]
    Deadline {
        /// Milliseconds that it had taken.
        used_ms: u64,
        /// Milliseconds that it may take.
        allowed_ms: u64,
    },
    /// One of these, of a guest that had written something to its log.
    #[error("{error}; its log ends with: {log}")]
    Logged {
        /// What happened.
        error: Box<RunError>,
        /// The end of the log, escaped and bounded.
        log: String,
    },
    /// One of these, of a guest that had left a message for it: what an extractor in Rust says when it panics.
    #[error("{error}: {message}")]
    Told {
        /// What happened.
        error: Box<RunError>,
        /// The message, escaped and bounded.
        message: String,
    },
    /// One of these, of a guest whose source, or the names of whose functions, are known: where in it that was.
    #[error("{error}; {} {}", if place.is_some() { "at" } else { "in" }, calls.join(", called from "))]
    Traced {
        /// What happened.
        error: Box<RunError>,
        /// Line and column, `12:5`, where they are known.
        place: Option<String>,
        /// The calls that led there, the innermost one first, each with its file, place and function, or with its function alone.
        calls: Vec<String>,
    },
    /// The result isn't what it is proven to be, by a defect of the host: no proof of this extractor is relied on any more.
    #[error("the result is not what it is proven to be: {found}")]
    Refuted {
        /// What it is instead.
        found: String,
    },
    /// The thread of a [`Worker`](super::Worker) is gone.
    #[error("the worker's thread is gone")]
    Worker,
}

impl RunError {
    /// An error if the event's time is over.
    pub(super) fn if_over(deadline: Deadline<'_>) -> Result<(), Self> {
        if deadline.is_over() {
            let (used_ms, allowed_ms) = (deadline.used_ms(), deadline.allowed_ms());
            return Err(Self::Deadline { used_ms, allowed_ms });
        }
        Ok(())
    }

    /// Whether it is the host that could not serve the event, so that nothing is known about the extractor: its [blame](Self::blame).
    #[must_use]
    pub fn is_of_host(&self) -> bool {
        self.blame() == Blame::Host
    }

    /// What happened, without what the guest says of it: never [`RunError::Logged`], [`RunError::Told`] or
    /// [`RunError::Traced`].
    #[must_use]
    pub fn cause(&self) -> &Self {
        let mut cause = self;
        while let Self::Logged { error, .. }
        | Self::Told { error, .. }
        | Self::Traced { error, .. } = cause
        {
            cause = error;
        }
        cause
    }

    /// This error with the guest's message, where it has left one.
    pub(super) fn with_message(self, message: Option<String>) -> Self {
        match message {
            Some(message) => Self::Told { error: Box::new(self), message },
            None => self,
        }
    }

    /// This error with where it happened in the guest's source, if that was found out.
    pub(crate) fn with_trace(self, trace: Option<Trace>) -> Self {
        match trace {
            Some(Trace { place, calls }) => Self::Traced { error: Box::new(self), place, calls },
            None => self,
        }
    }

    /// This error with the end of the log, where the guest has written to one.
    pub(super) fn with_log(self, log: Option<String>) -> Self {
        match log {
            Some(log) => Self::Logged { error: Box::new(self), log },
            None => self,
        }
    }
}

impl Coded for RunError {
    fn entry(&self) -> Code {
        match self {
            Self::Event(error) => error.entry(),
            Self::Input(error) => error.entry(),
            Self::Guest(error) => error.entry(),
            Self::Result(error) => error.entry(),
            Self::Deadline { .. } => codes::DEADLINE_EXCEEDED,
            Self::Logged { error, .. } | Self::Told { error, .. } | Self::Traced { error, .. } => {
                error.entry()
            }
            Self::Refuted { .. } => codes::PROOF_REFUTED,
            Self::Worker => codes::WORKER_FAILED,
        }
    }

    fn place(&self) -> Option<String> {
        match self {
            Self::Result(error) => error.place(),
            Self::Logged { error, .. } | Self::Told { error, .. } => error.place(),
            Self::Traced { place, .. } => place.clone(),
            _ => None,
        }
    }

    fn usage(&self) -> Option<(u64, u64)> {
        match self {
            Self::Event(error) => error.usage(),
            Self::Input(error) => error.usage(),
            Self::Guest(error) => error.usage(),
            Self::Result(error) => error.usage(),
            Self::Deadline { used_ms, allowed_ms } => Some((*used_ms, *allowed_ms)),
            Self::Logged { error, .. } | Self::Told { error, .. } | Self::Traced { error, .. } => {
                error.usage()
            }
            Self::Refuted { .. } | Self::Worker => None,
        }
    }
}

/// What wasmtime or the system says, escaped: some of it may be the module's own text.
pub(super) fn said(error: &wasmtime::Error) -> String {
    escaped(&format!("{error:#}"))
}

/// Whether the system refused the host memory, address space or an open file, of which the image of a memory takes one.
pub(super) fn is_refused_by_system(error: &wasmtime::Error) -> bool {
    let is_refusal =
        |errno| matches!(errno, Errno::NOMEM | Errno::AGAIN | Errno::MFILE | Errno::NFILE);
    error.chain().any(|cause| {
        let errno = cause.downcast_ref::<Errno>().copied();
        let io = cause.downcast_ref::<std::io::Error>();
        errno.or_else(|| Errno::from_io_error(io?)).is_some_and(is_refusal)
            || io.is_some_and(|it| it.kind() == std::io::ErrorKind::OutOfMemory)
            || cause.is::<wasmtime::OutOfMemory>()
    })
}
