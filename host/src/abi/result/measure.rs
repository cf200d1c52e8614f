//! What a result has to be by its form, known from the block alone: how long, with how many items, and where their ids are.

use super::form::{EMPTY, FormValues, ItemForm, KEYS, ResultForm, Unless};
use super::reduce::ResultList;
use super::{ResultCounts, VALUE_DEPTH};
use crate::abi::block::{HEADER_BYTES, SLOT_BYTES};
use crate::abi::slot::SlotKind;
use crate::json::scan::{self, MAX_DEPTH};

/// What a result has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    pub(super) bytes: usize,
    pub(super) counts: ResultCounts,
}

impl Measured {
    /// The result of an event that is declined.
    pub(super) const EMPTY: Self = Self {
        bytes: EMPTY.len(),
        counts: ResultCounts { nodes: 0, edges: 0, fully_handled: 0, partially_handled: 0 },
    };
}

/// What is written of a part of an item.
#[derive(Clone, Copy, Default)]
struct Written {
    /// Bytes of what is always there.
    required: usize,
    /// Bytes of what may be left out.
    optional: usize,
    /// Bytes of values in the id.
    id: usize,
}

impl ResultForm {
    /// What a result that isn't empty has to be for this block; none where the block doesn't tell, so that the result has to be
    /// read. Notes in `lists` the items whose ids have to be compared, and all others of their lists, where `notes` says so.
    pub(super) fn measure(
        &self,
        block: &[u8],
        notes: bool,
        lists: &mut [ResultList],
    ) -> Option<Measured> {
        let block = Block::new(block)?;
        let mut counts = [0; 4];
        // Rows, values of a plan and bytes of a block are limited, so that no sum of their products comes near 64 bits.
        let mut bytes = 0;
        for (((form, key), count), list) in
            self.lists.iter().zip(KEYS).zip(&mut counts).zip(lists.iter_mut())
        {
            bytes += key.len();
            let first = bytes;
            let mut noted = (notes && form.is_compared).then_some(list);
            for item in &form.items {
                let (mut row, stride, rows) = match item.rows {
                    None => (0, 0, 1),
                    Some(rows) => {
                        let head = block.record(rows.head)?;
                        (Block::first_row(head), rows.stride, head.length())
                    }
                };
                if rows == 0 {
                    continue;
                }
                let Some(of_event) = item.of_event.written(block, 0)? else { continue };
                for _ in 0..rows {
                    if let Some(of_row) = item.of_row.written(block, row)? {
                        let start = bytes + 1;
                        bytes += item.bytes(of_event, of_row);
                        *count += 1;
                        if let Some(list) = &mut noted {
                            let id = start + item.id_at;
                            let id = id..id + item.id_fixed + of_event.id + of_row.id;
                            list.note(start..bytes, id, item.may_repeat);
                        }
                    }
                    row = row.saturating_add(stride);
                }
            }
            // The first comma is the bracket, or there is none.
            bytes += usize::from(bytes == first) + 1;
        }
        let [nodes, edges, fully_handled, partially_handled] = counts;
        let counts = ResultCounts { nodes, edges, fully_handled, partially_handled };
        Some(Measured { bytes: bytes + 1, counts })
    }
}

impl ItemForm {
    /// Bytes of the item, and of the comma before it.
    fn bytes(&self, of_event: Written, of_row: Written) -> usize {
        let optional = of_event.optional + of_row.optional;
        let optional = match self.listed {
            Some(fixed) => (fixed + optional).max(1),
            None => optional,
        };
        self.fixed + of_event.required + of_row.required + optional
    }
}

impl FormValues {
    /// What is written of the values whose records are counted from `base`; none in it where there is a reason to write
    /// nothing. None where that can't be said.
    #[inline(always)]
    fn written(&self, block: Block<'_>, base: usize) -> Option<Option<Written>> {
        if is_left_out(&self.unless, block, base)? {
            return Some(None);
        }
        let mut written = Written::default();
        for value in &self.required {
            let found = block.record(base + value.record)?;
            let text = found.text_bytes();
            written.required += value.as_text * text;
            written.id += value.in_id * text;
            if value.as_json > 0 {
                block.shallow(found)?;
                written.required += value.as_json * found.length() as usize;
            }
        }
        for optional in &self.optional {
            let found = block.record(base + optional.record)?;
            let kind = found.kind();
            if kind >= optional.first && kind < DENIED {
                block.shallow(found)?;
                written.optional += optional.fixed + found.length() as usize;
            }
        }
        Some(Some(written))
    }
}

/// Whether one of these is a reason to write nothing, with records counted from `base`. None where that can't be said.
#[inline(always)]
pub(super) fn is_left_out(unless: &[Unless<usize>], block: Block<'_>, base: usize) -> Option<bool> {
    for unless in unless {
        let holds = match *unless {
            Unless::NotTrue(record) => !block.record(base + record)?.is_true(),
            Unless::True(record) => block.record(base + record)?.is_true(),
            Unless::NotScalar(record) => !block.record(base + record)?.is_scalar(),
        };
        if holds {
            return Some(true);
        }
    }
    Some(false)
}

const STRING: u32 = SlotKind::String as u32;
pub(super) const DENIED: u32 = SlotKind::Denied as u32;

/// A block, and the records in it, of slots and of rows; after those come texts.
#[derive(Clone, Copy)]
pub(super) struct Block<'b> {
    block: &'b [u8],
    records: &'b [[u8; SLOT_BYTES]],
}

/// A kind, then offset and length of a text, or of rows.
#[derive(Clone, Copy)]
pub(super) struct FoundRecord<'b>(&'b [u8; SLOT_BYTES]);

impl FoundRecord<'_> {
    #[inline(always)]
    pub(super) fn kind(self) -> u32 {
        let [a, b, c, d, ..] = *self.0;
        u32::from_le_bytes([a, b, c, d])
    }

    #[inline(always)]
    pub(super) fn offset(self) -> u32 {
        let [_, _, _, _, a, b, c, d, ..] = *self.0;
        u32::from_le_bytes([a, b, c, d])
    }

    #[inline(always)]
    pub(super) fn length(self) -> u32 {
        let [.., a, b, c, d] = *self.0;
        u32::from_le_bytes([a, b, c, d])
    }

    /// As the guest judges it: of what the host has judged, `true` alone has four bytes.
    #[inline(always)]
    fn is_true(self) -> bool {
        self.length() == 4
    }

    #[inline(always)]
    fn is_scalar(self) -> bool {
        self.kind().wrapping_sub(SlotKind::Boolean as u32) <= STRING - SlotKind::Boolean as u32
    }

    /// Bytes inside of a string: a string without its quotes, any other scalar as it is, of anything else nothing.
    #[inline(always)]
    fn text_bytes(self) -> usize {
        let quotes = if self.kind() == STRING { 2 } else { 0 };
        let bytes = (self.length() as usize).saturating_sub(quotes);
        if self.is_scalar() { bytes } else { 0 }
    }
}

impl<'b> Block<'b> {
    pub(super) fn new(block: &'b [u8]) -> Option<Self> {
        // Slots and rows lie one after another.
        let (records, _) = block.get(HEADER_BYTES..)?.as_chunks::<SLOT_BYTES>();
        Some(Self { block, records })
    }

    /// The JSON of a value that is there.
    pub(super) fn text(self, found: FoundRecord<'_>) -> Option<&'b [u8]> {
        self.block.get(found.offset() as usize..)?.get(..found.length() as usize)
    }

    /// What is written of a value inside of a string.
    pub(super) fn inside(self, found: FoundRecord<'_>) -> Option<&'b [u8]> {
        if !found.is_scalar() {
            return Some(&[]);
        }
        let text = self.text(found)?;
        if found.kind() == STRING { text.get(1..text.len().checked_sub(1)?) } else { Some(text) }
    }

    /// The number of the first record of the rows that this one tells of.
    pub(super) fn first_row(found: FoundRecord<'_>) -> usize {
        (found.offset() as usize).saturating_sub(HEADER_BYTES) / SLOT_BYTES
    }

    #[inline(always)]
    pub(super) fn record(self, number: usize) -> Option<FoundRecord<'b>> {
        self.records.get(number).map(FoundRecord)
    }

    /// Nothing where a value may nest deeper than a result lets it.
    #[inline(always)]
    fn shallow(self, found: FoundRecord<'_>) -> Option<()> {
        let is_nested = found.kind() > STRING && found.length() as usize >= 2 * TOO_DEEP;
        if is_nested { nests_no_deeper(self.block, found) } else { Some(()) }
    }
}

/// How many brackets a value takes that nests too deep for a result.
const TOO_DEEP: usize = MAX_DEPTH - VALUE_DEPTH + 1;

#[inline(never)]
fn nests_no_deeper(block: &[u8], found: FoundRecord<'_>) -> Option<()> {
    let text = block.get(found.offset() as usize..)?.get(..found.length() as usize)?;
    // The two brackets that open something differ in one bit. Mostly there are too few of them, wherever they are.
    let opens = |bytes: &[u8]| bytes.iter().map(|byte| u8::from(byte | 0x20 == b'{')).sum::<u8>();
    let mut opened = 0;
    for bytes in text.chunks(usize::from(u8::MAX)) {
        opened += usize::from(opens(bytes));
        if opened >= TOO_DEEP {
            return scan::value(text, 0, VALUE_DEPTH).ok().map(|_| ());
        }
    }
    Some(())
}
