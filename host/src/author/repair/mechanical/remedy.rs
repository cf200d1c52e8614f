//! What a remedy comes to: a suggestion, where there is one.

use json_patch::Patch;
use serde::Serialize;

use crate::diagnostics::finding::{Applicability, Suggestion, patch};

/// What can be done about a problem without asking; `None` where that doesn't follow from the plan and the task.
pub(super) type Remedy = Option<Suggestion>;

/// What is likely meant, and how sure that is.
pub(super) type Likely<T> = Option<(T, Applicability)>;

/// A patch as a remedy.
pub(super) fn suggest(patch: Patch, applicability: Applicability) -> Remedy {
    Some(Suggestion { patch, applicability })
}

/// A patch beside which nothing else could be meant.
pub(super) fn fix(patch: Patch) -> Remedy {
    suggest(patch, Applicability::MachineApplicable)
}

/// A patch that may or may not be what is wanted.
pub(super) fn maybe(patch: Patch) -> Remedy {
    suggest(patch, Applicability::MaybeIncorrect)
}

/// What is likely meant, in the place of what is there.
pub(super) fn replace(at: &str, likely: Likely<impl Serialize>) -> Remedy {
    likely.and_then(|(value, applicability)| suggest(patch::replace(at, value), applicability))
}

/// What is likely meant, where nothing is.
pub(super) fn add(at: &str, likely: Likely<impl Serialize>) -> Remedy {
    likely.and_then(|(value, applicability)| suggest(patch::add(at, value), applicability))
}

/// What the searches of the gates say, whose certainty is a yes or no.
pub(super) fn likely<T>(found: Option<(T, bool)>) -> Likely<T> {
    found.map(|(it, certain)| (it, Applicability::when(certain)))
}
