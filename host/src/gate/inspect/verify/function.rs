//! One generated function, run over what is known of its values.
//!
//! Code that isn't a loop over rows has neither loops nor blocks, so that one pass from the first operator to the last sees
//! every path: where branches meet, what is known is what holds on both.

use wasmparser::{BlockType, MemArg, Operator, OperatorsReader, ValType};

use super::Found;
use super::module::{Module, OUTPUT_GLOBAL};
use super::reason::{Obligation, Unproven};
use super::state::{MayFail, Names, State};
use super::value::{Field, Known, OUTPUT, Slot, Value};
use crate::abi::block::{HEADER_BYTES, SLOT_BYTES};

const HEADER: u32 = HEADER_BYTES as u32;
const RECORD: u32 = SLOT_BYTES as u32;

/// What a function that can be called does, as far as its callers have to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Callee {
    /// Generated code has no business to call it.
    None,
    /// `copy_long(to, from, length)`.
    CopyLong,
    /// `put_text(to, block, slot)`: writes from `to` on, gives the address behind.
    PutText,
    /// `open_list(first, to)`: writes a bracket at `first`, or behind `to` if that is the same; gives the address behind.
    OpenList,
    /// `room(to, need)`: any number.
    Room,
    /// `too_large(over)`: no address, and a length.
    TooLarge,
    /// A generated one: `(block, to)`, or with a row `(block, row, to)`, of which it reads so many bytes. Writes from `to`
    /// on, and gives the address behind or, if it may, a negative number.
    Writer { row: Option<u32>, may_fail: MayFail },
}

/// What a generated function is, by its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// `(block, size)`, gives the packed result.
    Extractor,
    /// `(block, to)`.
    OfEvent,
    /// `(block, row, to)`.
    OfRow,
}

/// What the verifier knows besides the function that it looks at.
pub(super) struct Context<'m, 'a> {
    pub(super) module: &'m Module<'a>,
    /// How many inputs are declared.
    pub(super) inputs: u32,
    /// The functions in front of this one.
    pub(super) callees: &'m [Callee],
}

/// Goes through a body; gives what callers have to know of it.
pub(super) fn verify(
    context: &Context<'_, '_>,
    body: &wasmparser::FunctionBody<'_>,
    role: Role,
    found: &mut Found,
) -> Result<Callee, Unproven> {
    let unreadable =
        |error: wasmparser::Error| Unproven::new(Obligation::Operator, error.message().to_owned());
    let mut names = Names::default();
    let base = if role == Role::Extractor { OUTPUT } else { names.next() };
    let to = Value::Out { base, offset: 0 };
    let mut locals = match role {
        Role::Extractor => vec![Value::Block(0), Value::Number(names.next())],
        Role::OfEvent => vec![Value::Block(0), to],
        Role::OfRow => vec![Value::Block(0), Value::Row(0), to],
    };
    let mut reader = body.get_locals_reader().map_err(unreadable)?;
    for _ in 0..reader.get_count() {
        let (count, ty) = reader.read().map_err(unreadable)?;
        let zero = match ty {
            ValType::I32 => Value::Const(0),
            ValType::I64 => Value::Wide(0),
            other => {
                let message = format!("expected locals of type i32 and i64, got {other}");
                return Err(Unproven::new(Obligation::Signature, message));
            }
        };
        // The static gate bounds how many there are.
        locals.extend(std::iter::repeat_n(zero, count as usize));
    }
    let mut operators = reader.get_binary_reader();
    operators.set_features(super::super::features());
    let mut operators = OperatorsReader::new(operators);
    let mut interpreter = Interpreter {
        context,
        role,
        names,
        now: Some(State::new(locals, base)),
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
    let row = (role == Role::OfRow).then_some(interpreter.row);
    Ok(match role {
        Role::Extractor => Callee::None,
        Role::OfEvent | Role::OfRow => Callee::Writer { row, may_fail: interpreter.may_fail },
    })
}

/// An `if` that is open.
struct Open {
    /// What is known where its condition doesn't hold, until the `else`.
    otherwise: Option<State>,
    /// What is known at the end of its first branch, behind the `else`.
    first: Option<State>,
}

struct Interpreter<'f, 'm, 'a> {
    context: &'f Context<'m, 'a>,
    role: Role,
    names: Names,
    /// What is known here; nothing behind a return.
    now: Option<State>,
    open: Vec<Open>,
    /// Whether the operator before pushed a constant.
    literal: bool,
    /// Bytes of its row that the function reads.
    row: u32,
    may_fail: MayFail,
    found: &'f mut Found,
}

fn fault(obligation: Obligation, message: &str) -> Unproven {
    Unproven::new(obligation, message)
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
                    .ok_or_else(|| fault(Obligation::Operator, "nothing comes here"))?;
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
        let open = open.ok_or_else(|| fault(Obligation::Operator, "an else without an if"))?;
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

    /// An operator that isn't an end; whether anything comes behind it.
    fn straight(&mut self, now: &mut State, operator: &Operator<'_>) -> Result<bool, Unproven> {
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
                now.push(Value::Out { base: OUTPUT, offset: 0 });
            }
            Operator::GlobalGet { .. } => self.number(now),
            Operator::I32Const { value } => now.push(Value::Const(*value)),
            Operator::I64Const { value } => now.push(Value::Wide(*value)),
            Operator::If { blockty: BlockType::Empty } => {
                let (holds, fails) = now.pop()?.facts();
                let mut otherwise = now.clone();
                now.learn(&holds);
                otherwise.learn(&fails);
                self.open.push(Open { otherwise: Some(otherwise), first: None });
            }
            Operator::Block { .. }
            | Operator::Loop { .. }
            | Operator::If { .. }
            | Operator::Br { .. }
            | Operator::BrIf { .. }
            | Operator::BrTable { .. } => {
                let message = format!(
                    "expected nothing but ifs without results, outside of loops over rows, got {}",
                    name(operator)
                );
                return Err(Unproven::new(Obligation::Loop, message));
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
                    Some(slot) => now.push(Value::Field(slot, field)),
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
    fn number(&mut self, now: &mut State) {
        now.push(Value::Number(self.names.next()));
    }

    /// Operators that compute, and neither trap nor touch the memory.
    fn arithmetic(&mut self, now: &mut State, operator: &Operator<'_>) -> Result<(), Unproven> {
        let unary = matches!(
            operator,
            Operator::I32Eqz
                | Operator::I64Eqz
                | Operator::I64ExtendI32U
                | Operator::I64ExtendI32S
                | Operator::I32WrapI64
        );
        let result = if unary {
            let value = now.pop()?;
            match operator {
                Operator::I32Eqz => value.negated(),
                Operator::I64ExtendI32U => value.widened(),
                _ => None,
            }
        } else {
            if !is_binary(operator) {
                let message =
                    format!("expected an operator of generated code, got {}", name(operator));
                return Err(Unproven::new(Obligation::Operator, message));
            }
            let (right, left) = (now.pop()?, now.pop()?);
            match operator {
                Operator::I32Add => {
                    let behind = now.behind(&left, &right, &mut self.names);
                    behind.or_else(|| left.plus(&right))
                }
                Operator::I32Sub => left.minus(&right),
                Operator::I32Eq => left.equals(&right),
                Operator::I32Ne => left.equals(&right).and_then(|equal| equal.negated()),
                Operator::I32LeU => left.at_most(&right),
                Operator::I32GtU => left.at_most(&right).and_then(|most| most.negated()),
                Operator::I32LtS => left.is_less(&right),
                Operator::I32And => left.and(&right),
                Operator::I32Or => left.or(&right),
                Operator::I64Shl => left.shifted(&right),
                Operator::I64Or => left.packed(&right),
                _ => None,
            }
        };
        match result {
            Some(value) => now.push(value),
            None => self.number(now),
        }
        Ok(())
    }

    /// The record and the field that a load of four bytes reads; no record for the block's header.
    fn field(
        &mut self,
        now: &mut State,
        memarg: &MemArg,
    ) -> Result<(Option<Slot>, Field), Unproven> {
        let (address, what) = match now.pop()? {
            Value::Block(from) => (u64::from(from) + memarg.offset, "the input block"),
            Value::Row(from) => (u64::from(from) + memarg.offset, "the row"),
            _ => {
                let message =
                    "expected an address in the input block or in a row, got another value";
                return Err(fault(Obligation::Load, message));
            }
        };
        self.found.loads += 1;
        let in_row = what == "the row";
        let at = u32::try_from(address).ok();
        if !in_row && at.is_some_and(|at| at <= HEADER - 4) {
            return Ok((None, Field::Kind));
        }
        let record = at
            .and_then(|at| at.checked_sub(if in_row { 0 } else { HEADER }))
            .map(|at| (at / RECORD, at % RECORD));
        let slot = match record {
            Some((index, _)) if in_row => {
                self.reads_row(index)?;
                Some(Slot::Column(index))
            }
            Some((index, _)) if index < self.context.inputs => Some(Slot::Input(index)),
            _ => None,
        };
        let field = match record {
            Some((_, 0)) => Some(Field::Kind),
            Some((_, 4)) => Some(Field::Offset),
            Some((_, 8)) => Some(Field::Length),
            _ => None,
        };
        match (slot, field) {
            (Some(slot), Some(field)) => Ok((Some(slot), field)),
            _ => {
                let message = format!(
                    "expected a field of one of {} records in {what}, got 4 bytes at {address}",
                    self.context.inputs
                );
                Err(Unproven::new(Obligation::Load, message))
            }
        }
    }

    /// Takes note that the function reads this record of its row.
    fn reads_row(&mut self, index: u32) -> Result<(), Unproven> {
        // Fewer columns than inputs: what is beyond is refused here, so that nothing overflows.
        if index >= self.context.inputs {
            let message = format!("expected a record of the row, got number {index}");
            return Err(Unproven::new(Obligation::Load, message));
        }
        self.row = self.row.max((index + 1) * RECORD);
        Ok(())
    }

    fn load_wide(&mut self, now: &mut State, memarg: &MemArg, width: u64) -> Result<(), Unproven> {
        let address = now.pop()?;
        match address {
            Value::Text(slot) if now.has_bytes(slot, memarg.offset.saturating_add(width)) => {
                self.found.loads += 1;
            }
            Value::Text(_) => {
                let message = "expected bytes of a text whose length is known here, got others";
                return Err(fault(Obligation::Load, message));
            }
            address if width == 4 => {
                now.push(address);
                self.field(now, memarg)?;
            }
            _ => {
                let message = "expected the address of a text, got another value";
                return Err(fault(Obligation::Load, message));
            }
        }
        self.number(now);
        Ok(())
    }

    fn load_vector(&mut self, now: &mut State, memarg: &MemArg) -> Result<(), Unproven> {
        let known = match now.pop()? {
            Value::Const(address) => {
                let address = u64::from(address.cast_unsigned()) + memarg.offset;
                let bytes = self.context.module.filled_from(address);
                if bytes == 0 {
                    let message = format!("expected constant text, got address {address}");
                    return Err(Unproven::new(Obligation::Load, message));
                }
                Known::Bytes(bytes.min(16))
            }
            Value::Text(slot) if memarg.offset == 0 => Known::Text(slot),
            _ => {
                let message = "expected constant text or the text of a record, got another address";
                return Err(fault(Obligation::Load, message));
            }
        };
        self.found.loads += 1;
        now.push(Value::Vector(known));
        Ok(())
    }

    /// `memory.copy`: of constant text alone, with its length as a literal, which is how the bound on fuel counts it.
    fn copy(&mut self, now: &mut State) -> Result<(), Unproven> {
        let (length, from, to) = (now.pop()?, now.pop()?, now.pop()?);
        let (Value::Const(length), Value::Const(from)) = (length, from) else {
            let message = "expected a copy of constant text, got another";
            return Err(fault(Obligation::Load, message));
        };
        let (length, from) = (length.cast_unsigned(), u64::from(from.cast_unsigned()));
        if self.context.module.filled_from(from) < length {
            let message = format!("expected constant text, got {length} bytes at address {from}");
            return Err(Unproven::new(Obligation::Load, message));
        }
        if !self.literal {
            return Err(fault(Obligation::Bulk, "expected the length of the copy to be a literal"));
        }
        self.found.copies += 1;
        now.copy_constant(&to, length)
    }

    fn call(&mut self, now: &mut State, function: u32) -> Result<(), Unproven> {
        let Some(callee) = self.context.callees.get(function as usize) else {
            let message = format!("expected a function in front of this one, got func[{function}]");
            return Err(Unproven::new(Obligation::Call, message));
        };
        self.found.calls += 1;
        match *callee {
            Callee::None => {
                let message = format!("func[{function}] is none that generated code calls");
                return Err(Unproven::new(Obligation::Call, message));
            }
            Callee::CopyLong => {
                let (length, from, to) = (now.pop()?, now.pop()?, now.pop()?);
                match (from, length) {
                    (Value::Text(slot), Value::Field(of, Field::Length)) if slot == of => {
                        now.copy_text(&to, slot)?;
                    }
                    _ => {
                        let message =
                            "expected the text of a record and its length, got other values";
                        return Err(fault(Obligation::Call, message));
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
                if !matches!(first, Value::Out { .. }) {
                    let message = "expected an address in the result, got another value";
                    return Err(fault(Obligation::Call, message));
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
                now.push(Value::Refusal);
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

    fn is_block(&self, value: &Value) -> Result<(), Unproven> {
        match value {
            Value::Block(0) => Ok(()),
            _ => Err(fault(
                Obligation::Call,
                "expected the input block's address, got another value",
            )),
        }
    }

    fn is_row(&self, value: &Value) -> Result<(), Unproven> {
        match value {
            Value::Row(0) => Ok(()),
            _ => Err(fault(Obligation::Call, "expected the row's address, got another value")),
        }
    }

    fn is_record(&mut self, value: &Value) -> Result<(), Unproven> {
        match value {
            Value::Block(at) => {
                let at = at.checked_sub(HEADER);
                if at.is_some_and(|at| at % RECORD == 0 && at / RECORD < self.context.inputs) {
                    return Ok(());
                }
            }
            Value::Row(at) if at % RECORD == 0 => return self.reads_row(at / RECORD),
            _ => {}
        }
        Err(fault(Obligation::Call, "expected the address of a record, got another value"))
    }

    /// What a function gives back, on the top of the stack.
    fn leave(&mut self, mut now: State) -> Result<(), Unproven> {
        self.found.returns += 1;
        let value = now.pop()?;
        now.leave()?;
        if self.role == Role::Extractor {
            return self.is_result(&now, &value);
        }
        let Some(may_fail) = now.is_end(&value) else {
            let message =
                "expected the address up to which the result is written, or a negative number";
            return Err(fault(Obligation::Returned, message));
        };
        self.may_fail |= may_fail;
        Ok(())
    }

    fn is_result(&self, now: &State, value: &Value) -> Result<(), Unproven> {
        let is_fixed = |packed: i64| {
            let packed = packed.cast_unsigned();
            let length = packed & u64::from(u32::MAX);
            u64::from(self.context.module.filled_from(packed >> 32)) >= length
        };
        match value {
            Value::Refusal => Ok(()),
            Value::Wide(packed) if is_fixed(*packed) => Ok(()),
            value if now.is_result(value) => Ok(()),
            _ => {
                let message = "expected the output area's address and the length of what is written, constant \
                               text, or no address at all";
                Err(fault(Obligation::Returned, message))
            }
        }
    }
}

/// Whether an operator computes a number of two.
fn is_binary(operator: &Operator<'_>) -> bool {
    matches!(
        operator,
        Operator::I32Eq
            | Operator::I32Ne
            | Operator::I32LtS
            | Operator::I32LtU
            | Operator::I32GtS
            | Operator::I32GtU
            | Operator::I32LeS
            | Operator::I32LeU
            | Operator::I32GeS
            | Operator::I32GeU
            | Operator::I32Add
            | Operator::I32Sub
            | Operator::I32And
            | Operator::I32Or
            | Operator::I32Xor
            | Operator::I32Shl
            | Operator::I32ShrU
            | Operator::I64Eq
            | Operator::I64Ne
            | Operator::I64LtU
            | Operator::I64GtU
            | Operator::I64LeU
            | Operator::I64GeU
            | Operator::I64Add
            | Operator::I64Sub
            | Operator::I64And
            | Operator::I64Or
            | Operator::I64Xor
            | Operator::I64Shl
            | Operator::I64ShrU
    )
}

/// An operator's name, without what belongs to it.
fn name(operator: &Operator<'_>) -> String {
    let text = format!("{operator:?}");
    text.split([' ', '{']).next().unwrap_or_default().to_owned()
}
