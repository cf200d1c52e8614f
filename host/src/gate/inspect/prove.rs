//! Proof that one warm instance may serve event after event.

use serde::Serialize;

use super::Inspected;
use crate::compile::Compiled;

/// Whether a module's output depends on its input alone.
///
/// Only such a module may be kept warm: in any other, what one event left in memory may show up in the result
/// of the next. Features that are absent prove nothing (a copy from a fixed address is enough to leak).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResetSafety {
    /// Nothing is known: each event or batch gets an instance of its own.
    Unproven,
    /// One instance may serve all events.
    Proven {
        /// What the proof rests on.
        how: Proof,
    },
}

/// What a proof of reset-safety rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// This host's renderer makes the very same bytes of the bundle's plan.
    Rendered,
}

/// Proves reset-safety, and with it the [bound on fuel](super::fuel), where `rendered` is, byte for byte, the module that was
/// inspected; otherwise gives it back as it was.
///
/// That `rendered` is what *this host* makes of a plan is in its type: only [`compile`](crate::compile::compile) makes one,
/// of nothing but [rendered](crate::render::render) source.
#[must_use]
pub fn by_rendering(mut inspected: Inspected, rendered: &Compiled) -> Inspected {
    if inspected.wasm[..] == *rendered.module() {
        inspected.reset_safety = ResetSafety::Proven { how: Proof::Rendered };
        inspected.facts.fuel_bound = inspected.bound_if_rendered;
    }
    inspected
}
