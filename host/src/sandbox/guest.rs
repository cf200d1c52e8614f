//! One instance of an extractor, and the call into it.

use std::ops::Range;
use std::time::Duration;

use wasmtime::{
    Extern, Instance, Memory, ModuleExport, PoolConcurrencyLimitError, Store, TypedFunc,
    WasmParams, WasmResults,
};

use super::engine::ticks_left;
use super::pool::PoolPlace;
use super::restore::{Image, Pages};
use super::store::StoreState;
use super::trace::Frame;
use super::trap::{EventBudget, trapped};
use super::wasi::{self, Log};
use super::{Extractor, GuestError};
use crate::abi::block::Deadline;
use crate::abi::section::{MAX_MESSAGE_BYTES, MESSAGE_RECORD_BYTES};
use crate::diagnostics::untrusted::bounded;

/// How long it takes, more or less, until the places that another thread makes as new are free.
const REMAKING: Duration = Duration::from_micros(50);

/// An instance with its store. After an error it must not be called again: the store is as the trap left it.
pub(super) struct Guest {
    store: Store<StoreState>,
    instance: Instance,
    memory: Memory,
    extract: TypedFunc<(u32, u32), u64>,
    /// Where blocks go, when one place serves all of up to so many bytes.
    place: Option<(u32, usize)>,
    /// Fuel that making and initialising it took, until the first event has paid it.
    unpaid: u64,
    /// Where the call was that failed, if the engine says.
    trace: Vec<Frame>,
    /// The ranges of memory that were put back last.
    written: Vec<Range<usize>>,
    /// Its place in the pool, if there is one: after the store, so that it is given back after the store is.
    _in_pool: Option<PoolPlace>,
}

/// A block in the guest's memory, and what the event may take.
pub(super) struct Placed<'a> {
    address: u32,
    length: u32,
    budget: EventBudget<'a>,
}

/// What a call gave: a range of the guest's memory, and the fuel that it took.
pub(super) struct Returned {
    pub(super) range: Range<usize>,
    pub(super) fuel: u64,
}

impl Guest {
    /// An instance as new for an event with a block of `bytes` bytes: `used` as it was when it was new, or a fresh one.
    pub(super) fn renewed(
        used: Option<Self>,
        extractor: &Extractor,
        log: Option<&Log>,
        bytes: usize,
        deadline: Deadline<'_>,
    ) -> Result<Self, GuestError> {
        let fresh = || Self::new(extractor, log, bytes, deadline);
        let Some(used) = used else { return fresh() };
        // Where it isn't put back it goes before another one comes, which may take its place in the pool.
        if !extractor.restores_instances() {
            drop(used);
        } else if let Some(image) = extractor.image().get() {
            if let Some(restored) = used.restored(extractor, image) {
                return Ok(restored);
            }
        } else {
            // An image is worth its cost from the second event on, and looking at an instance brings all of its memory in.
            drop(used);
            if let Some(image) = fresh()?.image(extractor) {
                extractor.image().get_or_init(|| image);
            }
        }
        fresh()
    }

    /// What it is like before its first event.
    fn image(mut self, extractor: &Extractor) -> Option<Image> {
        let globals = extractor.exports().globals.iter().map(|export| {
            let global = self.instance.get_module_export(&mut self.store, export)?.into_global()?;
            Some(global.get(&mut self.store))
        });
        let globals = globals.collect::<Option<_>>()?;
        let pages = Pages::of(self.memory.data(&self.store));
        Some(Image { pages, globals, fuel: self.unpaid })
    }

    /// The same instance as it was when it was new; `None`, and the instance is gone, where that can't be done.
    fn restored(mut self, extractor: &Extractor, image: &Image) -> Option<Self> {
        let bytes = image.pages.bytes();
        // A memory that has grown stays so.
        if self.memory.data_size(&self.store) != bytes || self.store.data().memory_used() != bytes {
            return None;
        }
        let pages = extractor.sandbox().pages()?;
        let memory = self.memory.data_mut(&mut self.store);
        if !pages.written(memory, &mut self.written) {
            return None;
        }
        image.pages.put_back(memory, &self.written);
        for (export, value) in extractor.exports().globals.iter().zip(&image.globals) {
            let global = self.instance.get_module_export(&mut self.store, export)?.into_global()?;
            global.set(&mut self.store, *value).ok()?;
        }
        self.unpaid = image.fuel;
        Some(self)
    }

    /// A fresh instance, initialised, for an event with a block of `bytes` bytes: out of that event's fuel, and within its
    /// deadline. `log` takes what it writes.
    fn new(
        extractor: &Extractor,
        log: Option<&Log>,
        bytes: usize,
        deadline: Deadline<'_>,
    ) -> Result<Self, GuestError> {
        let sandbox = extractor.sandbox();
        let limits = sandbox.limits();
        let budget = extractor.budget(bytes, deadline);
        let failed = |error: wasmtime::Error| trapped(&error, &budget);

        let in_pool = sandbox.place()?;
        let (mut store, instance) = loop {
            let wasi =
                log.map(|log| wasi::Host::new(sandbox.granted(), log, deadline)).transpose()?;
            let mut store = Store::new(sandbox.engine(), StoreState::new(limits, wasi));
            store.limiter(|state| &mut state.limiter);
            allow(&mut store, &budget, 0)?;
            match extractor.ready().instantiate(&mut store) {
                // A place is free, and another thread is still making it as new. A store counts what it was refused as well, so
                // the next attempt has another one, until the deadline.
                Err(error) if error.is::<PoolConcurrencyLimitError>() => {
                    std::thread::sleep(REMAKING);
                }
                instance => break (store, instance.map_err(failed)?),
            }
        };
        let exports = extractor.exports();
        if let Some(initialize) = &exports.initialize {
            let initialize =
                function::<(), ()>(&mut store, instance, initialize).map_err(failed)?;
            initialize.call(&mut store, ()).map_err(failed)?;
        }
        let unpaid = spent(&store, &budget)?;
        let Some(Extern::Memory(memory)) = instance.get_module_export(&mut store, &exports.memory)
        else {
            return Err(GuestError::Trap("no memory is exported".to_owned()));
        };
        let extract = function(&mut store, instance, &exports.extract).map_err(failed)?;
        let mut guest = Self {
            store,
            instance,
            memory,
            extract,
            place: None,
            unpaid,
            trace: Vec::new(),
            written: Vec::new(),
            _in_pool: in_pool,
        };
        if extractor.is_reset_safe() {
            // A rendered extractor has one buffer for all blocks that it takes, the same in every instance: so it is asked once,
            // for the largest.
            let most = extractor.input_bytes();
            let address = match extractor.buffer().get() {
                Some(address) => *address,
                None => {
                    let address = guest.buffer_for(extractor, most, &budget)?;
                    *extractor.buffer().get_or_init(|| address)
                }
            };
            guest.place = Some((address, most));
        }
        Ok(guest)
    }

    /// Bytes of its memory.
    pub(super) fn memory_bytes(&self) -> usize {
        self.memory.data_size(&self.store)
    }

    /// Whether it has served an event and was put back since.
    #[cfg(test)]
    pub(super) fn was_put_back(&self) -> bool {
        !self.written.is_empty()
    }

    /// Its whole memory, for tests to leave something in.
    #[cfg(test)]
    pub(super) fn memory(&mut self) -> &mut [u8] {
        self.memory.data_mut(&mut self.store)
    }

    /// Asks the guest where a block of `length` bytes may go.
    fn buffer_for(
        &mut self,
        extractor: &Extractor,
        length: usize,
        budget: &EventBudget<'_>,
    ) -> Result<u32, GuestError> {
        let asked = u32::try_from(length).unwrap_or(u32::MAX);
        let failed = |error: wasmtime::Error| trapped(&error, budget);
        let buffer = &extractor.exports().buffer;
        let buffer =
            function::<u32, u32>(&mut self.store, self.instance, buffer).map_err(failed)?;
        let address = buffer.call(&mut self.store, asked).map_err(failed)?;
        let memory = self.memory.data_size(&self.store);
        if address == 0 || (address as usize).saturating_add(length) > memory {
            return Err(GuestError::BadBuffer { address, length, memory });
        }
        Ok(address)
    }

    /// Gives the guest one block.
    pub(super) fn put<'a>(
        &mut self,
        extractor: &Extractor,
        block: &[u8],
        deadline: Deadline<'a>,
    ) -> Result<Placed<'a>, GuestError> {
        let budget = extractor.budget(block.len(), deadline);
        allow(&mut self.store, &budget, std::mem::take(&mut self.unpaid))?;
        let length = block.len();
        let address = match self.place {
            Some((address, capacity)) if length <= capacity => address,
            _ => self.buffer_for(extractor, length, &budget)?,
        };
        let memory = self.memory.data_size(&self.store);
        let start = address as usize;
        match self.memory.data_mut(&mut self.store).get_mut(start..start.saturating_add(length)) {
            Some(place) => place.copy_from_slice(block),
            None => return Err(GuestError::BadBuffer { address, length, memory }),
        }
        // Blocks are limited to far less than 4 GiB.
        Ok(Placed { address, length: length as u32, budget })
    }

    /// Calls the extractor on the block that was [`put`](Self::put) last, and gets the place of its result. A guest that has WASI
    /// can't be called again: what it has open is closed.
    pub(super) fn extract(
        &mut self,
        extractor: &Extractor,
        Placed { address, length, budget }: Placed<'_>,
    ) -> Result<Returned, GuestError> {
        let called = self.extract.call(&mut self.store, (address, length));
        let packed = called.map_err(|error| {
            self.trace = Frame::all_of(&error);
            trapped(&error, &budget)
        })?;
        // No guest with WASI is kept for another event, but its memory is, until the next one comes.
        self.store.data_mut().end_wasi();
        let fuel = spent(&self.store, &budget)?;
        let range = self.result_range(packed, extractor.output_bytes())?;
        Ok(Returned { range, fuel })
    }

    /// The place that a packed address and length mean, once it is known to be in the memory.
    fn result_range(&self, packed: u64, allowed: usize) -> Result<Range<usize>, GuestError> {
        let (address, length) = ((packed >> 32) as u32, packed as u32);
        let used = length as usize;
        if used > allowed {
            return Err(GuestError::OutputTooLarge { used, allowed });
        }
        let memory = self.memory.data_size(&self.store);
        let range = address as usize..(address as usize).saturating_add(used);
        if range.end > memory {
            return Err(GuestError::BadResult { address, length, memory });
        }
        Ok(range)
    }

    /// Where the call was that failed, the innermost frame first, in an engine that says.
    pub(super) fn take_trace(&mut self) -> Vec<Frame> {
        std::mem::take(&mut self.trace)
    }

    /// What it has left at the place for messages, escaped and bounded, where it exports one and there is something: how it
    /// came to the failure that has just ended its call. It may be anything.
    pub(super) fn message(&mut self, extractor: &Extractor) -> Option<String> {
        let export = extractor.exports().message.as_ref()?;
        let Extern::Global(global) = self.instance.get_module_export(&mut self.store, export)?
        else {
            return None;
        };
        let record = global.get(&mut self.store).i32()?.cast_unsigned() as usize;
        let memory = self.memory.data(&self.store);
        let record = memory.get(record..record.checked_add(MESSAGE_RECORD_BYTES)?)?;
        let (address, length) = record.split_first_chunk::<4>()?;
        let (address, length) = (u32::from_le_bytes(*address), length.first_chunk::<4>()?);
        let length = (u32::from_le_bytes(*length) as usize).min(MAX_MESSAGE_BYTES);
        let text = memory.get(address as usize..(address as usize).checked_add(length)?)?;
        let text = String::from_utf8_lossy(text);
        let text = text.trim_end();
        (!text.is_empty()).then(|| bounded(text, MAX_MESSAGE_BYTES))
    }

    /// The bytes at a place that [`extract`](Self::extract) returned.
    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        self.memory.data(&self.store).get(range).unwrap_or_default()
    }
}

/// Gives a store what an event may take, less the fuel that it has taken already. Its fuel is one more than that, so that
/// fuel which is all gone means that more was taken than allowed: code without loops and calls runs on to its end, and is
/// told afterwards.
fn allow(
    store: &mut Store<StoreState>,
    budget: &EventBudget<'_>,
    taken: u64,
) -> Result<(), GuestError> {
    if budget.deadline.is_over() {
        return Err(budget.too_late());
    }
    let fuel = budget.fuel.saturating_sub(taken).saturating_add(1);
    store.set_fuel(fuel).map_err(|error| trapped(&error, budget))?;
    store.set_epoch_deadline(ticks_left(budget.deadline));
    Ok(())
}

/// The fuel of a budget that was taken, what had been before [`allow`] included, if it was allowed.
fn spent(store: &Store<StoreState>, budget: &EventBudget<'_>) -> Result<u64, GuestError> {
    let left = store.get_fuel().map_err(|error| trapped(&error, budget))?;
    let left = left.checked_sub(1).ok_or_else(|| budget.out_of_fuel())?;
    Ok(budget.fuel.saturating_sub(left))
}

/// An instance's exported function.
fn function<P: WasmParams, R: WasmResults>(
    store: &mut Store<StoreState>,
    instance: Instance,
    export: &ModuleExport,
) -> wasmtime::Result<TypedFunc<P, R>> {
    match instance.get_module_export(&mut *store, export) {
        Some(Extern::Func(function)) => function.typed(&*store),
        _ => Err(wasmtime::Error::msg("an export is no function")),
    }
}
