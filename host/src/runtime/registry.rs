//! Which bundle serves which event type.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use thiserror::Error;

use crate::bundle::pipeline::{Admitted, Pipeline};
use crate::bundle::{self, BundleLoadError, Digest, Discovery, Expect, LoadFailure, Loaded, Part};
use crate::diagnostics::codes::Code;
use crate::diagnostics::problem::Coded;
use crate::graph::spec::{GraphSpec, GraphSpecError};
use crate::plan::EventPattern;
use crate::sandbox::Extractor;

/// The bundles of a directory, and which event types each of them serves.
#[derive(Debug)]
pub struct Registry {
    routes: Vec<Route>,
    /// By the event type as the text of JSON, the way `serde_json` writes it.
    by_text: HashMap<Vec<u8>, usize>,
    /// The same for prefixes, without the quote at the end.
    by_prefix: HashMap<Vec<u8>, usize>,
    /// How long these are, the longest first.
    prefix_lengths: Vec<usize>,
    failures: Vec<LoadFailure>,
    bundles: usize,
    max_event_bytes: usize,
}

/// One event type, or one prefix, with the bundle that serves it.
#[derive(Debug)]
pub(super) struct Route {
    /// As the bundle declares it.
    pub(super) event_type: String,
    pub(super) is_prefix: bool,
    /// Which of the registry's bundles: routes of one bundle share a runner.
    pub(super) bundle: usize,
    /// With what serving needs, and nothing else of what the gates made of its module.
    pub(super) loaded: Arc<Loaded<Extractor>>,
}

/// Why the graph spec of a bundle can't be had.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GraphsError {
    /// The file isn't the one any more that was there when the bundle was loaded.
    #[error(transparent)]
    Load(#[from] BundleLoadError),
    /// It isn't a graph spec that this version reads.
    #[error(transparent)]
    Spec(#[from] GraphSpecError),
}

impl Coded for GraphsError {
    fn entry(&self) -> Code {
        match self {
            Self::Load(error) => error.entry(),
            Self::Spec(error) => error.entry(),
        }
    }
}

impl Registry {
    /// Loads every bundle of the directory `root` through the gates of `pipeline`. What could not be loaded is in
    /// [`failures`](Self::failures); the others are served.
    #[must_use]
    pub fn open(root: &Path, pipeline: &Pipeline) -> Self {
        let found = bundle::discover(root, &Expect::default(), None, pipeline);
        Self::new(found, pipeline)
    }

    /// The registry of what was discovered in a directory with the gates of `pipeline`.
    #[must_use]
    pub fn new(found: Discovery<Admitted>, pipeline: &Pipeline) -> Self {
        let mut registry = Self {
            routes: Vec::with_capacity(found.registry.len()),
            by_text: HashMap::with_capacity(found.registry.len()),
            by_prefix: HashMap::new(),
            prefix_lengths: Vec::new(),
            failures: found.failures,
            bundles: found.loaded.len(),
            max_event_bytes: pipeline.sandbox().limits().event_bytes,
        };
        let places: HashMap<_, usize> =
            found.loaded.iter().enumerate().map(|(place, it)| (Arc::as_ptr(it), place)).collect();
        let serving: Vec<Arc<Loaded<Extractor>>> = found
            .loaded
            .iter()
            .map(|loaded| Arc::new(loaded.with_module(loaded.module().extractor().clone())))
            .collect();
        for (event_type, loaded) in found.registry {
            let place = places.get(&Arc::as_ptr(&loaded)).copied();
            let Some((bundle, loaded)) = place.and_then(|at| Some((at, serving.get(at)?))) else {
                continue;
            };
            let loaded = Arc::clone(loaded);
            let index = registry.routes.len();
            let is_prefix = match EventPattern::new(&event_type) {
                EventPattern::Exact(exact) => {
                    registry.by_text.insert(json_text(&exact), index);
                    false
                }
                EventPattern::Prefix(prefix) => {
                    let mut text = json_text(&prefix);
                    text.pop();
                    registry.prefix_lengths.push(text.len());
                    registry.by_prefix.insert(text, index);
                    true
                }
            };
            registry.routes.push(Route { event_type, is_prefix, bundle, loaded });
        }
        registry.prefix_lengths.sort_unstable_by(|one, other| other.cmp(one));
        registry.prefix_lengths.dedup();
        registry
    }

    /// Whether no event type is served.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.routes.is_empty()
    }

    /// How many bundles were loaded, whether they serve a type or not.
    #[must_use]
    pub fn bundles(&self) -> usize {
        self.bundles
    }

    /// The event types and prefixes that are served, as bundles declare them, in the order of code points.
    pub fn event_types(&self) -> impl Iterator<Item = &str> {
        self.routes.iter().map(|route| route.event_type.as_str())
    }

    /// The event types and prefixes with the fingerprints of the bundles that serve them, in the order of
    /// [`event_types`](Self::event_types).
    pub fn served(&self) -> impl Iterator<Item = (&str, Digest)> {
        self.routes.iter().map(|route| (route.event_type.as_str(), route.fingerprint()))
    }

    /// Why a bundle isn't served, or an event type of it.
    #[must_use]
    pub fn failures(&self) -> &[LoadFailure] {
        &self.failures
    }

    /// The graph spec of each event type's bundle, in the order of [`event_types`](Self::event_types). They are read once
    /// more from the bundles, since most of those who serve events don't ask for them; the types of one bundle share one.
    ///
    /// # Errors
    /// [`GraphsError`], which names the file, for a spec that was altered since, or that this version doesn't read.
    pub fn graph_specs(&self) -> Result<Vec<Arc<GraphSpec>>, GraphsError> {
        let mut of_bundles: HashMap<usize, Arc<GraphSpec>> = HashMap::new();
        let spec = |route: &Route| {
            if let Some(spec) = of_bundles.get(&route.bundle) {
                return Ok(Arc::clone(spec));
            }
            let name = Part::Graph.file_name(route.loaded.manifest().module_name());
            let origin = route.loaded.path().join(name);
            let graph = route.loaded.read(Part::Graph)?.unwrap_or_default();
            let text = String::from_utf8_lossy(&graph);
            let spec = Arc::new(GraphSpec::parse(&text, &origin.to_string_lossy())?);
            of_bundles.insert(route.bundle, Arc::clone(&spec));
            Ok(spec)
        };
        self.routes.iter().map(spec).collect()
    }

    pub(super) fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// The route of an event type that is given as the text of JSON, if it is written without needless escapes: the type
    /// itself comes before any prefix, and a longer prefix before a shorter one.
    pub(super) fn route_of(&self, text: &[u8]) -> Option<usize> {
        // Canonical text escapes each character by itself, so that texts begin alike where types do.
        let by_prefix = || {
            let prefixes = self.prefix_lengths.iter().filter_map(|length| text.get(..*length));
            prefixes.filter_map(|prefix| self.by_prefix.get(prefix)).next()
        };
        self.by_text.get(text).or_else(by_prefix).copied()
    }

    pub(super) fn max_event_bytes(&self) -> usize {
        self.max_event_bytes
    }

    /// How many instances there can be at one time, where they come from a pool.
    pub(super) fn pool_instances(&self) -> Option<usize> {
        let places = |route: &Route| route.extractor().sandbox().pool_instances();
        self.routes.iter().filter_map(places).min().map(|places| places as usize)
    }
}

/// A string as the text of JSON.
fn json_text(text: &str) -> Vec<u8> {
    serde_json::Value::from(text).to_string().into_bytes()
}

impl Route {
    pub(super) fn extractor(&self) -> &Extractor {
        self.loaded.module()
    }

    pub(super) fn fingerprint(&self) -> Digest {
        self.loaded.fingerprint()
    }
}
