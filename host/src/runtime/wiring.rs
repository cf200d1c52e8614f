//! Bundles with what stands in for them, by event type.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use super::bundle_graph::{BundleGraph, GraphsError};
use super::dispatcher::Dispatcher;
use super::extracted::Extracted;
use super::extractors::{Entry, EntryBundle, Extractors, Wired};
use super::fallback::Extract;
use super::graph_check::GraphCheck;
use super::registry::{Registry, Route};

/// Which extractors of the embedding program stand in for bundles, and for which event types.
///
/// | bundle | fallback | an event of the type | audit |
/// |---|---|---|---|
/// | yes | yes | the bundle's result, held to its graph spec; else the fallback's | |
/// | no | yes | the fallback's result, as it is | `fallbacks_without_bundle` |
/// | yes | no | nothing | `bundles_without_fallback` |
///
/// Types and prefixes (`order.*`) are matched as they are written; of several that an event's type falls under, the one that says most
/// counts.
///
/// # Example
/// ```
/// use retort::graph::Extraction;
/// use retort::runtime::Wiring;
/// use retort::{Pipeline, Registry};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let bundles = tempfile::tempdir()?;
/// # let bundles = bundles.path();
/// let pipeline = Pipeline::builder().build()?;
/// let registry = Registry::open(bundles, &pipeline);
/// let mut extractors = Wiring::default()
///     .with_fallback("order", |_: &[u8]| Ok(Extraction::default()))
///     .on_outcome(|event_type, extracted| println!("{event_type}: {:?}", extracted.decision()))
///     .over(&registry);
/// assert_eq!(extractors.coverage().fallbacks_without_bundle, ["order"]);
/// let extracted = extractors.extract(br#"{"event_type": "order"}"#)?;
/// assert!(extracted.into_extraction()?.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct Wiring<'f> {
    fallbacks: BTreeMap<String, Box<dyn Extract + 'f>>,
    allowlist: Option<BTreeSet<String>>,
    on_outcome: Option<OnOutcome<'f>>,
}

/// What is told of an event: its type, and what became of it.
pub(super) type OnOutcome<'f> = Box<dyn FnMut(&str, &Extracted<'_>) + 'f>;

/// Which event types are served by what, each list sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// A bundle, with a fallback.
    pub wrapped: Vec<String>,
    /// A fallback alone, whose results are passed through.
    pub passed_through: Vec<String>,
    /// Types that aren't served, since there is a bundle, but no fallback for it.
    pub bundles_without_fallback: Vec<String>,
    /// Types whose bundle is missing or could not be loaded: why is among the [failures](Registry::failures) of the registry.
    pub fallbacks_without_bundle: Vec<String>,
}

impl<'f> Wiring<'f> {
    /// The same, with what stands in for the bundle of an event type, in the place of what was said of the type before.
    #[must_use]
    pub fn with_fallback(
        mut self,
        event_type: impl Into<String>,
        fallback: impl Extract + 'f,
    ) -> Self {
        self.fallbacks.insert(event_type.into(), Box::new(fallback));
        self
    }

    /// The same for these event types alone: bundles and fallbacks of others are as good as not there.
    #[must_use]
    pub fn with_allowlist<S: Into<String>>(
        mut self,
        event_types: impl IntoIterator<Item = S>,
    ) -> Self {
        self.allowlist = Some(event_types.into_iter().map(Into::into).collect());
        self
    }

    /// The same, where `hook` is called once for each event of a type that has both a bundle and a fallback, before its result is
    /// given back. When it panics, the result is lost.
    #[must_use]
    pub fn on_outcome(mut self, hook: impl FnMut(&str, &Extracted<'_>) + 'f) -> Self {
        self.on_outcome = Some(Box::new(hook));
        self
    }

    /// What serves events on one thread without any bundle: the fallbacks alone, which are told the type of an event by the limits of
    /// `registry`.
    pub(super) fn without_bundles<'r>(self, registry: &'r Registry) -> Extractors<'r, 'f> {
        let Self { fallbacks, on_outcome, .. } = self;
        let (mut wired, coverage) = (Wired::default(), Coverage::default());
        for (event_type, fallback) in fallbacks {
            wired.add(&event_type, Entry { bundle: None, fallback });
        }
        Extractors { dispatcher: Dispatcher::new(registry), wired, coverage, on_outcome }
    }

    /// What serves events on one thread, with the bundles of `registry`. A bundle that has a fallback is loaded if it isn't yet, and
    /// its graph spec read; events of one that can't be loaded have the fallback's results.
    #[must_use]
    pub fn over<'r>(self, registry: &'r Registry) -> Extractors<'r, 'f> {
        let Self { mut fallbacks, allowlist, on_outcome } = self;
        let is_allowed = |event_type: &str| {
            allowlist.as_ref().is_none_or(|allowed| allowed.contains(event_type))
        };
        fallbacks.retain(|event_type, _| is_allowed(event_type));
        let mut coverage = Coverage::default();
        let mut wired = Wired::default();
        let in_scope = registry.routes().iter().enumerate();
        for (index, route) in in_scope.filter(|(_, route)| is_allowed(&route.event_type)) {
            let event_type = route.event_type.clone();
            let Some(fallback) = fallbacks.remove(&event_type) else {
                coverage.bundles_without_fallback.push(event_type);
                continue;
            };
            let bundle = Some(EntryBundle { index, graph: graphs(registry, route) });
            wired.add(&event_type, Entry { bundle, fallback });
            coverage.wrapped.push(event_type);
        }
        for (event_type, fallback) in fallbacks {
            wired.add(&event_type, Entry { bundle: None, fallback });
            coverage.passed_through.push(event_type.clone());
            coverage.fallbacks_without_bundle.push(event_type);
        }
        coverage.wrapped.sort_unstable();
        coverage.bundles_without_fallback.sort_unstable();
        let dispatcher = Dispatcher::new(registry).holding_to_graphs(GraphCheck::default());
        Extractors { dispatcher, wired, coverage, on_outcome }
    }
}

/// What the results of a route's first bundle are held to, if those of all can be held to something.
fn graphs<'r>(registry: &'r Registry, route: &Route) -> Result<&'r BundleGraph, &'r GraphsError> {
    route.others.iter().try_for_each(|other| registry.graph(*other).map(drop))?;
    registry.graph(route.bundle)
}

impl fmt::Debug for Wiring<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wiring")
            .field("fallbacks", &self.fallbacks.keys())
            .field("allowlist", &self.allowlist)
            .finish_non_exhaustive()
    }
}
