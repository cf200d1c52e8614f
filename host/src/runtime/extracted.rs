//! A result that was held to a graph spec.

use super::fallback::{Claims, Decided, Decision, ExtractError, extraction_of};
use crate::graph::{Extraction, GraphSpec, ValidateOptions};
use crate::sandbox::RunOutcome;

/// What became of an event.
#[derive(Debug)]
#[non_exhaustive]
pub enum Extracted<'a> {
    /// Nothing: no extractor serves its type, or it has none.
    Unserved,
    /// The result of a bundle, with which nothing is wrong.
    Unchanged(RunOutcome<'a>),
    /// What was right of the result of a bundle, or the result of its fallback.
    Decided(Box<Decided>),
    /// The result of a fallback that stands in for no bundle.
    PassedThrough(Extraction),
}

impl<'a> Extracted<'a> {
    /// A bundle's result, held to its graph spec; of what is left to the fallback, there is no result yet.
    pub(super) fn held(
        outcome: RunOutcome<'a>,
        spec: &GraphSpec,
        options: ValidateOptions,
        event: &[u8],
    ) -> Self {
        if outcome.is_known_to_fit() {
            return Self::Unchanged(outcome);
        }
        let extracted = extraction_of(&outcome);
        let decided = Decided::held_to(spec, options, extracted, Claims::All, event);
        match decided.decision {
            Decision::CompiledUnchanged => Self::Unchanged(outcome),
            _ => Self::Decided(Box::new(decided)),
        }
    }

    /// Of what was decided, where the event's type has a bundle and a fallback.
    #[must_use]
    pub fn decision(&self) -> Option<Decision> {
        match self {
            Self::Unserved | Self::PassedThrough(_) => None,
            Self::Unchanged(_) => Some(Decision::CompiledUnchanged),
            Self::Decided(decided) => Some(decided.decision),
        }
    }

    /// The result, which is read as data here if it isn't yet; an empty one, where there is none.
    ///
    /// # Errors
    /// [`ExtractError`], for a number that is beyond what can be held.
    pub fn into_extraction(self) -> Result<Extraction, ExtractError> {
        match self {
            Self::Unserved => Ok(Extraction::default()),
            Self::Unchanged(outcome) => extraction_of(&outcome),
            Self::Decided(decided) => Ok(decided.result),
            Self::PassedThrough(result) => Ok(result),
        }
    }
}
