//! From an event to the extractor that serves its type.

use std::num::NonZeroUsize;

use memchr::memmem::Finder;
use tracing::Span;

use super::registry::{Registry, Route};
use crate::abi::block::SlotKind;
use crate::abi::event::{EVENT_TYPE, Projection, Projector};
use crate::abi::section::Input;
use crate::bundle::{BundleLoadError, Digest};
use crate::json::{scan, string};
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
    /// Reads the event type alone.
    resolver: Projector,
    projection: Projection,
    finder: Finder<'static>,
    /// The type of the last event that was looked up, as the text of JSON, and its route: mostly the next one's as well.
    last: Option<(Vec<u8>, usize)>,
    /// The type of the last event that a prefix has matched.
    matched: String,
    /// The same as the text of JSON.
    matched_text: Vec<u8>,
    /// How many dispatchers share the places of a pool.
    sharers: usize,
}

/// What became of an event that is well.
#[derive(Debug)]
pub enum Dispatched<'a> {
    /// No bundle serves its type, or it has none.
    Unrouted,
    /// An extractor ran.
    Served(Served<'a>),
    /// The bundle that serves its type can't be loaded, which was found out when the first event of the bundle came.
    Refused(&'a BundleLoadError),
}

/// The result of an event, and which bundle gave it.
#[derive(Debug)]
pub struct Served<'a> {
    pub(super) index: usize,
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
        let event_type = Input::json(&[EVENT_TYPE.to_owned()]);
        Self {
            registry,
            runners: (0..registry.bundles()).map(|_| None).collect(),
            resolver: Projector::new(&[event_type])
                .with_max_event_bytes(registry.max_event_bytes()),
            projection: Projection::default(),
            finder: Finder::new(b"\"event_type\""),
            last: None,
            matched: String::new(),
            matched_text: Vec::new(),
            sharers: 1,
        }
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
    /// [`RunError`]. The dispatcher is as good as before.
    pub fn dispatch(&mut self, event: &[u8]) -> Result<Dispatched<'_>, RunError> {
        let registry = self.registry;
        let index = match self.project(event) {
            Ok(Some(index)) => index,
            Ok(None) => return Ok(Dispatched::Unrouted),
            Err(Unserved::Event(error)) => return Err(error),
            Err(Unserved::Bundle(error)) => return Ok(Dispatched::Refused(error)),
        };
        let Some(route) = registry.routes().get(index) else { return Ok(Dispatched::Unrouted) };
        self.make_room(route);
        let runner = match runner(registry, &mut self.runners, route) {
            Ok(runner) => runner,
            Err(error) => return Ok(Dispatched::Refused(error)),
        };
        let outcome = runner.extract(event, &mut ())?;
        let event_type = if route.is_prefix { &self.matched } else { &route.event_type };
        let bundle = registry.fingerprint(route);
        Ok(Dispatched::Served(Served { index, bundle, event_type, outcome }))
    }

    /// Ends a batch of all runners, as [`Runner::begin_batch`] does.
    pub fn begin_batch(&mut self) {
        self.runners.iter_mut().flatten().for_each(Runner::begin_batch);
    }

    /// Gives the instances of other bundles up where those of this dispatcher have all places of the pool: they would keep theirs
    /// until an event of their own came.
    fn make_room(&mut self, route: &Route) {
        let Some(places) = self.registry.pool_instances() else { return };
        if self.runners.get(route.bundle).and_then(Option::as_ref).is_some_and(Runner::has_instance)
        {
            return;
        }
        let made = self.runners.iter_mut().flatten();
        let mut holding: Vec<&mut Runner> = made.filter(|runner| runner.has_instance()).collect();
        if holding.len() >= (places / self.sharers).max(1) {
            holding.iter_mut().for_each(|runner| runner.give_up_instance());
        }
    }

    /// Which route the event takes; its runner has projected the event. `None` if there is none.
    fn project(&mut self, event: &[u8]) -> Result<Option<usize>, Unserved<'r>> {
        if let Some(text) = self.guess(event)
            && let Some(index) = self.route_of(text)
            && let Some(route) = self.registry.routes().get(index)
        {
            // Whether the bundle can be loaded matters only if the event is of its type.
            if let Ok(runner) = runner(self.registry, &mut self.runners, route) {
                runner.project(event)?;
                if runner.is_of_type(event, text) {
                    self.keep(route, text);
                    return Ok(Some(index));
                }
            }
        }
        let resolved = self.resolve(event);
        // No extractor has it yet that would say so.
        let resolved = resolved.inspect_err(|error| trace_rejection(&Span::none(), error));
        let Some(index) = resolved? else { return Ok(None) };
        let Some(route) = self.registry.routes().get(index) else { return Ok(None) };
        let runner = runner(self.registry, &mut self.runners, route).map_err(Unserved::Bundle)?;
        runner.project(event)?;
        Ok(Some(index))
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
            // The scanner has accepted it as a string.
            self.matched = serde_json::from_slice(text).unwrap_or_default();
        }
    }

    /// What the event's type seems to be, as the text of JSON.
    fn guess<'e>(&self, event: &'e [u8]) -> Option<&'e [u8]> {
        let key = self.finder.find(event)?;
        let colon = scan::space(event, key + self.finder.needle().len());
        let start = scan::space(event, colon + 1);
        if scan::byte(event, colon) != b':' || scan::byte(event, start) != b'"' {
            return None;
        }
        // Other escapes of the same type would match a shorter prefix: they are resolved first.
        let (end, escaped) = scan::string(event, start + 1).ok()?;
        if escaped { None } else { event.get(start..end) }
    }

    /// The route of the event's type, beyond doubt. Validates the event.
    fn resolve(&mut self, event: &[u8]) -> Result<Option<usize>, RunError> {
        self.resolver.project(event, &mut self.projection)?;
        let slot = self.resolver.slot(&self.projection, 0);
        if slot.kind != SlotKind::String {
            return Ok(None);
        }
        let text = event.get(slot.start as usize..slot.end as usize).unwrap_or_default();
        let mut canonical = None;
        if slot.escaped {
            let content = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
            canonical = string::canonical(content);
        }
        let text = canonical.as_deref().unwrap_or(text);
        let index = self.registry.route_of(text);
        if let Some(route) = index.and_then(|index| self.registry.routes().get(index)) {
            self.keep(route, text);
        }
        Ok(index)
    }
}

/// Why an event isn't served.
enum Unserved<'r> {
    Event(RunError),
    Bundle(&'r BundleLoadError),
}

impl From<RunError> for Unserved<'_> {
    fn from(error: RunError) -> Self {
        Self::Event(error)
    }
}

/// The runner of a route's bundle, which is loaded if it isn't yet.
fn runner<'a, 'r>(
    registry: &'r Registry,
    runners: &'a mut Vec<Option<Runner>>,
    route: &Route,
) -> Result<&'a mut Runner, &'r BundleLoadError> {
    if runners.len() <= route.bundle {
        runners.resize_with(route.bundle + 1, || None);
    }
    let place = &mut runners[route.bundle];
    match place {
        Some(runner) => Ok(runner),
        None => Ok(place.insert(registry.bundle(route)?.module().runner())),
    }
}
