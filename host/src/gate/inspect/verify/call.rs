//! Calls: what each function takes, and what it gives back.

use super::callee::Callee;
use super::function::{HEADER, Interpreter, RECORD};
use super::reason::{Obligation, Unproven};
use super::state::AbstractState;
use super::value::{AbstractValue, RecordField};

impl Interpreter<'_, '_, '_> {
    pub(super) fn call(&mut self, now: &mut AbstractState, function: u32) -> Result<(), Unproven> {
        let Some(callee) = self.context.callees.get(function as usize) else {
            return Obligation::Call
                .unmet(format!("expected a function before this one, got func[{function}]"));
        };
        self.found.calls += 1;
        match *callee {
            Callee::None => {
                return Obligation::Call
                    .unmet(format!("func[{function}] is none that generated code calls"));
            }
            Callee::CopyLong => {
                let (length, from, to) = (now.pop()?, now.pop()?, now.pop()?);
                match (from, length) {
                    (AbstractValue::Text(slot), AbstractValue::Field(of, RecordField::Length))
                        if slot == of =>
                    {
                        now.copy_text(&to, slot)?;
                    }
                    _ => {
                        return Obligation::Call.unmet(
                            "expected the text of a record and its length, got other values",
                        );
                    }
                }
            }
            Callee::PutText => {
                let (slot, block, to) = (now.pop()?, now.pop()?, now.pop()?);
                self.is_block(&block)?;
                self.is_record(&slot)?;
                let behind = now.hand_over(&to, false, &mut self.names)?;
                now.push(behind);
            }
            Callee::OpenList => {
                let (to, first) = (now.pop()?, now.pop()?);
                if !matches!(first, AbstractValue::Out { .. }) {
                    return Obligation::Call
                        .unmet("expected an address in the result, got another value");
                }
                let behind = now.hand_over(&to, false, &mut self.names)?;
                now.push(behind);
            }
            Callee::Room => {
                now.pop()?;
                now.pop()?;
                self.number(now);
            }
            Callee::TooLarge => {
                now.pop()?;
                now.push(AbstractValue::Refusal);
            }
            Callee::Writer { row, may_fail } => {
                let to = now.pop()?;
                if let Some(bytes) = row {
                    self.is_row(&now.pop()?)?;
                    self.row = self.row.max(bytes);
                }
                self.is_block(&now.pop()?)?;
                let behind = now.hand_over(&to, may_fail, &mut self.names)?;
                now.push(behind);
            }
        }
        Ok(())
    }

    fn is_block(&self, value: &AbstractValue) -> Result<(), Unproven> {
        match value {
            AbstractValue::Block(0) => Ok(()),
            _ => Obligation::Call.unmet("expected the input block's address, got another value"),
        }
    }

    fn is_row(&self, value: &AbstractValue) -> Result<(), Unproven> {
        match value {
            AbstractValue::Row(0) => Ok(()),
            _ => Obligation::Call.unmet("expected the row's address, got another value"),
        }
    }

    fn is_record(&mut self, value: &AbstractValue) -> Result<(), Unproven> {
        match value {
            AbstractValue::Block(at) => {
                let at = at.checked_sub(HEADER);
                if at.is_some_and(|at| at % RECORD == 0 && at / RECORD < self.context.inputs) {
                    return Ok(());
                }
            }
            AbstractValue::Row(at) if at % RECORD == 0 => return self.reads_row(at / RECORD),
            _ => {}
        }
        Obligation::Call.unmet("expected the address of a record, got another value")
    }
}
