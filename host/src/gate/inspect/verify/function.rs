//! One generated function, run over what is known of its values.
//!
//! Code that isn't a loop over rows has neither loops nor blocks, so that one pass from the first operator to the last sees
//! every path: where branches meet, what is known is what holds on both.

use wasmparser::{BlockType, Operator, OperatorsReader, ValType};

use serde::Serialize;

use super::callee::Callee;
use super::module::{Module, OUTPUT_GLOBAL};
use super::reason::{Obligation, Unproven};
use super::state::{AbstractState, FreshNames, MayFail};
use super::value::{AbstractValue, OUTPUT};
use crate::abi::block::{HEADER_BYTES, SLOT_BYTES};

pub(super) const HEADER: u32 = HEADER_BYTES as u32;
pub(super) const RECORD: u32 = SLOT_BYTES as u32;

/// What the verifier went through in the functions that aren't hand-written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VerifiedCounts {
    /// Functions.
    pub functions: usize,
    /// The ones of them that are loops over rows.
    pub row_loops: usize,
    /// Loads, each of constant text, or of a record or text of the block.
    pub loads: usize,
    /// Stores, each at the end of what is written.
    pub stores: usize,
    /// Copies of constant text, each to the end of what is written.
    pub copies: usize,
    /// Calls, each of a function in front.
    pub calls: usize,
    /// Ends and returns, each of what is written, of constant text, or of no address.
    pub returns: usize,
}

/// What a generated function is, by its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FunctionRole {
    /// `(block, size)`, gives the packed result.
    Extractor,
    /// `(block, to)`.
    OfEvent,
    /// `(block, row, to)`.
    OfRow,
}

/// What the verifier knows besides the function that it looks at.
pub(super) struct FunctionContext<'m, 'a> {
    pub(super) module: &'m Module<'a>,
    /// How many inputs are declared.
    pub(super) inputs: u32,
    /// The functions before this one.
    pub(super) callees: &'m [Callee],
}

/// Goes through a body; gives what callers have to know of it.
pub(super) fn verify(
    context: &FunctionContext<'_, '_>,
    body: &wasmparser::FunctionBody<'_>,
    role: FunctionRole,
    found: &mut VerifiedCounts,
) -> Result<Callee, Unproven> {
    let unreadable =
        |error: wasmparser::Error| Unproven::new(Obligation::Operator, error.message().to_owned());
    let mut names = FreshNames::default();
    let base = if role == FunctionRole::Extractor { OUTPUT } else { names.next() };
    let to = AbstractValue::Out { base, offset: 0 };
    let mut locals = match role {
        FunctionRole::Extractor => {
            vec![AbstractValue::Block(0), AbstractValue::Number(names.next())]
        }
        FunctionRole::OfEvent => vec![AbstractValue::Block(0), to],
        FunctionRole::OfRow => vec![AbstractValue::Block(0), AbstractValue::Row(0), to],
    };
    let mut reader = body.get_locals_reader().map_err(unreadable)?;
    for _ in 0..reader.get_count() {
        let (count, ty) = reader.read().map_err(unreadable)?;
        let zero = match ty {
            ValType::I32 => AbstractValue::Const(0),
            ValType::I64 => AbstractValue::Wide(0),
            other => {
                return Obligation::Signature
                    .unmet(format!("expected locals of type i32 and i64, got {other}"));
            }
        };
        // The static gate bounds how many there are.
        locals.extend(std::iter::repeat_n(zero, count as usize));
    }
    let mut operators = reader.get_binary_reader();
    operators.set_features(crate::gate::inspect::features::features());
    let mut operators = OperatorsReader::new(operators);
    let mut interpreter = Interpreter {
        context,
        role,
        names,
        now: Some(AbstractState::new(locals, base)),
        open: Vec::new(),
        literal: false,
        row: 0,
        may_fail: false,
        found,
    };
    while !operators.eof() {
        let offset = operators.original_position();
        let operator = operators.read().map_err(unreadable)?;
        interpreter.operator(&operator).map_err(|unproven| unproven.at(offset))?;
    }
    let row = (role == FunctionRole::OfRow).then_some(interpreter.row);
    Ok(match role {
        FunctionRole::Extractor => Callee::None,
        FunctionRole::OfEvent | FunctionRole::OfRow => {
            Callee::Writer { row, may_fail: interpreter.may_fail }
        }
    })
}

/// An `if` that is open.
struct OpenIf {
    /// What is known where its condition doesn't hold, until the `else`.
    otherwise: Option<AbstractState>,
    /// What is known at the end of its first branch, after the `else`.
    first: Option<AbstractState>,
}

pub(super) struct Interpreter<'f, 'm, 'a> {
    pub(super) context: &'f FunctionContext<'m, 'a>,
    role: FunctionRole,
    pub(super) names: FreshNames,
    /// What is known here; nothing after a return.
    now: Option<AbstractState>,
    open: Vec<OpenIf>,
    /// Whether the operator before pushed a constant.
    pub(super) literal: bool,
    /// Bytes of its row that the function reads.
    pub(super) row: u32,
    may_fail: MayFail,
    pub(super) found: &'f mut VerifiedCounts,
}

impl Interpreter<'_, '_, '_> {
    fn operator(&mut self, operator: &Operator<'_>) -> Result<(), Unproven> {
        match operator {
            Operator::Else => self.otherwise(),
            Operator::End => self.end(),
            operator => {
                let mut now = self
                    .now
                    .take()
                    .ok_or_else(|| Unproven::new(Obligation::Operator, "nothing comes here"))?;
                let goes_on = self.straight(&mut now, operator)?;
                self.literal = matches!(operator, Operator::I32Const { .. });
                self.now = goes_on.then_some(now);
                Ok(())
            }
        }
    }

    fn otherwise(&mut self) -> Result<(), Unproven> {
        let now = self.now.take();
        let open = self.open.last_mut();
        let open =
            open.ok_or_else(|| Unproven::new(Obligation::Operator, "an else without an if"))?;
        open.first = now;
        self.now = open.otherwise.take();
        Ok(())
    }

    fn end(&mut self) -> Result<(), Unproven> {
        let Some(open) = self.open.pop() else {
            return match self.now.take() {
                Some(now) => self.leave(now),
                None => Ok(()),
            };
        };
        // One of the two is gone: without an else what is known otherwise, with one the first branch.
        let other = open.otherwise.or(open.first);
        self.now = match (self.now.take(), other) {
            (Some(now), Some(other)) => Some(now.join(other, &mut self.names)?),
            (now, other) => now.or(other),
        };
        Ok(())
    }

    /// An operator that isn't an end; whether anything comes after it.
    fn straight(
        &mut self,
        now: &mut AbstractState,
        operator: &Operator<'_>,
    ) -> Result<bool, Unproven> {
        match operator {
            Operator::Nop => {}
            Operator::Drop => drop(now.pop()?),
            Operator::LocalGet { local_index } => now.push(now.local(*local_index)?.clone()),
            Operator::LocalSet { local_index } => {
                let value = now.pop()?;
                now.set_local(*local_index, value)?;
            }
            Operator::LocalTee { local_index } => {
                let value = now.pop()?;
                now.set_local(*local_index, value.clone())?;
                now.push(value);
            }
            Operator::GlobalGet { global_index: OUTPUT_GLOBAL } => {
                now.push(AbstractValue::Out { base: OUTPUT, offset: 0 });
            }
            Operator::GlobalGet { .. } => self.number(now),
            Operator::I32Const { value } => now.push(AbstractValue::Const(*value)),
            Operator::I64Const { value } => now.push(AbstractValue::Wide(*value)),
            Operator::If { blockty: BlockType::Empty } => {
                let (holds, fails) = now.pop()?.facts();
                let mut otherwise = now.clone();
                now.learn(&holds);
                otherwise.learn(&fails);
                self.open.push(OpenIf { otherwise: Some(otherwise), first: None });
            }
            Operator::Block { .. }
            | Operator::Loop { .. }
            | Operator::If { .. }
            | Operator::Br { .. }
            | Operator::BrIf { .. }
            | Operator::BrTable { .. } => {
                return Obligation::Loop.unmet(format!(
                    "expected nothing but ifs without results, outside of loops over rows, got {}",
                    name(operator)
                ));
            }
            Operator::Return => {
                let now = now.clone();
                self.leave(now)?;
                return Ok(false);
            }
            Operator::Call { function_index } => self.call(now, *function_index)?,
            Operator::V128Load { memarg } => self.load_vector(now, memarg)?,
            Operator::V128Store { memarg } => {
                let (vector, address) = (now.pop()?, now.pop()?);
                now.store_vector(&address, memarg.offset, &vector)?;
                self.found.stores += 1;
            }
            Operator::MemoryCopy { .. } => self.copy(now)?,
            Operator::I32Load { memarg } => {
                let (slot, field) = self.field(now, memarg)?;
                match slot {
                    Some(slot) => now.push(AbstractValue::Field(slot, field)),
                    None => self.number(now),
                }
            }
            Operator::I64Load32U { memarg } => self.load_wide(now, memarg, 4)?,
            Operator::I64Load { memarg } => self.load_wide(now, memarg, 8)?,
            Operator::I64Load16U { memarg } => self.load_wide(now, memarg, 2)?,
            Operator::I64Load8U { memarg } => self.load_wide(now, memarg, 1)?,
            operator => self.arithmetic(now, operator)?,
        }
        Ok(true)
    }

    /// Pushes a number of which nothing more is known.
    pub(super) fn number(&mut self, now: &mut AbstractState) {
        now.push(AbstractValue::Number(self.names.next()));
    }

    /// What a function gives back, on the top of the stack.
    fn leave(&mut self, mut now: AbstractState) -> Result<(), Unproven> {
        self.found.returns += 1;
        let value = now.pop()?;
        now.leave()?;
        if self.role == FunctionRole::Extractor {
            return self.is_result(&now, &value);
        }
        let Some(may_fail) = now.is_end(&value) else {
            return Obligation::Returned.unmet(
                "expected the address up to which the result is written, or a negative number",
            );
        };
        self.may_fail |= may_fail;
        Ok(())
    }

    fn is_result(&self, now: &AbstractState, value: &AbstractValue) -> Result<(), Unproven> {
        let is_fixed = |packed: i64| {
            let packed = packed.cast_unsigned();
            let length = packed & u64::from(u32::MAX);
            u64::from(self.context.module.filled_from(packed >> 32)) >= length
        };
        match value {
            AbstractValue::Refusal => Ok(()),
            AbstractValue::Wide(packed) if is_fixed(*packed) => Ok(()),
            value if now.is_result(value) => Ok(()),
            _ => Obligation::Returned.unmet(
                "expected the output area's address and the length of what is written, constant \
                               text, or no address at all",
            ),
        }
    }
}

/// An operator's name, without what belongs to it.
pub(super) fn name(operator: &Operator<'_>) -> String {
    let text = format!("{operator:?}");
    text.split([' ', '{']).next().unwrap_or_default().to_owned()
}
