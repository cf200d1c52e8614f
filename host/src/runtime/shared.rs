//! What several extractors give for one event, whose type they share.

use super::fallback::{Decided, Decision, ExtractError, extraction_of};
use crate::bundle::Digest;
use crate::diagnostics::problem::{Coded, Problem};
use crate::graph::{Conflicts, Dropped, Extraction, Failure, merge};
use crate::sandbox::RunOutcome;

/// What one of several extractors gave.
#[derive(Debug)]
pub struct Part {
    /// Which of the registry's bundles.
    pub(super) place: usize,
    bundle: Digest,
    outcome: RunOutcome<'static>,
    json: Vec<u8>,
}

impl Part {
    pub(super) fn new(place: usize, bundle: Digest, outcome: RunOutcome<'_>) -> Self {
        Self { place, bundle, json: outcome.json.to_vec(), outcome: outcome.without_text() }
    }

    /// The fingerprint of the bundle.
    #[must_use]
    pub fn bundle(&self) -> Digest {
        self.bundle
    }

    /// What the extractor gave.
    #[must_use]
    pub fn outcome(&self) -> RunOutcome<'_> {
        self.outcome.with_text(&self.json)
    }
}

/// The results of an event whose type several extractors share.
#[derive(Debug)]
pub struct Shared<'a> {
    pub(super) index: usize,
    pub(super) event_type: &'a str,
    pub(super) parts: &'a [Part],
    pub(super) conflicts: Conflicts,
}

impl<'a> Shared<'a> {
    /// The event's type.
    #[must_use]
    pub fn event_type(&self) -> &'a str {
        self.event_type
    }

    /// What each of them gave, in the order of their names.
    #[must_use]
    pub fn parts(&self) -> &'a [Part] {
        self.parts
    }

    /// The results as they are, [merged](crate::graph::merge) as the directory's record says.
    ///
    /// # Errors
    /// [`ExtractError`] of what can't be merged.
    pub fn merged(&self) -> Result<Extraction, ExtractError> {
        let mut merging = Merging::default();
        for part in self.parts {
            merging.add(part.bundle, &part.outcome(), None)?;
        }
        merging.finish(self.conflicts).map(|it| it.result).map_err(ExtractError::from)
    }
}

/// Results of bundles for one event, as they are merged.
#[derive(Debug, Default)]
pub(super) struct Merging {
    bundles: Vec<Digest>,
    results: Vec<Extraction>,
    failures: Vec<Failure>,
    dropped: Dropped,
}

impl Merging {
    /// Adds a bundle's result, or what is left of it.
    pub(super) fn add(
        &mut self,
        bundle: Digest,
        outcome: &RunOutcome<'_>,
        left: Option<Decided>,
    ) -> Result<(), ExtractError> {
        match left {
            None => self.push(bundle, extraction_of(outcome)?, Vec::new()),
            Some(Decided { result, failures, dropped, .. }) => {
                self.dropped.extend(dropped);
                self.push(bundle, result, failures);
            }
        }
        Ok(())
    }

    /// Adds a bundle's result, and what was wrong with it and isn't in it any more.
    pub(super) fn push(&mut self, bundle: Digest, result: Extraction, failures: Vec<Failure>) {
        self.bundles.push(bundle);
        self.results.push(result);
        // The place of each is one in the result of its bundle.
        let of_bundle = |it: Failure| Failure { detail: of(bundle, &it.detail), ..it };
        self.failures.extend(failures.into_iter().map(of_bundle));
    }

    /// All of them as one.
    ///
    /// # Errors
    /// The problem of the event for which they differ, which says whose result the later one is.
    pub(super) fn finish(self, conflicts: Conflicts) -> Result<Decided, Problem> {
        let Self { bundles, results, failures, dropped } = self;
        let result = merge(results, conflicts).map_err(|conflict| {
            let problem = conflict.problem();
            match bundles.get(conflict.result) {
                Some(bundle) => Problem { message: of(*bundle, &problem.message), ..problem },
                None => problem,
            }
        })?;
        let decision = match failures.as_slice() {
            [] => Decision::CompiledUnchanged,
            _ => Decision::CompiledFiltered,
        };
        Ok(Decided { decision, result, error: None, failures, dropped })
    }
}

/// What is told of a bundle's result.
fn of(bundle: Digest, message: &str) -> String {
    format!("bundle {bundle}: {message}")
}
