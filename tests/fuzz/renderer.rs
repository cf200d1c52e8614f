//! Rendered extractors against the oracle. The first byte says how much of the input makes the plan, the rest makes events.

use crate::property::agrees;

/// Events of one plan: compiling costs more than running.
const EVENTS: usize = 6;

pub(crate) fn target(data: &[u8]) -> bool {
    let Some((share, bytes)) = data.split_first() else { return false };
    let of_plan = bytes.len() * usize::from(*share) / 256;
    let (plan, events) = bytes.split_at(of_plan);
    let each = events.len() / EVENTS + 1;
    let events: Vec<&[u8]> = events.chunks(each).collect();
    agrees(plan, &events).unwrap_or_else(|error| panic!("{error}"))
}
