//! One instance of an extractor, and the call into it.

use std::ops::Range;

use wasmtime::{Memory, Store, TypedFunc};

use super::error::trapped;
use super::store::State;
use super::wasi::{self, Log};
use super::{Extractor, GuestError};
use crate::abi::section::{BUFFER_EXPORT, INITIALIZE_EXPORT, MEMORY_EXPORT};

/// An instance with its store. After an error it must not be called again: the store is as the trap left it.
pub(super) struct Guest {
    store: Store<State>,
    memory: Memory,
    buffer: TypedFunc<u32, u32>,
    extract: TypedFunc<(u32, u32), u64>,
    /// Where blocks go, when one place serves all of up to so many bytes.
    place: Option<(u32, usize)>,
}

/// A block in the guest's memory, and the fuel that the event has.
pub(super) struct Placed {
    address: u32,
    length: u32,
    fuel: u64,
}

/// What a call gave: a range of the guest's memory, and the fuel that it took.
pub(super) struct Returned {
    pub(super) range: Range<usize>,
    pub(super) fuel: u64,
}

impl Guest {
    /// A fresh instance, initialised. Its fuel and its deadline are those of a call without input. `log` takes what it writes.
    pub(super) fn new(extractor: &Extractor, log: Option<&Log>) -> Result<Self, GuestError> {
        let sandbox = extractor.sandbox();
        let limits = sandbox.limits();
        let fuel = limits.fuel(0);
        let failed = |error: wasmtime::Error| trapped(&error, limits, fuel);

        let wasi = log.map(|log| wasi::Host::new(sandbox.granted(), log)).transpose()?;
        let mut store = Store::new(sandbox.engine(), State::new(limits, wasi));
        store.limiter(|state| &mut state.limiter);
        store.set_fuel(fuel).map_err(failed)?;
        store.set_epoch_deadline(sandbox.deadline_ticks());
        let instance = extractor.ready().instantiate(&mut store).map_err(failed)?;
        if let Some(initialize) = instance.get_func(&mut store, INITIALIZE_EXPORT) {
            let initialize = initialize.typed::<(), ()>(&store).map_err(failed)?;
            initialize.call(&mut store, ()).map_err(failed)?;
        }
        // The static gate has checked that all three are there and of these types.
        let memory = instance
            .get_memory(&mut store, MEMORY_EXPORT)
            .ok_or_else(|| GuestError::Trap { trap: "no memory is exported".to_owned() })?;
        let buffer = instance.get_typed_func(&mut store, BUFFER_EXPORT).map_err(failed)?;
        let function = extractor.section().function();
        let extract = instance.get_typed_func(&mut store, function).map_err(failed)?;
        let mut guest = Self { store, memory, buffer, extract, place: None };
        if extractor.is_reset_safe() {
            // A rendered extractor has one buffer for all blocks that it takes, so it is asked once, for the largest.
            let most = extractor.input_bytes();
            guest.place = Some((guest.buffer_for(extractor, most, fuel)?, most));
        }
        Ok(guest)
    }

    /// Asks the guest where a block of `length` bytes may go.
    fn buffer_for(
        &mut self,
        extractor: &Extractor,
        length: usize,
        fuel: u64,
    ) -> Result<u32, GuestError> {
        let limits = extractor.sandbox().limits();
        let asked = u32::try_from(length).unwrap_or(u32::MAX);
        let address = self
            .buffer
            .call(&mut self.store, asked)
            .map_err(|error| trapped(&error, limits, fuel))?;
        let memory = self.memory.data_size(&self.store);
        if address == 0 || (address as usize).saturating_add(length) > memory {
            return Err(GuestError::BadBuffer { address, length, memory });
        }
        Ok(address)
    }

    /// Gives the guest one block. `fresh`: the deadline goes on from instantiation.
    pub(super) fn put(
        &mut self,
        extractor: &Extractor,
        block: &[u8],
        fresh: bool,
    ) -> Result<Placed, GuestError> {
        let sandbox = extractor.sandbox();
        let limits = sandbox.limits();
        let fuel = limits.fuel(block.len());
        let failed = |error: wasmtime::Error| trapped(&error, limits, fuel);
        self.store.set_fuel(fuel).map_err(failed)?;
        if !fresh {
            self.store.set_epoch_deadline(sandbox.deadline_ticks());
        }
        let length = block.len();
        let address = match self.place {
            Some((address, capacity)) if length <= capacity => address,
            _ => self.buffer_for(extractor, length, fuel)?,
        };
        let memory = self.memory.data_size(&self.store);
        let start = address as usize;
        match self.memory.data_mut(&mut self.store).get_mut(start..start.saturating_add(length)) {
            Some(place) => place.copy_from_slice(block),
            None => return Err(GuestError::BadBuffer { address, length, memory }),
        }
        // Blocks are limited to far less than 4 GiB.
        Ok(Placed { address, length: length as u32, fuel })
    }

    /// Calls the extractor on the block that was [`put`](Self::put) last, and gets the place of its result.
    pub(super) fn extract(
        &mut self,
        extractor: &Extractor,
        Placed { address, length, fuel }: Placed,
    ) -> Result<Returned, GuestError> {
        let limits = extractor.sandbox().limits();
        let failed = |error: wasmtime::Error| trapped(&error, limits, fuel);
        let packed = self.extract.call(&mut self.store, (address, length)).map_err(failed)?;
        let left = self.store.get_fuel().map_err(failed)?;
        let range = self.result_range(packed, extractor.output_bytes())?;
        Ok(Returned { range, fuel: fuel - left })
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

    /// The bytes at a place that [`extract`](Self::extract) returned.
    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        self.memory.data(&self.store).get(range).unwrap_or_default()
    }
}
