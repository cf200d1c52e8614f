//! What a remedy comes to: a patch, where there is one.

use json_patch::Patch;
use serde::Serialize;

use crate::diagnostics::finding::{Applicability, Suggestion, patch};

/// What can be done about a problem without asking; `None` where that doesn't follow from the plan and the task.
pub(super) type Remedy = Option<Likely<Patch>>;

/// Something that may be meant, and how sure that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Likely<T> {
    pub(super) item: T,
    applicability: Applicability,
}

impl<T> Likely<T> {
    pub(super) fn new(item: T, is_certain: bool) -> Self {
        Self { item, applicability: Applicability::certain_if(is_certain) }
    }

    /// Whether nothing else could be meant.
    pub(super) fn is_certain(&self) -> bool {
        self.applicability == Applicability::MachineApplicable
    }

    /// As sure as it was, where this holds; else it isn't.
    pub(super) fn only_if(self, holds: bool) -> Self {
        let applicability = self.applicability.min(Applicability::certain_if(holds));
        Self { applicability, ..self }
    }

    /// What follows from it, as sure as it is.
    pub(super) fn map<U>(self, then: impl FnOnce(T) -> U) -> Likely<U> {
        Likely { item: then(self.item), applicability: self.applicability }
    }
}

impl From<Likely<Patch>> for Suggestion {
    fn from(likely: Likely<Patch>) -> Self {
        Self { patch: likely.item, applicability: likely.applicability }
    }
}

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
    Some(likely.map(|value| patch::replace(at, value)))
}

/// What is likely meant, where nothing is.
pub(super) fn add(at: &str, likely: Likely<impl Serialize>) -> Remedy {
    Some(likely.map(|value| patch::add(at, value)))
}
