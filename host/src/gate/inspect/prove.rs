//! Proof that one warm instance may serve event after event.

use serde::Serialize;

use super::Inspected;
use super::verify::{Verified, verify};
use crate::render::compile::Compiled;

/// Whether a module's output depends on its input alone.
///
/// Only such a module may be kept warm: in any other, what one event left in memory may show up in the result
/// of the next. Features that are absent prove nothing (a copy from a fixed address is enough to leak).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResetSafety {
    /// Nothing is known: each event gets an instance of its own.
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
    /// The [verifier](super::verify) went through the binary, which another version of the renderer may have made.
    Verified(Verified),
}

/// Proves reset-safety, and with it the [bound on fuel](super::FuelBound) and the form of all results, where `rendered` is, byte for byte, the module that was
/// inspected; otherwise gives it back as it was.
///
/// That `rendered` is what *this host* makes of a plan is in its type: only [`compile`](crate::render::compile::compile) makes one,
/// of nothing but [rendered](crate::render::render) source.
#[must_use]
pub fn by_rendering(inspected: Inspected, rendered: &Compiled) -> Inspected {
    if inspected.wasm[..] == *rendered.module() {
        let result_form = rendered.source().form().cloned();
        proven(Inspected { result_form, ..inspected }, Proof::Rendered)
    } else {
        inspected
    }
}

/// Proves reset-safety, and with it the bound on fuel, where the [verifier](super::verify) finds a proof. Where it doesn't,
/// [`Inspected::unproven`] says why. What is proven already is given back as it was.
#[must_use]
pub fn by_verification(mut inspected: Inspected) -> Inspected {
    if matches!(inspected.reset_safety, ResetSafety::Proven { .. }) {
        return inspected;
    }
    match verify(&inspected) {
        Ok(verified) => proven(inspected, Proof::Verified(verified)),
        Err(unproven) => {
            inspected.unproven = Some(unproven);
            inspected
        }
    }
}

/// Takes a module for proven that isn't: what a defect of the proof would do.
#[cfg(test)]
pub(crate) fn by_mistake(inspected: Inspected, rendered: &Compiled) -> Inspected {
    let result_form = rendered.source().form().cloned();
    proven(Inspected { result_form, ..inspected }, Proof::Rendered)
}

fn proven(mut inspected: Inspected, how: Proof) -> Inspected {
    inspected.reset_safety = ResetSafety::Proven { how };
    inspected.facts.fuel_bound = inspected.bound_if_proven;
    inspected.unproven = None;
    inspected
}
