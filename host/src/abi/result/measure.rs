//! What a result has to be by its form, known from the block alone: how long, with how many items, and where their ids are.

use super::form::{EMPTY, FormValues, ItemForm, KEYS, ResultForm, Unless};
use super::reduce::ResultList;
use super::{ResultCounts, VALUE_DEPTH};
use crate::abi::block::SLOT_BYTES;
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
                let Some(of_event) = item.of_event.written(block, 0)? else { continue };
                let (mut row_at, rows) = match item.rows {
                    None => (0, 1),
                    Some(rows) => {
                        let [_, first, count] = record(block, rows.head)?;
                        (first as usize, count)
                    }
                };
                for _ in 0..rows {
                    if let Some(of_row) = item.of_row.written(block, row_at)? {
                        let start = bytes + 1;
                        bytes += item.bytes(of_event, of_row);
                        *count += 1;
                        if let Some(list) = &mut noted {
                            let id = start + item.id_at;
                            let id = id..id + item.id_fixed + of_event.id + of_row.id;
                            list.note(start..bytes, id, item.may_repeat);
                        }
                    }
                    row_at = row_at.saturating_add(item.rows.map_or(0, |rows| rows.stride));
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
    fn written(&self, block: &[u8], base: usize) -> Option<Option<Written>> {
        for unless in &self.unless {
            let holds = match *unless {
                Unless::NotTrue(at) => !is_true(record(block, base + at)?),
                Unless::True(at) => is_true(record(block, base + at)?),
                Unless::NotScalar(at) => !is_scalar(record(block, base + at)?),
            };
            if holds {
                return Some(None);
            }
        }
        let mut written = Written::default();
        for value in &self.required {
            let found @ [kind, _, length] = record(block, base + value.at)?;
            let json = length as usize;
            // What is in quotes is a string alone.
            let text = match kind {
                STRING => json.checked_sub(2)?,
                _ if is_scalar(found) => json,
                _ => 0,
            };
            if value.as_json > 0 {
                shallow(block, found)?;
            }
            written.required += value.as_text * text + value.as_json * json;
            written.id += value.in_id * text;
        }
        for optional in &self.optional {
            let found @ [kind, _, length] = record(block, base + optional.at)?;
            if kind >= optional.first && kind < DENIED {
                shallow(block, found)?;
                written.optional += optional.fixed + length as usize;
            }
        }
        Some(Some(written))
    }
}

const STRING: u32 = SlotKind::String as u32;
const DENIED: u32 = SlotKind::Denied as u32;

/// The record at an offset of a block: a kind, then offset and length of a text, or of rows.
#[inline(always)]
fn record(block: &[u8], at: usize) -> Option<[u32; 3]> {
    let bytes = block.get(at..)?.first_chunk::<SLOT_BYTES>()?;
    let [a, b, c, d, e, f, g, h, i, j, k, l] = *bytes;
    Some([[a, b, c, d], [e, f, g, h], [i, j, k, l]].map(u32::from_le_bytes))
}

/// As the guest judges it: of what the host has judged, `true` alone has four bytes.
#[inline(always)]
fn is_true([_, _, length]: [u32; 3]) -> bool {
    length == 4
}

#[inline(always)]
fn is_scalar([kind, _, _]: [u32; 3]) -> bool {
    (SlotKind::Boolean as u32..=STRING).contains(&kind)
}

/// How many brackets a value takes that nests too deep for a result.
const TOO_DEEP: usize = MAX_DEPTH - VALUE_DEPTH + 1;

/// Nothing where a value may nest deeper than a result lets it.
#[inline(always)]
fn shallow(block: &[u8], [kind, offset, length]: [u32; 3]) -> Option<()> {
    let is_nested = kind > STRING && length as usize >= 2 * TOO_DEEP;
    if is_nested { nests_no_deeper(block, offset as usize, length as usize) } else { Some(()) }
}

#[inline(never)]
fn nests_no_deeper(block: &[u8], offset: usize, length: usize) -> Option<()> {
    let text = block.get(offset..)?.get(..length)?;
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
