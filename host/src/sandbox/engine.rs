//! The engine: wasmtime configured for guests that nobody trusts, and the clock behind deadlines.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use wasmtime::{Config, Enabled, Engine, OptLevel, PoolingAllocationConfig, WasmBacktraceDetails};

use super::cache::NativeCache;
use super::helper::Slots;
use super::pool::{PoolPlace, PoolPlaces};
use super::restore::PageMap;
use super::wasi::Granted;
use super::{
    Allocator, CacheReport, ForeignModules, GuestError, Isolation, Limits, ModuleLoadError,
    Options, Pool, WasiGrants,
};
use crate::abi::block::Deadline;

/// How often the clock behind deadlines ticks, in milliseconds. A deadline is late by two ticks at most, and never early.
const TICK_MS: u64 = 10;

/// The largest stack that a guest may be given: the standard library gives threads 2 MiB, and the host needs some of it. A
/// guest that overflows its thread's stack rather than its own ends the process.
pub(crate) const MAX_STACK_BYTES: usize = 1 << 20;

/// Bytes that a memory can have at most: what addresses of 32 bits reach.
const MAX_MEMORY_BYTES: usize = 1 << 32;

/// Elements that a table in a pool can have. The static gate and the limits of a tenant allow far fewer.
const MAX_TABLE_ELEMENTS: usize = 1 << 20;

/// Bytes that the host's part of an instance can have. What decides is how many functions and globals the static gate allows.
const MAX_INSTANCE_BYTES: usize = 16 << 20;

/// An engine with its limits. Cheap to clone; the clones are the same sandbox.
#[derive(Clone, Debug)]
pub struct Sandbox {
    inner: Arc<SandboxInner>,
}

#[derive(Clone, Debug)]
struct SandboxInner {
    shared: Arc<Shared>,
    limits: Limits,
    isolation: Isolation,
    foreign: ForeignModules,
    granted: Granted,
    check_one_in: NonZeroU32,
}

/// What the sandboxes of several tenants have in common.
#[derive(Debug)]
struct Shared {
    engine: Engine,
    allocator: Allocator,
    /// The places of the pool that instances come from, where there is one.
    pool: Option<PoolPlaces>,
    cache: Option<NativeCache>,
    /// Tells which pages guests have written, where the system does.
    pages: Option<PageMap>,
    /// Bounds how many modules are compiled by helpers at one time.
    helpers: Slots,
    /// Milliseconds since the engine was built, as of the last tick.
    clock: Arc<AtomicU64>,
    traces: Traces,
    _ticker: Ticker,
}

/// Whether failures of guests tell where they happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Traces {
    /// They don't: a guest's frames add nothing for a reader of its plan, and cost whoever serves events.
    Off,
    /// They do, for who wrote the guest.
    On,
}

/// Frames of a failure that are told. The innermost ones are what it is about.
const MAX_FRAMES: NonZeroUsize = NonZeroUsize::MIN.saturating_add(31);

impl Sandbox {
    /// An engine in which every guest has these limits, and all else is as [`Options::default`] says.
    ///
    /// # Errors
    /// As [`with_options`](Self::with_options).
    pub fn new(limits: Limits) -> Result<Self, ModuleLoadError> {
        Self::with_options(Options { limits, ..Options::default() })
    }

    /// An engine built so.
    ///
    /// # Errors
    /// [`ModuleLoadError::Engine`], when the stack of a guest would be larger than 1 MiB, wasmtime refuses the configuration on
    /// this machine, or no thread can be started; [`ModuleLoadError::Directory`], when a directory can't be granted.
    pub fn with_options(options: Options) -> Result<Self, ModuleLoadError> {
        Self::built(options, Traces::Off)
    }

    fn built(options: Options, traces: Traces) -> Result<Self, ModuleLoadError> {
        let Options { limits, isolation, allocator, foreign, wasi, cache, check_one_in } = options;
        let granted = Granted::check(wasi)?;
        if limits.stack_bytes > MAX_STACK_BYTES {
            let message = format!(
                "a stack of {} bytes, at most {MAX_STACK_BYTES} are safe",
                limits.stack_bytes
            );
            return Err(ModuleLoadError::Engine(message));
        }
        let config = config(&limits, allocator, traces);
        let engine = Engine::new(&config).map_err(ModuleLoadError::engine)?;
        let clock = Arc::new(AtomicU64::new(0));
        let ticker = Ticker::start(&engine, Arc::clone(&clock))?;
        let pool = match allocator {
            Allocator::OnDemand => None,
            Allocator::Pooling(pool) => Some(PoolPlaces::new(pool.instances)),
        };
        let cache = cache.map(|cache| NativeCache::open(cache, &engine));
        let helpers = Slots::per_processor();
        let shared = Arc::new(Shared {
            engine,
            allocator,
            pool,
            cache,
            pages: PageMap::open(),
            helpers,
            clock,
            traces,
            _ticker: ticker,
        });
        let inner = SandboxInner { shared, limits, isolation, foreign, granted, check_one_in };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// A sandbox with an engine of its own in which the same guests fail in the same ways, and tell where they did.
    pub(super) fn tracing(&self) -> Result<Self, ModuleLoadError> {
        let options = Options {
            limits: self.limits().clone(),
            isolation: Isolation::PerEvent,
            allocator: Allocator::OnDemand,
            foreign: self.foreign().clone(),
            wasi: self.wasi().clone(),
            cache: None,
            check_one_in: NonZeroU32::MIN,
        };
        Self::built(options, Traces::On)
    }

    /// Whether failures in here tell where they happened.
    pub(super) fn traces(&self) -> Traces {
        self.inner.shared.traces
    }

    /// A sandbox for another tenant, on the same engine: its guests have limits of their own and come from the same
    /// allocator. Of WASI they have what these here have, without the directories.
    ///
    /// # Errors
    /// [`ModuleLoadError::OtherEngine`], when its guests would have another size of stack: that belongs to the engine.
    pub fn for_tenant(
        &self,
        limits: Limits,
        isolation: Isolation,
    ) -> Result<Self, ModuleLoadError> {
        let shared = self.limits().stack_bytes;
        if limits.stack_bytes != shared {
            return Err(ModuleLoadError::OtherEngine {
                what: "stack_bytes",
                asked: limits.stack_bytes.to_string(),
                shared: shared.to_string(),
            });
        }
        let granted = self.inner.granted.for_another_tenant();
        let inner = SandboxInner { limits, isolation, granted, ..SandboxInner::clone(&self.inner) };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The same sandbox with another grant of WASI, on the same engine.
    ///
    /// # Errors
    /// [`ModuleLoadError::Directory`], when a directory can't be granted.
    pub fn with_wasi(&self, wasi: WasiGrants) -> Result<Self, ModuleLoadError> {
        let granted = Granted::check(wasi)?;
        Ok(Self { inner: Arc::new(SandboxInner { granted, ..SandboxInner::clone(&self.inner) }) })
    }

    /// The same sandbox where [so many](Options::check_one_in) results come to one that is read in full.
    #[must_use]
    pub fn checking_one_in(&self, check_one_in: NonZeroU32) -> Self {
        Self { inner: Arc::new(SandboxInner { check_one_in, ..SandboxInner::clone(&self.inner) }) }
    }

    /// How many results of a known form come to one that is read in full.
    #[must_use]
    pub fn check_one_in(&self) -> NonZeroU32 {
        self.inner.check_one_in
    }

    /// The limits of every guest in here.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// Where instances come from: all sandboxes of an engine have one allocator.
    #[must_use]
    pub fn allocator(&self) -> Allocator {
        self.inner.shared.allocator
    }

    /// For how long an instance of a reset-safe module may serve.
    #[must_use]
    pub fn isolation(&self) -> Isolation {
        self.inner.isolation
    }

    /// Who compiles modules that this host did not render.
    #[must_use]
    pub fn foreign(&self) -> &ForeignModules {
        &self.inner.foreign
    }

    /// What its guests may import of WASI, and which directories they may read.
    #[must_use]
    pub fn wasi(&self) -> &WasiGrants {
        self.inner.granted.wasi()
    }

    pub(super) fn granted(&self) -> &Granted {
        &self.inner.granted
    }

    /// How the cache of native code has served this engine's sandboxes. Without a cache nothing is counted.
    #[must_use]
    pub fn cache_report(&self) -> CacheReport {
        self.cache().map(NativeCache::report).unwrap_or_default()
    }

    pub(super) fn cache(&self) -> Option<&NativeCache> {
        self.inner.shared.cache.as_ref()
    }

    pub(super) fn pages(&self) -> Option<&PageMap> {
        self.inner.shared.pages.as_ref()
    }

    pub(super) fn helpers(&self) -> &Slots {
        &self.inner.shared.helpers
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.inner.shared.engine
    }

    /// How many instances there can be at one time, where they come from a pool.
    pub(crate) fn pool_instances(&self) -> Option<u32> {
        self.inner.shared.pool.as_ref().map(PoolPlaces::allowed)
    }

    /// A place for one more instance; `None` where they don't come from a pool.
    pub(super) fn place(&self) -> Result<Option<PoolPlace>, GuestError> {
        self.inner.shared.pool.as_ref().map(PoolPlaces::take).transpose()
    }

    /// What the clock behind deadlines says.
    pub(super) fn now(&self) -> u64 {
        self.inner.shared.clock.load(Ordering::Relaxed)
    }

    /// The deadline of an event that came when the clock said `started`.
    pub(super) fn deadline(&self, started: u64) -> Deadline<'_> {
        Deadline::new(&self.inner.shared.clock, started, self.limits().deadline_ms, TICK_MS)
    }
}

/// Ticks of the engine's epoch until a deadline is over.
pub(super) fn ticks_left(deadline: Deadline<'_>) -> u64 {
    deadline.left_ms().div_ceil(TICK_MS)
}

fn config(limits: &Limits, allocator: Allocator, traces: Traces) -> Config {
    let mut config = compiler(traces);
    config.max_wasm_stack(limits.stack_bytes);
    if let Allocator::Pooling(pool) = allocator {
        config.allocation_strategy(pooling(pool));
    }
    config
}

/// What decides which native code modules become. It depends on nothing, so that an engine takes code that another process
/// of the same build has compiled.
pub(super) fn compiler(traces: Traces) -> Config {
    let mut config = Config::new();
    let frames = match traces {
        Traces::Off => None,
        Traces::On => Some(MAX_FRAMES),
    };
    config
        .consume_fuel(true)
        .epoch_interruption(true)
        // The same features as the static gate admits.
        .wasm_features(wasmtime::WasmFeatures::all(), false)
        .wasm_features(
            wasmtime::WasmFeatures::from_bits_truncate(crate::gate::inspect::features().bits()),
            true,
        )
        // The same input gives the same bytes, on every machine.
        .cranelift_nan_canonicalization(true)
        .relaxed_simd_deterministic(true)
        .operator_cost(crate::gate::inspect::OPERATOR_COST)
        .cranelift_opt_level(OptLevel::Speed)
        .wasm_backtrace_max_frames(frames)
        .wasm_backtrace_details(WasmBacktraceDetails::Disable)
        .generate_address_map(frames.is_some())
        // Nothing unwinds through a guest's frames: a panic of a function of the host ends before them.
        .native_unwind_info(false);
    config
}

/// A pool for whatever passes the static gate, which allows one memory and one table: what a guest may have of them is for the
/// limits of its tenant to say, in the same words and with the same code as without a pool.
fn pooling(pool: Pool) -> PoolingAllocationConfig {
    let mut config = PoolingAllocationConfig::new();
    // Stacks of asynchronous calls, of which there are none: they come into the engine with WASI.
    #[cfg(feature = "wasi")]
    config.total_stacks(0);
    config
        .total_core_instances(pool.instances)
        .total_memories(pool.instances)
        .total_tables(pool.instances)
        .total_gc_heaps(0)
        .max_memories_per_module(1)
        .max_tables_per_module(1)
        .max_memory_size(MAX_MEMORY_BYTES)
        .table_elements(MAX_TABLE_ELEMENTS)
        .max_core_instance_size(MAX_INSTANCE_BYTES)
        // A slot that served a module has its constants in place: while there are others, it waits for that module.
        .max_unused_warm_slots(pool.instances)
        .linear_memory_keep_resident(pool.keep_resident)
        .decommit_batch_size(pool.batch)
        // Asks the kernel which pages were written and are in memory. One that was swapped out in between would be left as it is, which
        // would show one guest's bytes to the next: so it is for the host to say that there are none.
        .pagemap_scan(if pool.without_swap { Enabled::Auto } else { Enabled::No });
    config
}

/// One thread that advances the engine's epoch at a fixed rate, so that one guest's deadline never touches another's.
#[derive(Debug)]
struct Ticker {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    fn start(engine: &Engine, clock: Arc<AtomicU64>) -> Result<Self, ModuleLoadError> {
        let engine = engine.weak();
        let (stop, stopped) = channel();
        let started = Instant::now();
        let tick = move || {
            let tick = Duration::from_millis(TICK_MS);
            // The sender is never used: it is dropped to stop this thread.
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(tick) {
                let Some(engine) = engine.upgrade() else { return };
                let passed = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
                clock.store(passed, Ordering::Relaxed);
                engine.increment_epoch();
            }
        };
        let thread = std::thread::Builder::new()
            .name("retort-ticker".to_owned())
            .spawn(tick)
            .map_err(|error| ModuleLoadError::Engine(error.to_string()))?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // A thread that only ticks has nothing to say when it ends.
            let _ = thread.join();
        }
    }
}
