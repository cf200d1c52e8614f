//! How a sandbox is built: what is limited, what is shared between events, and who compiles what nobody vouches for.

use std::num::NonZeroU32;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Cache, Limits, WasiGrants};

/// How a sandbox is built. The default is the strictest that costs nothing: every limit on, instances kept only where they
/// are proven to keep nothing, and modules that this host did not render refused rather than compiled in its process.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// What a guest may use.
    pub limits: Limits,
    /// For how long one instance may serve.
    pub isolation: Isolation,
    /// Where instances come from.
    pub allocator: Allocator,
    /// Who compiles modules that this host did not render.
    pub foreign: ForeignModules,
    /// What guests may import of WASI, and which directories they may read.
    pub wasi: WasiGrants,
    /// Where native code, and verdicts of the gates on bundles, are kept for the next time; by default nowhere.
    pub cache: Option<Cache>,
    /// How many results of an extractor whose results are proven to have a known form come to one that is read in full all the
    /// same, by each runner: the first one, and then each that is so many later. 1 reads all of them. Default 64. It is no
    /// matter of what is accepted: see [`Extractor::knows_results`](super::Extractor::knows_results).
    pub check_one_in: NonZeroU32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            isolation: Isolation::default(),
            allocator: Allocator::default(),
            foreign: ForeignModules::default(),
            wasi: WasiGrants::default(),
            cache: None,
            check_one_in: NonZeroU32::MIN.saturating_add(63),
        }
    }
}

/// For how long one instance of an extractor may serve. It says the most that is shared: a module that isn't proven to be
/// reset-safe gets an instance as new for every event, whatever this says, so the result of an event never depends on those
/// before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// An instance as new for every event: the one that served the last event with its memory and its globals put back as they were, where
    /// [nothing else of it can change](super::Extractor::restores_instances) and little of it did, and a new one otherwise.
    PerEvent,
    /// A new instance for every batch, as [`Runner::begin_batch`](super::Runner::begin_batch) marks them.
    PerBatch,
    /// One instance for as long as its runner lives and no call fails. The default.
    #[default]
    Warm,
}

impl Isolation {
    /// All of them, the strictest first.
    pub const ALL: [Self; 3] = [Self::PerEvent, Self::PerBatch, Self::Warm];

    /// The name in files and options: `per-event`, `per-batch` or `warm`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PerEvent => "per-event",
            Self::PerBatch => "per-batch",
            Self::Warm => "warm",
        }
    }
}

/// Where instances come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Allocator {
    /// Memory is mapped for each instance and unmapped after it. The default: nothing is reserved.
    #[default]
    OnDemand,
    /// A pool of slots is reserved once.
    Pooling(Pool),
}

impl Allocator {
    /// The name in files and options: `on-demand` or `pooling`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OnDemand => "on-demand",
            Self::Pooling(_) => "pooling",
        }
    }
}

impl std::fmt::Display for Allocator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())?;
        match self {
            Self::OnDemand => Ok(()),
            Self::Pooling(Pool { instances, keep_resident, batch, without_swap }) => {
                write!(f, " (instances {instances}, keep_resident {keep_resident}, batch {batch}")?;
                f.write_str(if *without_swap { ", without_swap)" } else { ")" })
            }
        }
    }
}

/// A pool of instances: places for them that are reserved once, and made as new after each. Address space is what it takes, 4 GiB
/// and some for each place; memory is used only where guests write. A missing key in the serialised form means its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pool {
    /// How many instances there can be at one time, over all threads. Default 64. Each runner that has run an event holds one
    /// until its next event or [`Runner::begin_batch`](super::Runner::begin_batch), a warm one for as long as it lives; an event
    /// that finds none free fails with the code `pool_exhausted`. Where a place is free and still being made as new, the event
    /// waits for it.
    pub instances: u32,
    /// Bytes at the start of a memory that are made as new by writing over them. What lies after is given back to the system,
    /// which brings a new page in when it is touched next. Default 16 KiB: that is where a rendered extractor keeps its constants,
    /// and each page more that is written over costs every instance.
    pub keep_resident: usize,
    /// How many memories are given back to the system at a time, on each of the machine's processors. Default 16: one call for
    /// many is what makes instances cheap. Until then what a guest wrote stays where nobody can read it but this
    /// process: no memory is used again before it was given back.
    pub batch: usize,
    /// The host's word that memory of this process is never swapped out: the machine has no swap and gets none, the process is in a
    /// group without it, or its memory is locked. Default `false`. Then the kernel is asked which pages a guest has written, where
    /// it can be (Linux 6.7), and up to [`keep_resident`](Self::keep_resident) bytes of these, wherever they lie, are written over
    /// and stay: 64 KiB are a good figure. A page that was swapped out all the same would show what one guest wrote to the next one
    /// in its place, whosever that is: this is no setting to try.
    pub without_swap: bool,
}

impl Default for Pool {
    fn default() -> Self {
        Self { instances: 64, keep_resident: 16 << 10, batch: 16, without_swap: false }
    }
}

/// Who compiles modules that this host did not render. Compiling is where a small module does most harm: the static gate
/// bounds it, and a process of its own bounds what the gate's authors did not foresee.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ForeignModules {
    /// Nobody: they are refused. The default.
    #[default]
    Refuse,
    /// A program that speaks the helper's protocol, under limits on its memory and time: the `retort` binary, or one whose
    /// main function calls [`run_compile_helper`](super::run_compile_helper).
    Helper(PathBuf),
    /// This process does. Then nothing but the static gate bounds the time and the memory that compiling takes.
    InProcess,
}
