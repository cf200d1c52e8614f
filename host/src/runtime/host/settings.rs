//! What a tenant is served with, from one change to the next.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::shadow::Shadow;
use super::tenant::{Fallback, Native, Tenant};
use super::version::Version;
use crate::bundle::pipeline::Pipeline;
use crate::bundle::{Digest, ExtractorName, Found, Hold, LoadFailure, look_at};
use crate::graph::Conflicts;
use crate::runtime::event_type::TypeGuess;
use crate::runtime::registry::Registry;
use crate::runtime::served::ServedBundle;
use crate::runtime::type_table::TypeTable;

/// What a tenant is served with. It is made anew with each change; events that have begun go on with the one before.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) tenant: Tenant,
    pub(super) gates: Pipeline,
    pub(super) guess: TypeGuess,
    table: TypeTable,
    pub(super) routes: Vec<Route>,
    /// Why a bundle isn't served, or an event type of it.
    pub(super) failures: Vec<LoadFailure>,
    /// They keep what is served from being removed, be it loaded or not.
    holds: HashMap<Digest, Arc<Hold>>,
    _registries: Vec<Registry>,
}

/// What serves an event type, or a prefix.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) event_type: Arc<str>,
    pub(super) is_prefix: bool,
    /// The version that serves it; of several extractors that share it, one each, in the order of their names. None where a fallback
    /// alone does.
    pub(super) versions: Box<[Arc<Version>]>,
    /// What becomes of different values that several give.
    pub(super) conflicts: Conflicts,
    pub(super) fallback: Option<RouteFallback>,
    /// What runs beside one of the versions.
    pub(super) shadow: Option<Arc<Shadow>>,
}

/// What declares an event type in one place: a bundle, or those of several extractors that share it.
#[derive(Debug)]
struct Claimants {
    claims: Vec<Claim>,
    conflicts: Conflicts,
}

/// What stands in for a version.
#[derive(Clone, Debug)]
pub(super) enum RouteFallback {
    Native(Native),
    Bundle(Arc<Version>),
}

/// A bundle as its manifest says.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub(super) name: ExtractorName,
    pub(super) digest: Digest,
    pub(super) path: PathBuf,
}

impl From<&Found> for Claim {
    fn from(found: &Found) -> Self {
        Self { name: found.name.clone(), digest: found.fingerprint, path: found.path.clone() }
    }
}

impl From<&ServedBundle> for Claim {
    fn from(found: &ServedBundle) -> Self {
        let (name, path) = (found.name().clone(), found.path().to_owned());
        Self { name, digest: found.fingerprint(), path }
    }
}

impl Settings {
    /// Looks over what the tenant has. `before` is what it was served with, `version` gives a version as it is known already, and `shadow` what runs
    /// beside it.
    pub(super) fn new(
        tenant: Tenant,
        gates: Pipeline,
        before: Option<&Self>,
        mut version: impl FnMut(&Claim) -> Arc<Version>,
        shadow: impl Fn(&Version) -> Option<Arc<Shadow>>,
    ) -> Self {
        let mut failures = Vec::new();
        let mut claims: BTreeMap<String, Vec<Claimants>> = BTreeMap::new();
        let (none, mut holds) = (HashMap::new(), HashMap::new());
        let known = before.map_or(&none, |before| &before.holds);
        let open = |root: &PathBuf| Registry::open_lazily_with(root, &gates, known);
        let registries: Vec<Registry> = tenant.directories.iter().map(open).collect();
        holds.extend(registries.iter().flat_map(Registry::holds));
        for registry in &registries {
            failures.extend_from_slice(registry.failures());
            for route in registry.routes() {
                let found = route.bundles().map(|bundle| Claim::from(registry.found(bundle)));
                let claimants =
                    Claimants { claims: found.collect(), conflicts: registry.conflicts() };
                claims.entry(route.event_type.clone()).or_default().push(claimants);
            }
        }
        for path in &tenant.bundles {
            if let Some(found) = looked_at(path, &mut holds, &mut failures) {
                for event_type in &found.event_types {
                    let claims_of_type = claims.entry(event_type.clone()).or_default();
                    let conflicts = Conflicts::default();
                    claims_of_type.push(Claimants { claims: vec![Claim::from(&found)], conflicts });
                }
            }
        }
        let mut fallbacks = BTreeMap::new();
        for (event_type, fallback) in &tenant.fallbacks {
            let fallback = match fallback {
                Fallback::Native(native) => Some(RouteFallback::Native(native.clone())),
                Fallback::Bundle(path) => looked_at(path, &mut holds, &mut failures)
                    .map(|found| RouteFallback::Bundle(version(&Claim::from(&found)))),
            };
            fallbacks.extend(fallback.map(|it| (event_type.clone(), it)));
        }
        let (mut table, mut routes) = (TypeTable::default(), Vec::new());
        let mut add = |event_type: String, versions: Box<[Arc<Version>]>, conflicts, fallback| {
            let is_prefix = table.add(&event_type, routes.len());
            let shadow = versions.iter().find_map(|version| shadow(version));
            let event_type = Arc::from(event_type);
            routes.push(Route { event_type, is_prefix, versions, conflicts, fallback, shadow });
        };
        for (event_type, claimants) in claims {
            let fallback = fallbacks.remove(&event_type);
            match claimants.as_slice() {
                [Claimants { claims, conflicts }] => {
                    add(
                        event_type,
                        claims.iter().map(&mut version).collect(),
                        *conflicts,
                        fallback,
                    );
                }
                several => {
                    let several: Vec<&Claim> = several.iter().flat_map(|it| &it.claims).collect();
                    failures.extend(several.iter().map(|claim| {
                        LoadFailure::collision(&claim.path, &event_type, several.len())
                    }));
                    if fallback.is_some() {
                        add(event_type, [].into(), Conflicts::default(), fallback);
                    }
                }
            }
        }
        for (event_type, fallback) in fallbacks {
            add(event_type, [].into(), Conflicts::default(), Some(fallback));
        }
        let guess = TypeGuess::default();
        let _registries = registries;
        Self { tenant, gates, guess, table, routes, failures, holds, _registries }
    }

    /// What keeps a version from being removed that is served.
    pub(super) fn hold_of(&self, version: Digest) -> Option<&Arc<Hold>> {
        self.holds.get(&version)
    }

    /// What serves a type that is given as the text of JSON.
    pub(super) fn route(&self, text: &[u8]) -> Option<&Route> {
        self.routes.get(self.table.get(text)?)
    }

    /// The versions that serve.
    pub(super) fn versions(&self) -> impl Iterator<Item = &Arc<Version>> {
        self.routes.iter().flat_map(|route| &route.versions)
    }
}

fn looked_at(
    path: &Path,
    holds: &mut HashMap<Digest, Arc<Hold>>,
    failures: &mut Vec<LoadFailure>,
) -> Option<Found> {
    let found = look_at(path).map_err(|error| failures.push(error.into())).ok()?;
    holds.insert(found.fingerprint, Arc::clone(&found.hold));
    Some(found)
}
