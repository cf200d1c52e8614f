//! How much fuel one event can cost, computed before anything runs.
//!
//! The engine charges one unit on entry to a function, a fixed cost for each operator it executes, and
//! for a bulk operation (`memory.copy` and its kind) a cost for each byte. In code without loops,
//! recursion and indirect calls every operator of a function runs at most once per call, so that the
//! sum over *all* its operators, plus the bounds of its callees once per call operator, is an
//! upper bound; branches only make the true cost smaller.
//!
//! A loop over rows runs its operators, and those of the function that it calls, once for each row. A row
//! is `stride` bytes of the block at least, so that this costs a fixed amount for each byte of the block. No such loop may
//! be reached from inside another one.
//!
//! What that proves: serving an event (one call of `retort_buffer`, then one of the extractor) costs at most
//! [`FuelBound::of_event`], for the bytes of the input block, and for those that bulk operations of non-constant length
//! were given together. With more fuel than that, the event can't run out of it. An operation given a length of 2 GiB or
//! more may be charged more: it can't succeed in any memory that a guest may have. One call of `_initialize` is
//! part of the bound where there is one: the event that an instance is made for pays for it.
//!
//! An extractor that is [proven](super::prove) copies in bulk nothing but slices of its result, one after another. So what
//! it copies in bulk has at most the bytes of the result; where the result is too large or empty, at most those of the memory
//! after the beginning of its output area, and of a rendered one, which checks before it copies, at most its capacity.
//!
//! Of code with another loop, recursion or an indirect call on the way, nothing is said; nor of loops over rows in a module
//! that isn't proven, because there nothing says that what is counted is rows.

use serde::Serialize;

use super::body::Code;
use super::cost::OPERATOR_COST;

/// Fuel per unit (a byte, or a table's entry) of bulk operations: the most expensive of them.
const PER_BULK_BYTE: u64 = {
    let costs = &OPERATOR_COST.variable;
    let per_unit = [
        costs.memory_copy_per_byte,
        costs.memory_fill_per_byte,
        costs.memory_init_per_byte,
        costs.table_copy_per_element,
        costs.table_init_per_element,
    ];
    let mut dearest = 0;
    let mut next = 0;
    while next < per_unit.len() {
        if per_unit[next] > dearest {
            dearest = per_unit[next];
        }
        next += 1;
    }
    dearest as u64
};

/// An upper bound of an event's fuel. What it proves: serving an event, one call of `retort_buffer` and
/// then one of the extractor, costs at most [`of_event`](Self::of_event).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FuelBound {
    base: u64,
    per_block_byte: u64,
    per_bulk_byte: u64,
}

impl FuelBound {
    /// Fuel of everything but loops over rows and the bytes of bulk operations.
    #[must_use]
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Fuel for each byte of the input block; 0 where there is no loop.
    #[must_use]
    pub fn per_block_byte(&self) -> u64 {
        self.per_block_byte
    }

    /// Fuel for each byte that a bulk operation of non-constant length is given; 0 where there is none.
    #[must_use]
    pub fn per_bulk_byte(&self) -> u64 {
        self.per_bulk_byte
    }

    /// The bound for an event with an input block of `block` bytes, whose bulk operations of non-constant length handle
    /// `bulk` bytes together. Those of a proven extractor handle at most the bytes of its result.
    #[must_use]
    pub fn of_event(&self, block: u64, bulk: u64) -> u64 {
        self.base
            .saturating_add(self.per_block_byte.saturating_mul(block))
            .saturating_add(self.per_bulk_byte.saturating_mul(bulk))
    }
}

#[derive(Clone, Copy, Default)]
struct CallCost {
    fuel: u64,
    per_block_byte: u64,
    bulk: bool,
}

impl CallCost {
    fn plus(self, other: Self, times: u64) -> Self {
        let sum = |one: u64, other: u64| one.saturating_add(other.saturating_mul(times));
        Self {
            fuel: sum(self.fuel, other.fuel),
            per_block_byte: sum(self.per_block_byte, other.per_block_byte),
            bulk: self.bulk || other.bulk,
        }
    }
}

/// The bound for calling each of `roots` once; `None` where a loop that isn't one over rows, a cycle of calls or an indirect
/// call can be reached. `order` is [`callees_first`](super::calls::callees_first) of `functions`.
pub(super) fn bound(
    functions: &[Option<Code>],
    order: &[usize],
    roots: &[u32],
) -> Option<FuelBound> {
    let mut costs: Vec<Option<CallCost>> = vec![None; functions.len()];
    for &function in order {
        costs[function] = cost(functions[function].as_ref(), &costs);
    }
    let mut total = CallCost::default();
    for &root in roots {
        total = total.plus((*costs.get(root as usize)?)?, 1);
    }
    let per_bulk_byte = if total.bulk { PER_BULK_BYTE } else { 0 };
    Some(FuelBound { base: total.fuel, per_block_byte: total.per_block_byte, per_bulk_byte })
}

fn cost(code: Option<&Code>, costs: &[Option<CallCost>]) -> Option<CallCost> {
    let code = code.filter(|code| !code.calls_indirectly)?;
    let mut total = CallCost { fuel: code.fuel, per_block_byte: 0, bulk: code.bulk };
    if let Some(rows) = code.row_loop {
        let each = (*costs.get(rows.callee as usize)?)?;
        if each.per_block_byte > 0 {
            return None;
        }
        let per_row = code.loop_fuel.saturating_add(each.fuel);
        return Some(CallCost {
            per_block_byte: per_row.div_ceil(u64::from(rows.stride)),
            bulk: each.bulk,
            ..total
        });
    }
    if code.shape.loops > 0 {
        return None;
    }
    for (&callee, &times) in &code.calls {
        total = total.plus((*costs.get(callee as usize)?)?, times);
    }
    Some(total)
}
