//! From an event to the extractor that serves its type.

use std::num::NonZeroUsize;
use std::sync::Arc;

use thiserror::Error;
use tracing::Span;

use super::event_type::{TypeGuess, TypeReader, type_of};
use super::graph_check::GraphCheck;
use super::registry::{Registry, Route};
use super::shared::{Part, Shared};
use crate::bundle::{BundleLoadError, Digest};
use crate::diagnostics::codes::Code;
use crate::diagnostics::problem::Coded;
use crate::sandbox::runner::trace_rejection;
use crate::sandbox::{RunError, RunOutcome, Runner};

/// One thread's runners for a registry.
///
/// Where an event belongs is guessed from the first text in it that looks like its type, so that the one pass of that
/// extractor's projection is the only one. The projection settles what the type is (the last `event_type` of the event's
/// root, in whatever escapes); where it isn't the guessed one, the event is read again.
#[derive(Debug)]
pub struct Dispatcher<'r> {
    registry: &'r Registry,
    /// By bundle; made when the first event of the bundle comes.
    runners: Vec<Option<Runner>>,
    guess: TypeGuess,
    reader: TypeReader,
    /// The type of the last event that was looked up, as the text of JSON, and its route: mostly the next one's as well.
    last: Option<(Vec<u8>, usize)>,
    /// The type of the last event that a prefix has matched.
    matched: String,
    /// The same as the text of JSON.
    matched_text: Vec<u8>,
    /// The type of the last event that no bundle serves, if it has one.
    unserved: Option<String>,
    /// What the extractors of the last event's type gave, where several share it.
    parts: Vec<Part>,
    /// How many dispatchers share the places of a pool.
    sharers: usize,
    /// How results are held to the graph specs of their bundles, of which runners then look for what is known without reading; none
    /// where they aren't.
    graph_check: Option<GraphCheck>,
}

/// What became of an event that is well.
#[derive(Debug)]
pub enum Dispatched<'a> {
    /// No bundle serves its type, or it has none.
    Unrouted {
        /// The event's type, if it has one.
        event_type: Option<&'a str>,
    },
    /// An extractor ran.
    Served(Served<'a>),
    /// The extractors ran that [share](crate::bundle::Sharing) the event's type. If one of them fails, the event has no result: a part of
    /// it would pass for the whole.
    Shared(Shared<'a>),
    /// The bundle that serves its type can't be loaded, which was found out when the first event of the bundle came.
    Refused {
        /// The event's type.
        event_type: &'a str,
        /// Why the bundle can't be loaded.
        error: &'a BundleLoadError,
    },
}

/// Why an event has no result, and whose it was, so that what stands in for its extractor needs to read no type.
#[derive(Clone, Debug, Error)]
#[error("{error}")]
pub struct DispatchError {
    event_type: Option<String>,
    #[source]
    error: RunError,
}

impl DispatchError {
    /// The event's type, where an extractor that serves it has failed. Of an event that isn't read to its end, as one that is no JSON,
    /// none is known.
    #[must_use]
    pub fn event_type(&self) -> Option<&str> {
        self.event_type.as_deref()
    }

    /// What went wrong.
    #[must_use]
    pub fn error(&self) -> &RunError {
        &self.error
    }
}

impl Coded for DispatchError {
    fn entry(&self) -> Code {
        self.error.entry()
    }
}

impl From<DispatchError> for RunError {
    fn from(error: DispatchError) -> Self {
        error.error
    }
}

/// The result of an event, and which bundle gave it.
#[derive(Debug)]
pub struct Served<'a> {
    pub(super) index: usize,
    /// Which of the registry's bundles.
    pub(super) place: usize,
    bundle: Digest,
    event_type: &'a str,
    outcome: RunOutcome<'a>,
}

impl<'a> Served<'a> {
    /// The event's type.
    #[must_use]
    pub fn event_type(&self) -> &'a str {
        self.event_type
    }

    /// The fingerprint of the bundle.
    #[must_use]
    pub fn bundle(&self) -> Digest {
        self.bundle
    }

    /// What the extractor gave.
    #[must_use]
    pub fn outcome(&self) -> RunOutcome<'a> {
        self.outcome
    }
}

impl<'r> Dispatcher<'r> {
    /// Runners for all bundles of `registry`.
    #[must_use]
    pub fn new(registry: &'r Registry) -> Self {
        Self {
            registry,
            runners: (0..registry.bundles()).map(|_| None).collect(),
            guess: TypeGuess::default(),
            reader: TypeReader::new(registry.max_event_bytes()),
            last: None,
            matched: String::new(),
            matched_text: Vec::new(),
            unserved: None,
            parts: Vec::new(),
            sharers: 1,
            graph_check: None,
        }
    }

    /// The same, whose results [say](RunOutcome::is_known_to_fit) where it is known that they fit the graph specs of their bundles.
    pub(super) fn holding_to_graphs(self, check: GraphCheck) -> Self {
        Self { graph_check: Some(check), ..self }
    }

    /// The same, where `sharers` dispatchers of this registry are at work at one time: each keeps its part of the places of a
    /// pool of instances, so that none takes those of another.
    #[must_use]
    pub fn sharing(mut self, sharers: NonZeroUsize) -> Self {
        self.sharers = sharers.get();
        self
    }

    /// Runs the extractor of the event's type. The event is validated in any case.
    ///
    /// # Errors
    /// [`DispatchError`]. The dispatcher is as good as before.
    pub fn dispatch(&mut self, event: &[u8]) -> Result<Dispatched<'_>, DispatchError> {
        let place = self.place(event);
        match place.map_err(|error| DispatchError { event_type: None, error })? {
            Placed::Nowhere => Ok(Dispatched::Unrouted { event_type: self.unserved.as_deref() }),
            Placed::Refused { index, error } => {
                Ok(Dispatched::Refused { event_type: self.type_by(index), error })
            }
            Placed::At(index) => self.serve(index, event),
        }
    }

    /// Runs the extractor of a route on the event that its runner has projected.
    pub(super) fn serve(
        &mut self,
        index: usize,
        event: &[u8],
    ) -> Result<Dispatched<'_>, DispatchError> {
        let registry = self.registry;
        let Some(route) = registry.routes().get(index) else {
            return Ok(Dispatched::Unrouted { event_type: None });
        };
        if !route.others.is_empty() {
            return self.serve_shared(index, route, event);
        }
        self.make_room(route.bundle);
        let event_type = if route.is_prefix { &self.matched } else { &route.event_type };
        let runner = match runner(registry, &mut self.runners, self.graph_check, route.bundle) {
            Ok(runner) => runner,
            Err(error) => return Ok(Dispatched::Refused { event_type, error }),
        };
        let outcome = runner
            .extract(event, &mut ())
            .map_err(|error| DispatchError { event_type: Some(event_type.clone()), error })?;
        let bundle = registry.fingerprint(route.bundle);
        Ok(Dispatched::Served(Served { index, place: route.bundle, bundle, event_type, outcome }))
    }

    /// Runs all extractors of a route, of which the first one's runner has projected the event.
    fn serve_shared(
        &mut self,
        index: usize,
        route: &'r Route,
        event: &[u8],
    ) -> Result<Dispatched<'_>, DispatchError> {
        let registry = self.registry;
        self.parts.clear();
        for bundle in route.bundles() {
            self.make_room(bundle);
            let runner = runner(registry, &mut self.runners, self.graph_check, bundle);
            let runner = match runner {
                Ok(runner) => runner,
                Err(error) => {
                    return Ok(Dispatched::Refused { event_type: self.type_by(index), error });
                }
            };
            let projected = if bundle == route.bundle { Ok(()) } else { runner.project(event) };
            match projected.and_then(|()| runner.extract(event, &mut ())) {
                Ok(outcome) => {
                    self.parts.push(Part::new(bundle, registry.fingerprint(bundle), outcome));
                }
                Err(error) => {
                    let event_type = Some(self.type_by(index).to_owned());
                    return Err(DispatchError { event_type, error });
                }
            }
        }
        let (event_type, parts) = (self.type_by(index), self.parts.as_slice());
        let conflicts = registry.conflicts();
        Ok(Dispatched::Shared(Shared { index, event_type, parts, conflicts }))
    }

    /// Projects an event of this type for the bundle of this route.
    pub(super) fn place_at(
        &mut self,
        index: usize,
        event: &[u8],
        event_type: String,
    ) -> Result<(), RunError> {
        let Some(route) = self.registry.routes().get(index) else { return Ok(()) };
        if route.is_prefix {
            self.matched_text.clear();
            self.matched = event_type;
        }
        // One that can't be loaded says so when it is to serve.
        let runner = runner(self.registry, &mut self.runners, self.graph_check, route.bundle);
        runner.map_or(Ok(()), |runner| runner.project(event))
    }

    pub(super) fn graph_check(&self) -> Option<GraphCheck> {
        self.graph_check
    }

    pub(super) fn registry(&self) -> &'r Registry {
        self.registry
    }

    /// The type of the event that was placed last, which takes this route.
    pub(super) fn type_by(&self, index: usize) -> &str {
        match self.registry.routes().get(index) {
            Some(route) if !route.is_prefix => &route.event_type,
            _ => &self.matched,
        }
    }

    /// The type of the event that was placed last, which no route takes.
    pub(super) fn unserved(&self) -> Option<&str> {
        self.unserved.as_deref()
    }

    /// Ends a batch of all runners, as [`Runner::begin_batch`] does.
    pub fn begin_batch(&mut self) {
        self.runners.iter_mut().flatten().for_each(Runner::begin_batch);
    }

    /// Gives the instances of other bundles up where those of this dispatcher have all places of the pool: they would keep theirs
    /// until an event of their own came.
    fn make_room(&mut self, bundle: usize) {
        let Some(places) = self.registry.pool_instances() else { return };
        if self.runners.get(bundle).and_then(Option::as_ref).is_some_and(Runner::has_instance) {
            return;
        }
        let made = self.runners.iter_mut().flatten();
        let mut holding: Vec<&mut Runner> = made.filter(|runner| runner.has_instance()).collect();
        if holding.len() >= (places / self.sharers).max(1) {
            holding.iter_mut().for_each(|runner| runner.give_up_instance());
        }
    }

    /// Which route the event takes; its runner has projected the event.
    pub(super) fn place(&mut self, event: &[u8]) -> Result<Placed<'r>, RunError> {
        if let Some(text) = self.guess.of(event)
            && let Some(index) = self.route_of(text)
            && let Some(route) = self.registry.routes().get(index)
        {
            // Whether the bundle can be loaded matters only if the event is of its type.
            if let Ok(runner) =
                runner(self.registry, &mut self.runners, self.graph_check, route.bundle)
            {
                runner.project(event)?;
                if runner.is_of_type(event, text) {
                    self.keep(route, text);
                    return Ok(Placed::At(index));
                }
            }
        }
        let resolved = self.resolve(event);
        // No extractor has it yet that would say so.
        let resolved = resolved.inspect_err(|error| trace_rejection(&Span::none(), error));
        let Some(index) = resolved? else { return Ok(Placed::Nowhere) };
        let Some(route) = self.registry.routes().get(index) else { return Ok(Placed::Nowhere) };
        match runner(self.registry, &mut self.runners, self.graph_check, route.bundle) {
            Ok(runner) => runner.project(event)?,
            Err(error) => return Ok(Placed::Refused { index, error }),
        }
        Ok(Placed::At(index))
    }

    /// The route of an event type that is given as the text of JSON.
    fn route_of(&mut self, text: &[u8]) -> Option<usize> {
        if let Some((last, index)) = &self.last
            && last == text
        {
            return Some(*index);
        }
        let index = self.registry.route_of(text)?;
        let (last, last_index) = self.last.get_or_insert_default();
        last.clear();
        last.extend_from_slice(text);
        *last_index = index;
        Some(index)
    }

    /// Keeps the type of an event that goes by a prefix, given as the text of JSON.
    fn keep(&mut self, route: &Route, text: &[u8]) {
        if route.is_prefix && self.matched_text != text {
            self.matched_text.clear();
            self.matched_text.extend_from_slice(text);
            self.matched = type_of(text);
        }
    }

    /// The route of the event's type, beyond doubt. Validates the event.
    fn resolve(&mut self, event: &[u8]) -> Result<Option<usize>, RunError> {
        self.unserved = None;
        let Some(text) = self.reader.read(event)? else { return Ok(None) };
        let text = text.as_ref();
        let index = self.registry.route_of(text);
        if let Some(route) = index.and_then(|index| self.registry.routes().get(index)) {
            self.keep(route, text);
        } else {
            self.unserved = Some(type_of(text));
        }
        Ok(index)
    }
}

/// Where an event belongs.
#[derive(Debug)]
pub(super) enum Placed<'r> {
    /// To the bundle of this route.
    At(usize),
    /// To the bundle of this route, which can't be loaded.
    Refused { index: usize, error: &'r BundleLoadError },
    /// To none.
    Nowhere,
}

/// The runner of a bundle, which is loaded if it isn't yet.
fn runner<'a, 'r>(
    registry: &'r Registry,
    runners: &'a mut Vec<Option<Runner>>,
    graph_check: Option<GraphCheck>,
    bundle: usize,
) -> Result<&'a mut Runner, &'r BundleLoadError> {
    if runners.len() <= bundle {
        runners.resize_with(bundle + 1, || None);
    }
    let place = &mut runners[bundle];
    match place {
        Some(runner) => Ok(runner),
        None => {
            let runner = registry.bundle(bundle)?.module().runner();
            // A bundle whose graph spec can't be read is told of when a result is held to it.
            let graph = graph_check.and_then(|check| Some((check, registry.graph(bundle).ok()?)));
            Ok(place.insert(match graph {
                Some((check, graph)) => {
                    runner.holding_to(Arc::clone(&graph.spec), check.options(graph))
                }
                None => runner,
            }))
        }
    }
}
