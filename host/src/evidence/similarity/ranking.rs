//! The best of what was scored.

use json_patch::Patch;
use serde::Serialize;

use super::{TYPO_MARGIN, TYPO_THRESHOLD};
use crate::diagnostics::finding::{Applicability, Suggestion, patch};

/// The best of several, with how far it is ahead of the second best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Best<T> {
    pub(crate) item: T,
    pub(crate) score: f64,
    /// Its score less that of the second best, or all of it where there is no other.
    pub(crate) margin: f64,
}

impl<T> Best<T> {
    /// Whether something else is this one misspelt, and no other.
    pub(crate) fn is_clear_typo(&self) -> bool {
        self.score >= TYPO_THRESHOLD && self.margin >= TYPO_MARGIN
    }
}

/// The best of what was scored, of equals the first.
pub(crate) fn best<T>(scored: impl Iterator<Item = (f64, T)>) -> Option<Best<T>> {
    let mut best: Option<Best<T>> = None;
    let mut second = 0.0;
    for (score, item) in scored {
        match &best {
            Some(best) if best.score >= score => second = score.max(second),
            _ => {
                second = best.map_or(second, |best| best.score);
                best = Some(Best { item, score, margin: 0.0 });
            }
        }
    }
    best.map(|best| Best { margin: best.score - second, ..best })
}

/// Something that may be meant, and how sure that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Likely<T> {
    pub(crate) item: T,
    pub(crate) applicability: Applicability,
}

impl<T> Likely<T> {
    pub(crate) fn new(item: T, is_certain: bool) -> Self {
        let applicability = Applicability::certain_if(is_certain);
        Self { item, applicability }
    }

    /// Whether nothing else could be meant.
    pub(crate) fn is_certain(&self) -> bool {
        self.applicability == Applicability::MachineApplicable
    }

    /// Keeps its certainty only if `holds`.
    pub(crate) fn only_if(self, holds: bool) -> Self {
        let applicability = self.applicability.min(Applicability::certain_if(holds));
        Self { applicability, ..self }
    }

    /// What follows from it, as sure as it is.
    pub(crate) fn map<U>(self, then: impl FnOnce(T) -> U) -> Likely<U> {
        Likely { item: then(self.item), applicability: self.applicability }
    }
}

/// The first of several, certain where there is no other.
pub(crate) fn first_of<T>(mut all: impl Iterator<Item = T>) -> Option<Likely<T>> {
    let first = all.next()?;
    Some(Likely::new(first, all.next().is_none()))
}

/// What there is, where there is one alone.
pub(crate) fn only<T>(all: impl Iterator<Item = T>) -> Option<T> {
    first_of(all).filter(Likely::is_certain).map(|it| it.item)
}

impl<T: Serialize> Likely<T> {
    /// What puts it in the place of what is at a pointer.
    pub(crate) fn replacing(self, at: &str) -> Likely<Patch> {
        self.map(|it| patch::replace(at, it))
    }

    /// What puts it where nothing is.
    pub(crate) fn added(self, at: &str) -> Likely<Patch> {
        self.map(|it| patch::add(at, it))
    }
}

impl From<Likely<Patch>> for Suggestion {
    fn from(likely: Likely<Patch>) -> Self {
        Self { patch: likely.item, applicability: likely.applicability }
    }
}

#[cfg(test)]
mod tests {
    use super::{Best, best};

    #[test]
    fn the_best_is_told_with_its_margin() {
        let of = |scores: &[f64]| best(scores.iter().copied().zip('a'..));
        let found = |item, score, margin| Some(Best { item, score, margin });
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[0.5]), found('a', 0.5, 0.5));
        assert_eq!(of(&[0.25, 0.75, 0.5]), found('b', 0.75, 0.25));
        assert_eq!(of(&[0.75, 0.25, 0.75]), found('a', 0.75, 0.0));
        assert_eq!(of(&[0.75, 0.5, 0.25]), found('a', 0.75, 0.25));
    }
}
