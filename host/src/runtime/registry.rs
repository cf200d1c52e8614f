//! Which bundle serves which event type.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use crate::bundle::{self, Digest, Discovery, Expect, LoadFailure, Loaded, Part};
use crate::graph::spec::{GraphSpec, GraphSpecError};
use crate::pipeline::{Admitted, Pipeline};
use crate::sandbox::Extractor;

/// The bundles of a directory, and which event types each of them serves.
#[derive(Debug)]
pub struct Registry {
    routes: Vec<Route>,
    /// By the event type as the text of JSON, the way `serde_json` writes it.
    by_text: HashMap<Vec<u8>, usize>,
    failures: Vec<LoadFailure>,
    bundles: usize,
    max_event_bytes: usize,
}

/// One event type with the bundle that serves it.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) event_type: String,
    /// The event type as the text of JSON.
    pub(super) text: Vec<u8>,
    /// Which of the registry's bundles: routes of one bundle share a runner.
    pub(super) bundle: usize,
    pub(super) loaded: Arc<Loaded<Admitted>>,
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
            failures: found.failures,
            bundles: found.loaded.len(),
            max_event_bytes: pipeline.sandbox().limits().event_bytes,
        };
        for (event_type, loaded) in found.registry {
            let Some(bundle) = found.loaded.iter().position(|other| Arc::ptr_eq(other, &loaded))
            else {
                continue;
            };
            let text = serde_json::Value::from(event_type.as_str()).to_string().into_bytes();
            registry.by_text.insert(text.clone(), registry.routes.len());
            registry.routes.push(Route { event_type, text, bundle, loaded });
        }
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

    /// The event types that are served, in the order of code points.
    pub fn event_types(&self) -> impl Iterator<Item = &str> {
        self.routes.iter().map(|route| route.event_type.as_str())
    }

    /// Why a bundle isn't served, or an event type of it.
    #[must_use]
    pub fn failures(&self) -> &[LoadFailure] {
        &self.failures
    }

    /// The graph spec of each event type's bundle, in the order of [`event_types`](Self::event_types).
    ///
    /// # Errors
    /// [`GraphSpecError`], which names the file, for a spec that this version doesn't read.
    pub fn graph_specs(&self) -> Result<Vec<GraphSpec>, GraphSpecError> {
        let spec = |route: &Route| {
            let name = Part::Graph.file_name(route.loaded.manifest().module_name());
            let origin = route.loaded.path().join(name);
            let text = String::from_utf8_lossy(route.loaded.contents().graph);
            GraphSpec::parse(&text, &origin.to_string_lossy())
        };
        self.routes.iter().map(spec).collect()
    }

    pub(super) fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// The route of an event type that is given as the text of JSON, if it is written without needless escapes.
    pub(super) fn by_text(&self, text: &[u8]) -> Option<usize> {
        self.by_text.get(text).copied()
    }

    pub(super) fn max_event_bytes(&self) -> usize {
        self.max_event_bytes
    }
}

impl Route {
    pub(super) fn extractor(&self) -> &Extractor {
        self.loaded.module().extractor()
    }

    pub(super) fn fingerprint(&self) -> Digest {
        self.loaded.fingerprint()
    }
}
