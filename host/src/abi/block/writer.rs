//! Blocks, written.

use super::fill::{BlockParts, Fill};
use super::limits::{BlockLimits, Spent};
use super::record::Record;
use super::value::{push_json, truthy_fuel};
use super::{BlockError, Costliest, Deadline, HEADER_BYTES, SLOT_BYTES, SlotKind};
use crate::abi::event::{Projection, Projector};
use crate::abi::section::{ABI_VERSION, InputKind};
use crate::plan::expr::is_truthy;

/// Bytes that a buffer keeps from event to event: 1 MiB, more than almost any event takes.
pub const KEPT_BYTES: usize = 1 << 20;

/// How many inputs are copied between two looks at the clock.
const LOOK_EVERY: usize = 16;

/// Writes blocks; keeps its buffers from event to event.
#[derive(Clone, Debug, Default)]
pub struct BlockWriter {
    block: Vec<u8>,
    parts: BlockParts,
    spent: Spent,
}

impl BlockWriter {
    /// The block for the inputs of `event`, which `projector` has just read into `projection`.
    ///
    /// # Errors
    /// [`BlockError`], when the block would go beyond `limits`, or a conversion fails for which the event is to be turned
    /// down.
    pub fn write(
        &mut self,
        projector: &Projector,
        event: &[u8],
        projection: &Projection,
        limits: impl Into<BlockLimits>,
    ) -> Result<&[u8], BlockError> {
        self.write_before(Deadline::NEVER, projector, event, projection, limits)
    }

    /// The same, given up when the deadline is over.
    ///
    /// # Errors
    /// As [`write`](Self::write), and [`BlockError::Deadline`].
    pub fn write_before(
        &mut self,
        deadline: Deadline<'_>,
        projector: &Projector,
        event: &[u8],
        projection: &Projection,
        limits: impl Into<BlockLimits>,
    ) -> Result<&[u8], BlockError> {
        let mut limits = limits.into();
        // Offsets have 32 bits.
        limits.bytes = limits.bytes.min(u32::MAX as usize);
        self.spent = Spent::default();
        let slots = projector.len();
        let records = HEADER_BYTES + slots * SLOT_BYTES;
        if records > limits.bytes {
            return Err(BlockError::TooLarge { used: records, allowed: limits.bytes });
        }
        self.block.clear();
        self.block.resize(records, 0);
        put(&mut self.block, 0, ABI_VERSION);
        put(&mut self.block, 4, slots as u32);
        if projector.ready().is_plain {
            self.write_plain(deadline, projector, event, projection, limits)?;
        } else {
            self.write_all(deadline, projector, event, projection, limits)?;
        }
        Ok(&self.block)
    }

    /// The block that was written last, until it is [released](Self::release).
    #[must_use]
    pub fn written(&self) -> &[u8] {
        &self.block
    }

    /// What the last block took, also where it was given up.
    #[must_use]
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// Gives up what the last block has taken beyond [`KEPT_BYTES`], so that one large event isn't paid for by all that come
    /// after it.
    pub fn release(&mut self) {
        if self.block.capacity() > KEPT_BYTES {
            self.block = Vec::new();
        }
        self.parts.release(KEPT_BYTES);
    }

    /// A declaration without iterations, conditions and conversions: each text is copied after the others.
    fn write_plain(
        &mut self,
        deadline: Deadline<'_>,
        projector: &Projector,
        event: &[u8],
        projection: &Projection,
        limits: BlockLimits,
    ) -> Result<(), BlockError> {
        for index in 0..projector.len() {
            let slot = projector.slot_of(projection, index);
            if slot.kind == SlotKind::Absent {
                continue;
            }
            if index % LOOK_EVERY == 0 {
                deadline.check()?;
            }
            let offset = self.block.len();
            let text = event.get(slot.start as usize..slot.end as usize).unwrap_or_default();
            let kind = match projector.what(index) {
                Some(InputKind::Truthy(_)) => {
                    let fuel = self.spent.fuel + truthy_fuel(text);
                    if fuel > limits.fuel {
                        let (used, allowed) = (fuel, limits.fuel);
                        let costliest = Costliest::default();
                        return Err(BlockError::OutOfFuel { used, allowed, costliest });
                    }
                    self.spent.fuel = fuel;
                    let word: &[u8] = if is_truthy(text) { b"true" } else { b"false" };
                    self.block.extend_from_slice(word);
                    SlotKind::Boolean
                }
                _ => {
                    push_json(&mut self.block, slot, text);
                    slot.kind
                }
            };
            let length = self.block.len() - offset;
            if self.block.len() > limits.bytes {
                let used = self.block.len();
                return Err(BlockError::TooLarge { used, allowed: limits.bytes });
            }
            // The limit has at most 32 bits.
            let record = Record::new(kind, offset as u32, length as u32);
            put_record(&mut self.block, index, record);
        }
        Ok(())
    }

    /// Any declaration.
    fn write_all(
        &mut self,
        deadline: Deadline<'_>,
        projector: &Projector,
        event: &[u8],
        projection: &Projection,
        limits: BlockLimits,
    ) -> Result<(), BlockError> {
        let (slots, _) = self.block.get_mut(HEADER_BYTES..).unwrap_or_default().as_chunks_mut();
        let mut fill = Fill::new(projector, limits, deadline, &mut self.parts);
        let filled = fill.all(projection.view(event), slots);
        self.spent = fill.spent();
        filled?;
        self.put_together(projector);
        Ok(())
    }

    /// Puts rows and texts behind the records of the slots. How many rows come before the texts is known once all are counted.
    fn put_together(&mut self, projector: &Projector) {
        let BlockParts { tables, texts, .. } = &self.parts;
        let first = self.block.len();
        let rows = tables.iter().map(Vec::len).sum::<usize>() * SLOT_BYTES;
        self.block.reserve(rows + texts.len());
        tables.iter().flatten().for_each(|it| self.block.extend_from_slice(&it.to_bytes()));
        if rows > 0 {
            let (records, _) =
                self.block.get_mut(HEADER_BYTES..).unwrap_or_default().as_chunks_mut();
            // All that the block holds was counted while it was filled.
            records.iter_mut().for_each(|record| move_text(record, rows as u32));
        }
        let mut start = first;
        for (table, ready) in tables.iter().zip(&projector.ready().tables) {
            // Fewer than bytes of an event.
            let count = (table.len() / ready.columns.len().max(1)) as u32;
            for (place, column) in ready.columns.iter().enumerate() {
                let offset = if count == 0 { 0 } else { (start + place * SLOT_BYTES) as u32 };
                let record = Record::new(SlotKind::List, offset, count);
                put_record(&mut self.block, *column, record);
            }
            start += table.len() * SLOT_BYTES;
        }
        self.block.extend_from_slice(texts);
    }
}

/// Moves the text that a record points to by so many bytes. A record without a text has the offset 0, where no text is.
fn move_text(record: &mut [u8; SLOT_BYTES], bytes: u32) {
    let [_, _, _, _, a, b, c, d, ..] = record;
    let offset = u32::from_le_bytes([*a, *b, *c, *d]);
    if offset > 0 {
        [*a, *b, *c, *d] = (offset + bytes).to_le_bytes();
    }
}

fn put_record(block: &mut [u8], slot: usize, record: Record) {
    let at = HEADER_BYTES + slot * SLOT_BYTES;
    if let Some(place) = block.get_mut(at..at + SLOT_BYTES) {
        place.copy_from_slice(&record.to_bytes());
    }
}

fn put(block: &mut [u8], at: usize, value: u32) {
    if let Some(field) = block.get_mut(at..at + 4) {
        field.copy_from_slice(&value.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::section::Section;

    /// Bytes that a writer holds on to.
    fn held(writer: &BlockWriter) -> usize {
        writer.block.capacity() + writer.parts.capacity()
    }

    #[test]
    fn a_large_event_leaves_no_large_buffers_behind() {
        let plain = br#"{"abi":1,"function":"f","event_types":["e"],"inputs":[{"path":["a"]}]}"#;
        let rows = br#"{"abi":1,"function":"f","event_types":["e"],"rows":[{"array":["a"]}],
            "inputs":[{"path":[],"level":1,"rows":0},{"template":["x",{"path":[],"level":1}],"rows":0}]}"#;
        let text = format!(r#"{{"a":"{}"}}"#, "x".repeat(3 << 20));
        let list = format!(r#"{{"a":[{}1]}}"#, "1,".repeat(60_000));
        let values = format!(r#"{{"a":["{}"]}}"#, "x".repeat(3 << 20));
        for (section, event) in [(&plain[..], &text), (&rows[..], &list), (&rows[..], &values)] {
            let section = Section::parse(section).expect("a section");
            let projector = Projector::of(&section);
            let mut projection = Projection::default();
            let mut writer = BlockWriter::default();
            let mut write = |event: &str| {
                projector.project(event.as_bytes(), &mut projection).expect("an event");
                let (event, all) = (event.as_bytes(), usize::MAX);
                let written = writer.write(&projector, event, &projection, all).map(<[u8]>::len);
                let before = held(&writer);
                writer.release();
                (written.expect("a block"), before, held(&writer))
            };
            let (small, before, after) = write(r#"{"a":[1]}"#);
            assert_eq!(before, after, "a small event's buffers are kept");
            let (large, before, after) = write(event);
            assert!(large > KEPT_BYTES && before > 2 * KEPT_BYTES, "{large} {before}");
            assert!(after <= 2 * KEPT_BYTES, "{after}");
            assert_eq!(write(r#"{"a":[1]}"#).0, small);
        }
    }
}
