//! A bundle that serves events, loaded when it is first needed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::bundle_graph::{BundleGraph, GraphsError};
use crate::bundle::pipeline::{Admitted, Bundle, Pipeline};
use crate::bundle::{
    BundleLoadError, Digest, Expect, ExtractorName, Found, Hold, Loaded, load_held,
};
use crate::sandbox::Extractor;

/// With what serving needs, and nothing else of what the gates made of its module.
pub(super) type Serving = Loaded<Extractor>;

/// One of a registry's bundles.
#[derive(Debug)]
pub(super) struct ServedBundle {
    path: PathBuf,
    name: ExtractorName,
    /// What its manifest says, which is the fingerprint of its content once it is loaded.
    fingerprint: Digest,
    hold: Arc<Hold>,
    loaded: OnceLock<Result<Serving, BundleLoadError>>,
    graph: OnceLock<Result<BundleGraph, GraphsError>>,
}

impl ServedBundle {
    /// One that is loaded already.
    pub(super) fn of(bundle: &Bundle) -> Self {
        Self {
            path: bundle.path().to_owned(),
            name: bundle.manifest().name(),
            fingerprint: bundle.fingerprint(),
            hold: Arc::clone(bundle.hold()),
            loaded: OnceLock::from(Ok(serving(bundle))),
            graph: OnceLock::new(),
        }
    }

    /// One of which nothing is known but what its manifest says.
    pub(super) fn found(found: &Found) -> Self {
        Self {
            path: found.path.clone(),
            name: found.name.clone(),
            fingerprint: found.fingerprint,
            hold: Arc::clone(&found.hold),
            loaded: OnceLock::new(),
            graph: OnceLock::new(),
        }
    }

    pub(super) fn fingerprint(&self) -> Digest {
        self.fingerprint
    }

    /// What keeps it from being removed.
    pub(super) fn hold(&self) -> &Arc<Hold> {
        &self.hold
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn name(&self) -> &ExtractorName {
        &self.name
    }

    /// The bundle, through all gates. The first who asks loads it, and others wait for that.
    pub(super) fn load(&self, gates: &Pipeline) -> Result<&Serving, &BundleLoadError> {
        let load = || load_serving(&self.path, self.fingerprint, Some(&self.hold), gates);
        self.loaded.get_or_init(load).as_ref()
    }

    /// Whether it has been loaded, and well.
    pub(super) fn is_loaded(&self) -> bool {
        matches!(self.loaded.get(), Some(Ok(_)))
    }

    /// What its results are held to. The first who asks reads it.
    pub(super) fn graph(&self, gates: &Pipeline) -> Result<&BundleGraph, &GraphsError> {
        let read = || BundleGraph::read(self.load(gates).map_err(BundleLoadError::clone)?);
        self.graph.get_or_init(read).as_ref()
    }

    /// Why it isn't served, if it was tried to load it.
    pub(super) fn failure(&self) -> Option<&BundleLoadError> {
        self.loaded.get()?.as_ref().err()
    }
}

/// The bundle with this fingerprint, through all gates, which may be held already.
pub(super) fn load_serving(
    path: &Path,
    fingerprint: Digest,
    hold: Option<&Arc<Hold>>,
    gates: &Pipeline,
) -> Result<Serving, BundleLoadError> {
    let fingerprint = fingerprint.to_string();
    // The fingerprint covers the event types.
    let expect = Expect { fingerprint: Some(&fingerprint), ..Expect::default() };
    load_held(path, hold, &expect, gates).map(|bundle| serving(&bundle))
}

fn serving(bundle: &Loaded<Admitted>) -> Serving {
    bundle.with_module(bundle.module().extractor().clone())
}
