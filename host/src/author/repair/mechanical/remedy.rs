//! What a remedy comes to: a patch, where there is one.

use json_patch::Patch;
use serde::Serialize;

use crate::evidence::similarity::ranking::Likely;

/// What can be done about a problem without asking; `None` where that doesn't follow from the plan and the task.
pub(super) type Remedy = Option<Likely<Patch>>;

/// A patch beside which nothing else could be meant.
pub(super) fn fix(patch: Patch) -> Remedy {
    Some(Likely::new(patch, true))
}

/// A patch that may or may not be what is wanted.
pub(super) fn maybe(patch: Patch) -> Remedy {
    Some(Likely::new(patch, false))
}

/// What is likely meant, in the place of what is there.
pub(super) fn replace(at: &str, likely: Likely<impl Serialize>) -> Remedy {
    Some(likely.replacing(at))
}

/// What is likely meant, where nothing is.
pub(super) fn add(at: &str, likely: Likely<impl Serialize>) -> Remedy {
    Some(likely.added(at))
}
