//! What running a module costs, as the engine charges it and the bound on fuel counts it.

use wasmtime::OperatorCost;

/// Fuel of entering a function.
pub(super) const ENTRY_COST: u64 = 1;

/// What each operator costs. The bound holds for an engine that is configured with the same costs. One unit each, but for what
/// takes many times as long as others: growing a memory asks the host.
pub const OPERATOR_COST: OperatorCost = {
    let mut costs = OperatorCost::new();
    costs.MemoryGrow = 50;
    costs
};
