//! The graph of direct calls.

use super::body::Code;

/// The functions in an order in which each comes after all that it calls. A function that is on a cycle of
/// calls, or from which one can be reached, has no place in such an order and is left out.
///
/// `functions` is indexed by function index; an absent one calls nothing. Calls of functions that don't
/// exist are passed over.
pub(super) fn callees_first(functions: &[Option<Code>]) -> Vec<usize> {
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); functions.len()];
    let mut waiting_for = vec![0_usize; functions.len()];
    for (caller, code) in functions.iter().enumerate() {
        for &callee in code.iter().flat_map(|code| code.calls.keys()) {
            if let Some(callers) = callers.get_mut(callee as usize) {
                callers.push(caller);
                waiting_for[caller] += 1;
            }
        }
    }
    let mut order: Vec<usize> =
        (0..functions.len()).filter(|&function| waiting_for[function] == 0).collect();
    let mut next = 0;
    while let Some(&callee) = order.get(next) {
        next += 1;
        for &caller in &callers[callee] {
            waiting_for[caller] -= 1;
            if waiting_for[caller] == 0 {
                order.push(caller);
            }
        }
    }
    order
}
