//! A value of an event: its text in a block, and what judging it costs.

use crate::abi::event::Slot;
use crate::json::string;
use crate::plan::expr::fuel;

/// The text of a value of the event, a string in its canonical form.
pub(super) fn push_json(out: &mut Vec<u8>, slot: Slot, text: &[u8]) {
    if slot.escaped {
        push_canonical(out, text);
    } else {
        out.extend_from_slice(text);
    }
}

/// A string with escapes, written as `serde_json` writes it.
#[cold]
fn push_canonical(out: &mut Vec<u8>, text: &[u8]) {
    let canonical = string::inside(text).and_then(string::canonical);
    out.extend_from_slice(canonical.as_deref().unwrap_or(text));
}

/// What judging a value costs: nothing where a byte or two tell, as in a string, or where there are few.
pub(super) fn truthy_fuel(text: &[u8]) -> u64 {
    const FEW: usize = 64;
    match text.first() {
        Some(b'{' | b'[' | b'-' | b'0'..=b'9') if text.len() > FEW => fuel::TEST.of(text.len()),
        _ => 0,
    }
}
