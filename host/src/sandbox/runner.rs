//! From an event to a checked result.

use super::guest::{Guest, Returned};
use super::{Extractor, RunError};
use crate::abi::block::BlockWriter;
use crate::abi::result::{self, Shape};
use crate::event::{Projection, Projector};

/// Runs one extractor over events, on one thread.
///
/// A reset-safe extractor keeps its instance from event to event; any other gets a fresh one for each. After a failure
/// the instance is thrown away in any case.
#[derive(Debug)]
pub struct Runner {
    extractor: Extractor,
    projector: Projector,
    projection: Projection,
    writer: BlockWriter,
    guest: Option<Guest>,
}

/// The result of one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome<'a> {
    /// The result: UTF-8 JSON of the shape of ABI version 1, as the guest wrote it.
    pub json: &'a [u8],
    /// How much is in it.
    pub shape: Shape,
    /// The fuel that it took.
    pub fuel: u64,
}

impl Runner {
    pub(super) fn new(extractor: Extractor) -> Self {
        let projector = Projector::new(extractor.section().inputs())
            .with_max_event_bytes(extractor.sandbox().limits().event_bytes);
        Self {
            extractor,
            projector,
            projection: Projection::default(),
            writer: BlockWriter::default(),
            guest: None,
        }
    }

    /// The extractor that this runs.
    #[must_use]
    pub fn extractor(&self) -> &Extractor {
        &self.extractor
    }

    /// Reads one event, runs the extractor and checks its result.
    ///
    /// # Errors
    /// [`RunError`]. The runner is as good as before: one bad event never stops a stream.
    pub fn run(&mut self, event: &[u8]) -> Result<Outcome<'_>, RunError> {
        self.project(event)?;
        let Returned { range, fuel } = self.call(event)?;
        let json = self.guest.as_ref().map_or(&[][..], |guest| guest.bytes(range));
        let shape = result::check(json)?;
        Ok(Outcome { json, shape, fuel })
    }

    fn project(&mut self, event: &[u8]) -> Result<(), RunError> {
        Ok(self.projector.project(event, &mut self.projection)?)
    }

    /// Runs the guest on the event that was projected last.
    fn call(&mut self, event: &[u8]) -> Result<Returned, RunError> {
        let limit = self.extractor.sandbox().limits().input_bytes;
        let block = self.writer.write(&self.projector, event, &self.projection, limit)?;
        let keeps = self.extractor.is_reset_safe();
        let (guest, fresh) = match &mut self.guest {
            Some(guest) if keeps => (guest, false),
            place => (place.insert(self.extractor.instantiate()?), true),
        };
        let returned = guest.call(&self.extractor, block, fresh);
        if returned.is_err() {
            self.guest = None;
        }
        Ok(returned?)
    }
}

impl std::fmt::Debug for Guest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Guest")
    }
}
