//! Operators that compute: numbers of numbers.

use wasmparser::Operator;

use super::function::{Interpreter, name};
use super::reason::{Obligation, Unproven};
use super::state::AbstractState;

impl Interpreter<'_, '_, '_> {
    /// Operators that compute, and neither trap nor touch the memory.
    pub(super) fn arithmetic(
        &mut self,
        now: &mut AbstractState,
        operator: &Operator<'_>,
    ) -> Result<(), Unproven> {
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
                return Obligation::Operator.unmet(format!(
                    "expected an operator of generated code, got {}",
                    name(operator)
                ));
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
