//! Events through bundles and what stands in for them, on one thread.

use std::borrow::Cow;
use std::fmt;

use super::bundle_graph::{BundleGraph, GraphsError};
use super::dispatcher::{DispatchError, Dispatched, Dispatcher, Placed};
use super::extracted::Extracted;
use super::fallback::{Decided, Decision, Extract, ExtractError};
use super::registry::Registry;
use super::shared::{Merging, Shared};
use super::wiring::{Coverage, OnOutcome};
use crate::diagnostics::problem::Coded;
use crate::graph::Extraction;
use crate::plan::EventPattern;

/// The bundles of a registry with their fallbacks, on one thread. Made by [`Wiring::over`](super::Wiring::over).
///
/// It is an extractor of all of its event types itself, so that one may stand in for another.
pub struct Extractors<'r, 'f> {
    pub(super) dispatcher: Dispatcher<'r>,
    pub(super) wired: Wired<'r, 'f>,
    pub(super) coverage: Coverage,
    pub(super) on_outcome: Option<OnOutcome<'f>>,
}

/// What serves an event type.
pub(super) struct Entry<'r, 'f> {
    pub(super) bundle: Option<EntryBundle<'r>>,
    pub(super) fallback: Box<dyn Extract + 'f>,
}

/// A bundle that has a fallback.
#[derive(Clone, Copy)]
pub(super) struct EntryBundle<'r> {
    /// Its route.
    pub(super) index: usize,
    pub(super) graph: Result<&'r BundleGraph, &'r GraphsError>,
}

/// What serves each event type.
#[derive(Default)]
pub(super) struct Wired<'r, 'f> {
    by_type: foldhash::HashMap<String, Entry<'r, 'f>>,
    /// The longest first.
    by_prefix: Vec<(String, Entry<'r, 'f>)>,
}

impl<'r, 'f> Wired<'r, 'f> {
    pub(super) fn add(&mut self, event_type: &str, entry: Entry<'r, 'f>) {
        match EventPattern::new(event_type) {
            EventPattern::Exact(exact) => _ = self.by_type.insert(exact, entry),
            EventPattern::Prefix(prefix) => {
                let place = self.by_prefix.partition_point(|(it, _)| it.len() > prefix.len());
                self.by_prefix.insert(place, (prefix, entry));
            }
        }
    }

    fn entry(&mut self, event_type: &str) -> Option<&mut Entry<'r, 'f>> {
        if let Some(entry) = self.by_type.get_mut(event_type) {
            return Some(entry);
        }
        let mut by_prefix = self.by_prefix.iter_mut();
        by_prefix.find(|(prefix, _)| event_type.starts_with(&**prefix)).map(|(_, entry)| entry)
    }
}

impl Extractors<'_, '_> {
    /// Which event types are served by what.
    #[must_use]
    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// The result of an event, whatever gives it.
    ///
    /// # Errors
    /// [`ExtractError`]: that of an event that isn't a JSON object within the limits, or the fallback's. The next event can be
    /// served all the same.
    pub fn extract(&mut self, event: &[u8]) -> Result<Extracted<'_>, ExtractError> {
        self.extract_with_type(event).map(|(_, extracted)| extracted)
    }

    /// The same with the event's type, if it has one.
    pub(super) fn extract_with_type(
        &mut self,
        event: &[u8],
    ) -> Result<(Option<Cow<'_, str>>, Extracted<'_>), ExtractError> {
        let Self { dispatcher, wired, on_outcome, .. } = self;
        let placed = dispatcher.place(event).map_err(|error| ExtractError::of(&error))?;
        let event_type = match placed {
            Placed::At(index) | Placed::Refused { index, .. } => Some(dispatcher.type_by(index)),
            Placed::Nowhere => dispatcher.unserved(),
        };
        let Some(event_type) = event_type else { return Ok((None, Extracted::Unserved)) };
        let Some(entry) = wired.entry(event_type) else {
            return Ok((Some(Cow::Owned(event_type.to_owned())), Extracted::Unserved));
        };
        let Some(EntryBundle { index, graph }) = entry.bundle else {
            let result = entry.fallback.extract(event)?;
            let event_type = Cow::Owned(event_type.to_owned());
            return Ok((Some(event_type), Extracted::PassedThrough(result)));
        };
        let (event_type, mut extracted) = match graph {
            Err(error) => (Cow::Owned(event_type.to_owned()), failed(error)),
            Ok(graph) => {
                let is_placed = match placed {
                    Placed::At(at) | Placed::Refused { index: at, .. } => at == index,
                    Placed::Nowhere => false,
                };
                if !is_placed {
                    // A bundle that says more of the type has no fallback.
                    let event_type = event_type.to_owned();
                    let placed = dispatcher.place_at(index, event, event_type);
                    placed.map_err(|error| ExtractError::of(&error))?;
                }
                let registry = dispatcher.registry();
                served(registry, dispatcher.serve(index, event), graph, event)
            }
        };
        if let Extracted::Decided(decided) = &mut extracted
            && decided.decision == Decision::FallbackForEvent
        {
            decided.result = entry.fallback.extract(event)?;
        }
        if let Some(on_outcome) = on_outcome {
            on_outcome(&event_type, &extracted);
        }
        Ok((Some(event_type), extracted))
    }
}

/// What a bundle gives, held to its graph spec, with the event's type.
fn served<'a>(
    registry: &Registry,
    dispatched: Result<Dispatched<'a>, DispatchError>,
    graph: &BundleGraph,
    event: &[u8],
) -> (Cow<'a, str>, Extracted<'a>) {
    match dispatched {
        Ok(Dispatched::Served(served)) => {
            let extracted = Extracted::held(served.outcome(), &graph.spec, graph.options, event);
            (Cow::Borrowed(served.event_type()), extracted)
        }
        Ok(Dispatched::Shared(shared)) => {
            let decided = merged(registry, &shared, event).unwrap_or_else(|left| left);
            (Cow::Borrowed(shared.event_type()), Extracted::Decided(decided))
        }
        Ok(Dispatched::Refused { event_type, error }) => (Cow::Borrowed(event_type), failed(error)),
        Ok(Dispatched::Unrouted { event_type }) => {
            (Cow::Borrowed(event_type.unwrap_or_default()), Extracted::Unserved)
        }
        Err(error) => {
            let event_type = error.event_type().unwrap_or_default().to_owned();
            (Cow::Owned(event_type), failed(&error))
        }
    }
}

/// What several bundles give, each held to its graph spec; or what is left to the fallback, since one of them has failed.
fn merged(
    registry: &Registry,
    shared: &Shared<'_>,
    event: &[u8],
) -> Result<Box<Decided>, Box<Decided>> {
    let failed = |error| Box::new(Decided::failed(error));
    let mut merging = Merging::default();
    for part in shared.parts() {
        let graph = registry.graph(part.place).map_err(|error| failed(ExtractError::of(error)))?;
        let left = match Extracted::held(part.outcome(), &graph.spec, graph.options, event) {
            Extracted::Decided(decided) if decided.decision == Decision::FallbackForEvent => {
                return Err(decided);
            }
            Extracted::Decided(decided) => Some(*decided),
            _ => None,
        };
        merging.add(part.bundle(), &part.outcome(), left).map_err(failed)?;
    }
    merging.finish(shared.conflicts).map(Box::new).map_err(|problem| failed(problem.into()))
}

/// What is left to the fallback.
fn failed<'a, E: Coded + fmt::Display>(error: &E) -> Extracted<'a> {
    Extracted::Decided(Box::new(Decided::failed(ExtractError::of(error))))
}

impl Extract for Extractors<'_, '_> {
    fn extract(&mut self, event: &[u8]) -> Result<Extraction, ExtractError> {
        self.extract(event)?.into_extraction()
    }
}

impl fmt::Debug for Extractors<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extractors").field("coverage", &self.coverage).finish_non_exhaustive()
    }
}
