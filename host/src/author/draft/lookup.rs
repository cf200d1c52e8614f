//! Whether what a rule names is there.

use crate::evidence::Evidence;
use crate::evidence::effort::Effort;

/// What it costs to see whether samples of an event type have a path, in steps.
const KNOWS: u64 = 100;

/// Events in which things are looked up that a rule names, as long as there is effort.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lookup<'a> {
    pub(super) evidence: &'a Evidence,
    pub(super) effort: &'a Effort,
}

impl Lookup<'_> {
    /// Whether a path occurs in samples of any event type, or is declared.
    pub(super) fn knows(self, path: &[String]) -> bool {
        let mut types = self.evidence.event_types();
        types.any(|(name, _)| self.effort.take(KNOWS) && self.evidence.knows(name, path))
    }

    /// Whether a text may be looked through.
    pub(super) fn may_read(self, text: &str) -> bool {
        self.effort.take(KNOWS + text.len() as u64)
    }
}
