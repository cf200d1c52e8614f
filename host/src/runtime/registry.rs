//! Which bundle serves which event type.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::bundle_graph::{BundleGraph, GraphsError};
use super::served::{ServedBundle, Serving};
use super::type_table::TypeTable;
use crate::bundle::pipeline::{Admitted, Bundle, Pipeline};
use crate::bundle::{
    self, BundleLoadError, Digest, Discovery, Hold, LoadFailure, LookedOver, Looking, Sharing,
};
use crate::graph::Conflicts;
use crate::graph::spec::GraphSpec;

/// The bundles of a directory, and which event types each of them serves.
///
/// For as long as it lives, none of them is [removed](crate::Store::collect) from the directory, whether it is loaded yet or not. That takes an open file
/// of the system for each; where a third of those that this process may have are taken for it, the directory is held as a whole.
#[derive(Debug)]
pub struct Registry {
    gates: Pipeline,
    bundles: Vec<ServedBundle>,
    routes: Vec<Route>,
    /// Routes by event type.
    table: TypeTable,
    failures: Vec<LoadFailure>,
    /// What becomes of event types that several extractors declare.
    sharing: Sharing,
    /// Where not all bundles are held one by one, none is removed from the directory.
    _looking: Option<Looking>,
}

/// One event type, or one prefix, with the bundles that serve it.
#[derive(Debug)]
pub(super) struct Route {
    /// As the bundle declares it.
    pub(super) event_type: String,
    pub(super) is_prefix: bool,
    /// Which of the registry's bundles: routes of one bundle share a runner.
    pub(super) bundle: usize,
    /// The bundles of other extractors that serve it as well, in the order of their names, which come after that of the first.
    pub(super) others: Box<[usize]>,
}

impl Route {
    /// All bundles that serve it.
    pub(super) fn bundles(&self) -> impl Iterator<Item = usize> {
        std::iter::once(self.bundle).chain(self.others.iter().copied())
    }
}

impl Registry {
    /// Loads every bundle of the directory `root` through the gates of `pipeline`, on as many threads as run at one time here. What
    /// could not be loaded is in [`failures`](Self::failures); the others are served.
    #[must_use]
    pub fn open(root: &Path, pipeline: &Pipeline) -> Self {
        let looking = Looking::begin(root);
        Self::new(bundle::discover_on_all_cores(root, pipeline), pipeline).looked_over(looking)
    }

    /// Reads the manifests of the bundles in the directory `root` and nothing else of them: a bundle goes through the gates of
    /// `pipeline` when its first event comes, whose thread loads it. Events of one that can't be loaded are
    /// [refused](super::Dispatched::Refused), and it is in [`late_failures`](Self::late_failures).
    ///
    /// What claims an event type together with others is loaded right away, so that the same is served as by
    /// [`open`](Self::open): a bundle that can't be loaded takes no type from one that can. A bundle that is exchanged for another
    /// before its first event can't be loaded any more.
    #[must_use]
    pub fn open_lazily(root: &Path, pipeline: &Pipeline) -> Self {
        Self::open_lazily_with(root, pipeline, &HashMap::new())
    }

    /// The same where bundles are held already, by their fingerprints.
    pub(super) fn open_lazily_with(
        root: &Path,
        pipeline: &Pipeline,
        known: &HashMap<Digest, Arc<Hold>>,
    ) -> Self {
        let looking = Looking::begin(root);
        let LookedOver { found, failures, sharing } = bundle::look_over(root, known);
        let mut registry = Self::empty(pipeline, failures, sharing);
        registry.bundles = found.iter().map(ServedBundle::found).collect();
        let mut claims: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (place, found) in found.iter().enumerate() {
            found.event_types.iter().for_each(|it| claims.entry(it).or_default().push(place));
        }
        let contested = claims.values().filter(|places| places.len() > 1).flatten();
        let mut contested: Vec<usize> = contested.copied().collect();
        contested.sort_unstable();
        contested.dedup();
        registry.load_at_once(&contested);
        let mut collisions = Vec::new();
        for (event_type, mut places) in claims {
            places.retain(|place| registry.bundles[*place].failure().is_none());
            if sharing.in_order(&mut places, |it| found[*it].name.clone()) {
                registry.add_route(event_type, &places);
                continue;
            }
            collisions.extend(places.iter().map(|place| {
                LoadFailure::collision(&found[*place].path, event_type, places.len())
            }));
        }
        let unfit = contested.iter().filter_map(|place| registry.bundles[*place].failure());
        let unfit: Vec<LoadFailure> = unfit.cloned().map(LoadFailure::from).collect();
        registry.failures.extend(unfit.into_iter().chain(collisions));
        registry.looked_over(looking)
    }

    /// The same with all of its bundles held.
    fn looked_over(mut self, looking: Looking) -> Self {
        let is_held = self.bundles.iter().all(|bundle| bundle.hold().is_held());
        self._looking = (!is_held).then_some(looking);
        self
    }

    /// What holds its bundles, by their fingerprints.
    pub(super) fn holds(&self) -> impl Iterator<Item = (Digest, Arc<Hold>)> {
        self.bundles.iter().map(|bundle| (bundle.fingerprint(), Arc::clone(bundle.hold())))
    }

    /// The registry of bundles that are loaded already, wherever they lie, with the gates of `pipeline`. A type that several declare
    /// is served by none, as in a directory.
    ///
    /// # Example
    /// ```
    /// use retort::{Pipeline, Registry};
    ///
    /// let pipeline = Pipeline::builder().build()?;
    /// let registry = Registry::of_bundles([], &pipeline);
    /// assert!(registry.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn of_bundles(bundles: impl IntoIterator<Item = Arc<Bundle>>, pipeline: &Pipeline) -> Self {
        Self::new(Discovery::of(bundles.into_iter().collect(), None), pipeline)
    }

    /// The registry of what was [discovered](bundle::discover) in a directory with the gates of `pipeline`. What is in the discovery's
    /// `registry` is served, whether it is among those that are `loaded` or not.
    #[must_use]
    pub fn new(found: Discovery<Admitted>, pipeline: &Pipeline) -> Self {
        let mut registry = Self::empty(pipeline, found.failures, found.sharing);
        let mut places: HashMap<*const Bundle, usize> = HashMap::new();
        let one =
            found.registry.iter().map(|(event_type, it)| (event_type, std::slice::from_ref(it)));
        let several = found.shared.iter().map(|(event_type, it)| (event_type, it.as_slice()));
        let served: BTreeMap<_, _> = one.chain(several).collect();
        for loaded in found.loaded.iter().chain(served.values().copied().flatten()) {
            places.entry(Arc::as_ptr(loaded)).or_insert_with(|| {
                registry.bundles.push(ServedBundle::of(loaded));
                registry.bundles.len() - 1
            });
        }
        for (event_type, bundles) in served {
            // Each was given a place above.
            let bundles = bundles.iter().filter_map(|it| places.get(&Arc::as_ptr(it)).copied());
            registry.add_route(event_type, &bundles.collect::<Vec<_>>());
        }
        registry
    }

    fn empty(pipeline: &Pipeline, failures: Vec<LoadFailure>, sharing: Sharing) -> Self {
        Self {
            gates: pipeline.clone(),
            bundles: Vec::new(),
            routes: Vec::new(),
            table: TypeTable::default(),
            failures,
            sharing,
            _looking: None,
        }
    }

    fn add_route(&mut self, event_type: &str, bundles: &[usize]) {
        let Some((bundle, others)) = bundles.split_first() else { return };
        let index = self.routes.len();
        let is_prefix = self.table.add(event_type, index);
        let event_type = event_type.to_owned();
        self.routes.push(Route { event_type, is_prefix, bundle: *bundle, others: others.into() });
    }

    fn load_at_once(&self, places: &[usize]) {
        bundle::on_all_cores(places, |place| {
            // Whether it went well is asked of the bundle.
            let _ = self.bundles[*place].load(&self.gates);
        });
    }

    /// Whether no event type is served.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.routes.is_empty()
    }

    /// How many bundles there are, whether they serve a type or not: those that were loaded or, where each is loaded with its first
    /// event, those that have a manifest.
    #[must_use]
    pub fn bundles(&self) -> usize {
        self.bundles.len()
    }

    /// The event types and prefixes that are served, as bundles declare them, in the order of code points.
    pub fn event_types(&self) -> impl Iterator<Item = &str> {
        self.routes.iter().map(|route| route.event_type.as_str())
    }

    /// The event types and prefixes with the fingerprints of the bundles that serve them, in the order of
    /// [`event_types`](Self::event_types); one that several extractors [share](Sharing) comes once with each, in the order of their names. That of a bundle which isn't loaded yet is what its manifest says: nothing else is
    /// loaded in its place.
    pub fn served(&self) -> impl Iterator<Item = (&str, Digest)> {
        self.routes.iter().flat_map(|route| {
            let served = |bundle| (route.event_type.as_str(), self.fingerprint(bundle));
            route.bundles().map(served)
        })
    }

    /// Why a bundle isn't served, or an event type of it, as far as that was known when the registry was opened.
    #[must_use]
    pub fn failures(&self) -> &[LoadFailure] {
        &self.failures
    }

    /// The bundles that could not be loaded when their first events came, in the order of their names, so far.
    #[must_use]
    pub fn late_failures(&self) -> Vec<LoadFailure> {
        let known: HashSet<_> = self.failures.iter().map(|failure| failure.error.path()).collect();
        let failures = self.bundles.iter().filter_map(ServedBundle::failure);
        let late = failures.filter(|error| !known.contains(error.path()));
        late.cloned().map(LoadFailure::from).collect()
    }

    /// The graph spec of each event type's bundle, in the order of [`served`](Self::served). They are read once
    /// more from the bundles, when they are first asked for; the types of one bundle share one. A bundle that isn't loaded yet is.
    ///
    /// # Errors
    /// [`GraphsError`], which names the file, for a spec that was altered since, or that this version doesn't read.
    pub fn graph_specs(&self) -> Result<Vec<Arc<GraphSpec>>, &GraphsError> {
        let bundles = self.routes.iter().flat_map(Route::bundles);
        bundles.map(|bundle| Ok(Arc::clone(&self.graph(bundle)?.spec))).collect()
    }

    /// Reads the graph specs of the bundles that are loaded by now, on all cores, which otherwise are read with the first event of
    /// each: so that nothing comes of a bundle that is exchanged for another in the meantime. Events of a bundle whose spec can't be
    /// read are rejected with its code.
    pub fn read_graphs(&self) {
        let loaded: Vec<&ServedBundle> =
            self.bundles.iter().filter(|bundle| bundle.is_loaded()).collect();
        bundle::on_all_cores(&loaded, |bundle| {
            // Whether it went well is asked of the bundle.
            let _ = bundle.graph(&self.gates);
        });
    }

    pub(super) fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// The route of an event type that is given as the text of JSON, if it is written without needless escapes.
    pub(super) fn route_of(&self, text: &[u8]) -> Option<usize> {
        self.table.get(text)
    }

    /// What becomes of event types that active versions of several extractors declare.
    #[must_use]
    pub fn sharing(&self) -> Sharing {
        self.sharing
    }

    /// What becomes of different values for an event type that is shared.
    pub(super) fn conflicts(&self) -> Conflicts {
        self.sharing.conflicts().unwrap_or_default()
    }

    /// A bundle, whether it is loaded or not.
    pub(super) fn found(&self, bundle: usize) -> &ServedBundle {
        &self.bundles[bundle]
    }

    /// A bundle, loaded.
    pub(super) fn bundle(&self, bundle: usize) -> Result<&Serving, &BundleLoadError> {
        self.bundles[bundle].load(&self.gates)
    }

    /// What the results of a bundle are held to.
    pub(super) fn graph(&self, bundle: usize) -> Result<&BundleGraph, &GraphsError> {
        self.bundles[bundle].graph(&self.gates)
    }

    pub(super) fn fingerprint(&self, bundle: usize) -> Digest {
        self.bundles[bundle].fingerprint()
    }

    pub(super) fn max_event_bytes(&self) -> usize {
        self.gates.sandbox().limits().event_bytes
    }

    /// How many instances there can be at one time, where they come from a pool.
    pub(super) fn pool_instances(&self) -> Option<usize> {
        self.gates.sandbox().pool_instances().map(|places| places as usize)
    }
}
