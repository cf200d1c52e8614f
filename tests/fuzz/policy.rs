//! Extractors under policies. The first two bytes say how much of the input makes the plan and how much the policy, the rest makes
//! events.

use crate::property::secrets;

/// Events of one plan: compiling costs more than running.
const EVENTS: usize = 6;
/// Bytes that a policy is made of, at most.
const POLICY: usize = 64;

pub(crate) fn target(data: &[u8]) -> bool {
    let Some(([of_plan, of_policy], bytes)) = data.split_first_chunk() else { return false };
    let (plan, bytes) = bytes.split_at(bytes.len() * usize::from(*of_plan) / 256);
    let (policy, events) = bytes.split_at(bytes.len().min(usize::from(*of_policy) % POLICY));
    let each = events.len() / EVENTS + 1;
    let events: Vec<&[u8]> = events.chunks(each).collect();
    secrets::stay(plan, policy, &events).unwrap_or_else(|error| panic!("{error}"))
}
