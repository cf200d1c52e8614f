//! How much fuel one event can cost, worked out before anything runs.
//!
//! The engine charges one unit on entry to a function, a fixed cost for each operator it executes, and
//! for a bulk operation (`memory.copy` and its kind) a cost for each byte. In code without loops,
//! recursion and indirect calls every operator of a function runs at most once per call, so that the
//! sum over *all* its operators, plus the bounds of its callees once per call operator, is an
//! upper bound; branches only make the true cost smaller.
//!
//! What that proves: serving an event (one call of `retort_buffer`, then one of the extractor) costs at
//! most [`FuelBound::for_bulk_bytes`], where the bytes are the sum of the lengths that bulk operations of
//! non-constant length were given. With more fuel than that, the event can't run out of it. An operation
//! given a length of 2 GiB or more may be charged more: it can't succeed in any memory that a guest may have.
//! `_initialize` isn't part of the bound: it runs once for an instance.
//!
//! Of code with a loop, recursion or an indirect call on the way, nothing is said.

use serde::Serialize;
use wasmtime::OperatorCost;

use super::body::Code;

/// Fuel of entering a function.
pub(super) const ENTRY_COST: u64 = 1;

/// What each operator costs. The bound holds for an engine that is configured with the same costs.
pub const OPERATOR_COST: OperatorCost = OperatorCost::new();

/// Fuel per unit (a byte, or a table's entry) of bulk operations: the dearest of them.
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

/// An upper bound of an event's fuel. See the [module](self) for what it proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FuelBound {
    base: u64,
    per_bulk_byte: u64,
    bulk_ops: u64,
}

impl FuelBound {
    /// Fuel of everything but the bytes of bulk operations.
    #[must_use]
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Fuel for each byte that a bulk operation of non-constant length is given; 0 where there is none.
    #[must_use]
    pub fn per_bulk_byte(&self) -> u64 {
        self.per_bulk_byte
    }

    /// How many bulk operations of non-constant length an event executes at most.
    #[must_use]
    pub fn bulk_ops(&self) -> u64 {
        self.bulk_ops
    }

    /// The bound for an event whose bulk operations of non-constant length handle `bytes` together.
    #[must_use]
    pub fn for_bulk_bytes(&self, bytes: u64) -> u64 {
        self.base.saturating_add(self.per_bulk_byte.saturating_mul(bytes))
    }
}

#[derive(Clone, Copy, Default)]
struct Cost {
    fuel: u64,
    bulk_ops: u64,
}

impl Cost {
    fn plus(self, other: Self, times: u64) -> Self {
        Self {
            fuel: self.fuel.saturating_add(other.fuel.saturating_mul(times)),
            bulk_ops: self.bulk_ops.saturating_add(other.bulk_ops.saturating_mul(times)),
        }
    }
}

/// The bound for calling each of `roots` once; `None` where a loop, a cycle of calls or an indirect
/// call can be reached. `order` is [`callees_first`](super::calls::callees_first) of `functions`.
pub(super) fn bound(
    functions: &[Option<Code>],
    order: &[usize],
    roots: &[u32],
) -> Option<FuelBound> {
    let mut costs: Vec<Option<Cost>> = vec![None; functions.len()];
    for &function in order {
        costs[function] = cost(functions[function].as_ref(), &costs);
    }
    let mut total = Cost::default();
    for &root in roots {
        total = total.plus((*costs.get(root as usize)?)?, 1);
    }
    let per_bulk_byte = if total.bulk_ops == 0 { 0 } else { PER_BULK_BYTE };
    Some(FuelBound { base: total.fuel, per_bulk_byte, bulk_ops: total.bulk_ops })
}

fn cost(code: Option<&Code>, costs: &[Option<Cost>]) -> Option<Cost> {
    let code = code.filter(|code| code.shape.loops == 0 && !code.calls_indirectly)?;
    let mut total = Cost { fuel: code.fuel, bulk_ops: code.bulk_ops };
    for (&callee, &times) in &code.calls {
        total = total.plus((*costs.get(callee as usize)?)?, times);
    }
    Some(total)
}
