//! One instance with no more around it than it needs to be called: to measure what a sandbox adds.

use wasmtime::{Engine, Instance, Linker, Memory, Module, Store, TypedFunc};

use super::ModuleLoadError;
use super::engine::{Traces, compiler};
use super::exports::ExportIndexes;
use crate::abi::section::{BUFFER_EXPORT, INITIALIZE_EXPORT, MEMORY_EXPORT};
use crate::gate::inspect::Inspected;

/// More than any event takes, in fuel and in ticks.
const PLENTY: u64 = 1 << 40;

/// What an engine counts while a guest runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metering {
    /// Fuel, in the guest's code and before each call.
    pub fuel: bool,
    /// Whether it is time to end, likewise.
    pub deadline: bool,
}

impl Metering {
    /// None, fuel alone, and both as in every sandbox.
    pub const ALL: [Self; 3] = [
        Self { fuel: false, deadline: false },
        Self { fuel: true, deadline: false },
        Self { fuel: true, deadline: true },
    ];
}

/// One instance in an engine of its own, whose code is compiled as a sandbox's is but for what it counts.
///
/// Nothing ends a guest that doesn't end by itself: this is for blocks that an extractor has run on before, within its limits.
pub struct Bare {
    store: Store<()>,
    memory: Memory,
    extract: TypedFunc<(u32, u32), u64>,
    buffer: TypedFunc<u32, u32>,
    address: u32,
    capacity: usize,
    metering: Metering,
}

impl Bare {
    /// An instance that takes blocks of up to `capacity` bytes.
    ///
    /// # Errors
    /// [`ModuleLoadError`]; also for a module with imports, since nothing is there for them.
    pub fn new(
        inspected: &Inspected,
        capacity: usize,
        metering: Metering,
    ) -> Result<Self, ModuleLoadError> {
        let mut config = compiler(Traces::Off);
        config.consume_fuel(metering.fuel).epoch_interruption(metering.deadline);
        let engine = Engine::new(&config).map_err(ModuleLoadError::engine)?;
        let module =
            Module::from_binary(&engine, inspected.wasm()).map_err(ModuleLoadError::module)?;
        let function = inspected.section().function();
        // It says what is missing in words.
        ExportIndexes::of(&module, function)?;
        let mut store = Store::new(&engine, ());
        allow(&mut store, metering).map_err(ModuleLoadError::link)?;
        let instance =
            Linker::new(&engine).instantiate(&mut store, &module).map_err(ModuleLoadError::link)?;
        Self::of(store, instance, function, capacity, metering).map_err(ModuleLoadError::link)
    }

    fn of(
        mut store: Store<()>,
        instance: Instance,
        function: &str,
        capacity: usize,
        metering: Metering,
    ) -> wasmtime::Result<Self> {
        if instance.get_func(&mut store, INITIALIZE_EXPORT).is_some() {
            let initialize = instance.get_typed_func::<(), ()>(&mut store, INITIALIZE_EXPORT)?;
            initialize.call(&mut store, ())?;
        }
        let Some(memory) = instance.get_memory(&mut store, MEMORY_EXPORT) else {
            return Err(wasmtime::Error::msg("an export is no memory"));
        };
        let extract = instance.get_typed_func(&mut store, function)?;
        let buffer = instance.get_typed_func::<u32, u32>(&mut store, BUFFER_EXPORT)?;
        let address = buffer.call(&mut store, u32::try_from(capacity).unwrap_or(u32::MAX))?;
        Ok(Self { store, memory, extract, buffer, address, capacity, metering })
    }

    /// Asks for the place of blocks again, as a guest has to be before each block that begins its memory anew then.
    ///
    /// # Errors
    /// What ended the guest.
    pub fn begin(&mut self) -> wasmtime::Result<()> {
        allow(&mut self.store, self.metering)?;
        let capacity = u32::try_from(self.capacity).unwrap_or(u32::MAX);
        self.address = self.buffer.call(&mut self.store, capacity)?;
        Ok(())
    }

    /// Copies a block in and calls the extractor; where its result is, and how long.
    ///
    /// # Errors
    /// A block that is too large, or what ended the guest.
    pub fn call(&mut self, block: &[u8]) -> wasmtime::Result<u64> {
        allow(&mut self.store, self.metering)?;
        let start = self.address as usize;
        let end = start.saturating_add(block.len());
        match self.memory.data_mut(&mut self.store).get_mut(start..end) {
            Some(place) if block.len() <= self.capacity => place.copy_from_slice(block),
            _ => return Err(wasmtime::Error::msg("the block is larger than its place")),
        }
        // What fits into a memory has fewer than 2^32 bytes.
        self.extract.call(&mut self.store, (self.address, block.len() as u32))
    }
}

impl std::fmt::Debug for Bare {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bare").field("metering", &self.metering).finish_non_exhaustive()
    }
}

/// Gives a store what the next call may take, as a sandbox does before each.
fn allow(store: &mut Store<()>, metering: Metering) -> wasmtime::Result<()> {
    if metering.deadline {
        store.set_epoch_deadline(PLENTY);
    }
    if metering.fuel { store.set_fuel(PLENTY) } else { Ok(()) }
}
