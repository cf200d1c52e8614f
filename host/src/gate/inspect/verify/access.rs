//! Loads and copies: from constant text, and from the records and texts of the block.

use wasmparser::MemArg;

use super::function::{HEADER, Interpreter, RECORD};
use super::reason::{Obligation, Unproven};
use super::state::AbstractState;
use super::value::{AbstractValue, BlockSlot, Known, RecordField};

impl Interpreter<'_, '_, '_> {
    /// The record and the field that a load of four bytes reads; no record for the block's header.
    pub(super) fn field(
        &mut self,
        now: &mut AbstractState,
        memarg: &MemArg,
    ) -> Result<(Option<BlockSlot>, RecordField), Unproven> {
        let (address, what) = match now.pop()? {
            AbstractValue::Block(from) => (u64::from(from) + memarg.offset, "the input block"),
            AbstractValue::Row(from) => (u64::from(from) + memarg.offset, "the row"),
            _ => {
                return Obligation::Load.unmet(
                    "expected an address in the input block or in a row, got another value",
                );
            }
        };
        self.found.loads += 1;
        let in_row = what == "the row";
        let at = u32::try_from(address).ok();
        if !in_row && at.is_some_and(|at| at <= HEADER - 4) {
            return Ok((None, RecordField::Kind));
        }
        let record = at
            .and_then(|at| at.checked_sub(if in_row { 0 } else { HEADER }))
            .map(|at| (at / RECORD, at % RECORD));
        let slot = match record {
            Some((index, _)) if in_row => {
                self.reads_row(index)?;
                Some(BlockSlot::Column(index))
            }
            Some((index, _)) if index < self.context.inputs => Some(BlockSlot::Input(index)),
            _ => None,
        };
        let field = match record {
            Some((_, 0)) => Some(RecordField::Kind),
            Some((_, 4)) => Some(RecordField::Offset),
            Some((_, 8)) => Some(RecordField::Length),
            _ => None,
        };
        match (slot, field) {
            (Some(slot), Some(field)) => Ok((Some(slot), field)),
            _ => Obligation::Load.unmet(format!(
                "expected a field of one of {} records in {what}, got 4 bytes at {address}",
                self.context.inputs
            )),
        }
    }

    /// Takes note that the function reads this record of its row.
    pub(super) fn reads_row(&mut self, index: u32) -> Result<(), Unproven> {
        // Fewer columns than inputs: what is beyond is refused here, so that nothing overflows.
        if index >= self.context.inputs {
            return Obligation::Load
                .unmet(format!("expected a record of the row, got number {index}"));
        }
        self.row = self.row.max((index + 1) * RECORD);
        Ok(())
    }

    pub(super) fn load_wide(
        &mut self,
        now: &mut AbstractState,
        memarg: &MemArg,
        width: u64,
    ) -> Result<(), Unproven> {
        let address = now.pop()?;
        match address {
            AbstractValue::Text(slot)
                if now.has_bytes(slot, memarg.offset.saturating_add(width)) =>
            {
                self.found.loads += 1;
            }
            AbstractValue::Text(_) => {
                return Obligation::Load
                    .unmet("expected bytes of a text whose length is known here, got others");
            }
            address if width == 4 => {
                now.push(address);
                self.field(now, memarg)?;
            }
            _ => {
                return Obligation::Load.unmet("expected the address of a text, got another value");
            }
        }
        self.number(now);
        Ok(())
    }

    pub(super) fn load_vector(
        &mut self,
        now: &mut AbstractState,
        memarg: &MemArg,
    ) -> Result<(), Unproven> {
        let known = match now.pop()? {
            AbstractValue::Const(address) => {
                let address = u64::from(address.cast_unsigned()) + memarg.offset;
                let bytes = self.context.module.filled_from(address);
                if bytes == 0 {
                    return Obligation::Load
                        .unmet(format!("expected constant text, got address {address}"));
                }
                Known::Bytes(bytes.min(16))
            }
            AbstractValue::Text(slot) if memarg.offset == 0 => Known::Text(slot),
            _ => {
                return Obligation::Load
                    .unmet("expected constant text or the text of a record, got another address");
            }
        };
        self.found.loads += 1;
        now.push(AbstractValue::Vector(known));
        Ok(())
    }

    /// `memory.copy`: of constant text alone, with its length as a literal, which is how the bound on fuel counts it.
    pub(super) fn copy(&mut self, now: &mut AbstractState) -> Result<(), Unproven> {
        let (length, from, to) = (now.pop()?, now.pop()?, now.pop()?);
        let (AbstractValue::Const(length), AbstractValue::Const(from)) = (length, from) else {
            return Obligation::Load.unmet("expected a copy of constant text, got another");
        };
        let (length, from) = (length.cast_unsigned(), u64::from(from.cast_unsigned()));
        if self.context.module.filled_from(from) < length {
            return Obligation::Load
                .unmet(format!("expected constant text, got {length} bytes at address {from}"));
        }
        if !self.literal {
            return Obligation::Bulk.unmet("expected the length of the copy to be a literal");
        }
        self.found.copies += 1;
        now.copy_constant(&to, length)
    }
}
