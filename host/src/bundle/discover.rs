//! Loading every bundle of a directory.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, FileType};

use super::crew::on_all_cores;
use super::digest::Digest;
use super::error::BundleLoadError;
use super::hold::{Hold, Looking, open_held};
use super::load::{
    Expect, Loaded, ModuleGate, load_from, open_dir, outline, trace_refusal, traced,
};
use super::manifest::{MANIFEST_FILE, Manifest, VALUE_CHARS};
use super::name::ExtractorName;
use super::read::kind_name;
use super::record::Record;
use super::sharing::Sharing;
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::diagnostics::untrusted::sanitize;

/// What a directory of bundles gave.
#[derive(Debug)]
pub struct Discovery<M> {
    /// The bundle that serves each event type.
    pub registry: BTreeMap<String, Arc<Loaded<M>>>,
    /// The bundles of several extractors that serve an event type together, in the order of their names.
    pub shared: BTreeMap<String, Vec<Arc<Loaded<M>>>>,
    /// What the directory does with such event types.
    pub sharing: Sharing,
    /// Every bundle that was loaded, by name, whether it serves a type or not.
    pub loaded: Vec<Arc<Loaded<M>>>,
    /// What was not loaded, by name; then the collisions, by event type and name.
    pub failures: Vec<LoadFailure>,
}

/// Why a bundle is not served, or does not serve one of its event types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadFailure {
    /// What was expected, what was found, and where.
    pub error: BundleLoadError,
    /// The event type that is not served, if it is a collision.
    pub event_type: Option<String>,
}

impl LoadFailure {
    /// Of one of several bundles that declare an event type.
    pub(crate) fn collision(path: &Path, event_type: &str, claimants: usize) -> Self {
        let shown = sanitize(event_type, VALUE_CHARS);
        let detail = format!("event type `{shown}` is declared by {claimants} bundles");
        let error = BundleLoadError::new(codes::EVENT_TYPE_COLLISION, path, detail);
        trace_refusal(&error);
        Self { error, event_type: Some(event_type.to_owned()) }
    }
}

impl Coded for LoadFailure {
    fn entry(&self) -> Code {
        self.error.entry()
    }
}

impl std::fmt::Display for LoadFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code(), self.error)
    }
}

impl From<BundleLoadError> for LoadFailure {
    fn from(error: BundleLoadError) -> Self {
        Self { error, event_type: None }
    }
}

/// Loads every bundle of the directory `root`, in the order of their names.
///
/// Where the directory has a [record](super::RECORD_FILE), what is named as a version is a bundle if it is active. Otherwise each
/// directory in it is one; files and names that begin with a dot are skipped; links are
/// not followed, which is reported. One bundle's failure doesn't touch the others. An event type
/// that two loaded bundles declare is served by neither, unless they are of several extractors and the directory's record lets those
/// [share](Sharing) it. A prefix (`order.*`) counts as it is
/// written: it collides with the same prefix alone, and where a type lies under several of those
/// that are declared, whoever routes events takes the one that says most.
///
/// With an `allowlist`, only its event types are served, prefixes as they are written, and others
/// cannot collide. `expect` holds for every bundle.
///
/// Nothing is removed from the directory meanwhile, and what was loaded [stays](Loaded) afterwards.
#[must_use]
pub fn discover<G: ModuleGate>(
    root: &Path,
    expect: &Expect<'_>,
    allowlist: Option<&[String]>,
    gate: &G,
) -> Discovery<G::Module> {
    let _looking = Looking::begin(root);
    let mut found = Discovery::empty();
    let Some((dir, children)) = found.children(root) else { return found };
    let load = |child: &Child| load_child((&dir, root), child, Hold::take, expect, gate);
    found.take(root, &children, children.iter().map(load));
    register(&mut found, allowlist);
    found
}

/// The same, on as many threads as run at one time here, for whatever is served. Where there are many, not all of what was loaded is held: whoever
/// asks for them holds the directory.
pub(crate) fn discover_on_all_cores<G>(root: &Path, gate: &G) -> Discovery<G::Module>
where
    G: ModuleGate<Module: Send> + Sync,
{
    let mut found = Discovery::empty();
    let Some((dir, children)) = found.children(root) else { return found };
    let expect = Expect::default();
    let load = |child: &Child| load_child((&dir, root), child, Hold::take_if_few, &expect, gate);
    found.take(root, &children, on_all_cores(&children, load));
    register(&mut found, None);
    found
}

/// A bundle that lies in a directory, as its manifest says; its other files weren't looked at.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    pub(crate) name: ExtractorName,
    pub(crate) event_types: Vec<String>,
    pub(crate) fingerprint: Digest,
    /// What keeps it from being removed.
    pub(crate) hold: Arc<Hold>,
}

impl Found {
    fn new(path: PathBuf, manifest: &Manifest, hold: Arc<Hold>) -> Result<Self, BundleLoadError> {
        let fingerprint = manifest.fingerprint().parse().map_err(|error| {
            let detail = format!("no content has this fingerprint: {error}");
            BundleLoadError::new(codes::FINGERPRINT_MISMATCH, &path.join(MANIFEST_FILE), detail)
        })?;
        let (name, event_types) = (manifest.name(), manifest.event_types().to_vec());
        Ok(Self { path, name, event_types, fingerprint, hold })
    }
}

/// The bundle in `path`, as its manifest says.
pub(crate) fn look_at(path: &Path) -> Result<Found, BundleLoadError> {
    let (dir, hold) = open_held(None, Hold::take, || open_dir(path))?;
    Found::new(path.to_owned(), &outline(&dir, path)?, hold)
}

/// The bundles of a directory by their manifests alone.
#[derive(Debug, Default)]
pub(crate) struct LookedOver {
    /// In the order of their names in the directory.
    pub(crate) found: Vec<Found>,
    /// What can't be one.
    pub(crate) failures: Vec<LoadFailure>,
    /// What becomes of an event type that several extractors declare.
    pub(crate) sharing: Sharing,
}

/// The bundles of the directory `root`, by their manifests alone, each held from now on: by what `known` has for its fingerprint, if that
/// holds it already.
pub(crate) fn look_over(root: &Path, known: &HashMap<Digest, Arc<Hold>>) -> LookedOver {
    let mut found = Discovery::<()>::empty();
    let Some((dir, children)) = found.children(root) else {
        return LookedOver { failures: found.failures, ..LookedOver::default() };
    };
    let outline = |(name, file_type): &Child| {
        let path = root.join(name);
        let known = name.to_str().and_then(|it| known.get(&it.parse().ok()?));
        let open = || open_child(&dir, &path, name, *file_type);
        let (child, hold) = open_held(known, Hold::take_if_few, open)?;
        let manifest = outline(&child, &path)?;
        Found::new(path, &manifest, hold)
    };
    let mut outlines = Vec::with_capacity(children.len());
    for outline in on_all_cores(&children, outline) {
        match outline {
            Ok(outline) => outlines.push(outline),
            Err(error) => {
                trace_refusal(&error);
                found.failures.push(error.into());
            }
        }
    }
    LookedOver { found: outlines, failures: found.failures, sharing: found.sharing }
}

/// What could be a bundle: its name, and what it is.
type Child = (OsString, FileType);

impl<M> Discovery<M> {
    /// The same of bundles that are loaded already, in this order.
    #[must_use]
    pub fn of(loaded: Vec<Arc<Loaded<M>>>, allowlist: Option<&[String]>) -> Self {
        let mut found = Self { loaded, ..Self::empty() };
        register(&mut found, allowlist);
        found
    }

    fn empty() -> Self {
        Self {
            registry: BTreeMap::new(),
            shared: BTreeMap::new(),
            sharing: Sharing::Off,
            loaded: vec![],
            failures: vec![],
        }
    }

    /// The directory with what could be bundles in it, by name. `None` where it can't be listed, which is noted.
    fn children(&mut self, root: &Path) -> Option<(Dir, Vec<Child>)> {
        match active_children(root) {
            Ok((dir, children, sharing)) => {
                self.sharing = sharing;
                Some((dir, children.into_iter().collect()))
            }
            Err(error) => {
                trace_refusal(&error);
                self.failures.push(error.into());
                None
            }
        }
    }

    /// Takes what became of each of them.
    fn take(
        &mut self,
        root: &Path,
        children: &[Child],
        outcomes: impl IntoIterator<Item = Result<Loaded<M>, BundleLoadError>>,
    ) {
        for ((name, _), outcome) in children.iter().zip(outcomes) {
            match traced(&root.join(name), outcome) {
                Ok(loaded) => self.loaded.push(Arc::new(loaded)),
                Err(error) => self.failures.push(error.into()),
            }
        }
    }
}

/// The directory, with what is served of it where its record says that: the active versions, and what isn't named as a version; and
/// what the record says of event types that several extractors declare.
fn active_children(
    root: &Path,
) -> Result<(Dir, BTreeMap<OsString, FileType>, Sharing), BundleLoadError> {
    let unlisted = |error: io::Error| {
        let detail = format!("cannot list the directory of bundles: {error}");
        BundleLoadError::new(codes::MANIFEST_MISSING, root, detail)
    };
    let dir = Dir::open_ambient_dir(root, ambient_authority()).map_err(unlisted)?;
    let record = Record::read(&dir, root).map_err(|error| {
        let detail = format!("expected an activation record: {}", error.message);
        BundleLoadError::new(error.entry(), &error.path, detail)
    })?;
    let mut children = children(&dir).map_err(unlisted)?;
    let sharing = record.as_ref().map_or(Sharing::Off, |record| record.sharing);
    if let Some(active) = record.map(|record| record.active()) {
        let version = |name: &OsString| name.to_str().and_then(|name| name.parse::<Digest>().ok());
        children.retain(|name, _| version(name).is_none_or(|version| active.contains(&version)));
        for version in active {
            // One that isn't there is found to be missing when it is opened.
            children.entry(version.to_string().into()).or_insert_with(FileType::dir);
        }
    }
    Ok((dir, children, sharing))
}

/// The entries that could be bundles, by name.
fn children(dir: &Dir) -> io::Result<BTreeMap<OsString, FileType>> {
    let mut children = BTreeMap::new();
    for entry in dir.entries()? {
        let entry = entry?;
        let file_type = entry.file_type()?;
        let name = entry.file_name();
        if !file_type.is_file() && !name.as_encoded_bytes().starts_with(b".") {
            children.insert(name, file_type);
        }
    }
    Ok(children)
}

fn load_child<G: ModuleGate>(
    (dir, root): (&Dir, &Path),
    (name, file_type): &Child,
    take: fn(&Dir) -> Hold,
    expect: &Expect<'_>,
    gate: &G,
) -> Result<Loaded<G::Module>, BundleLoadError> {
    let path = root.join(name);
    let (child, hold) = open_held(None, take, || open_child(dir, &path, name, *file_type))?;
    load_from(&child, hold, &path, expect, gate)
}

/// The directory of a bundle, which messages call `path`.
fn open_child(
    dir: &Dir,
    path: &Path,
    name: &OsStr,
    file_type: FileType,
) -> Result<Dir, BundleLoadError> {
    let missing = |detail| BundleLoadError::new(codes::MANIFEST_MISSING, path, detail);
    if !file_type.is_dir() {
        return Err(missing(format!("expected a directory, found {}", kind_name(file_type))));
    }
    dir.open_dir(name)
        .map_err(|error| missing(format!("cannot open the bundle's directory: {error}")))
}

/// Gives each event type to the one bundle that declares it; where there are more, to all of them if they may share it, and else to
/// none.
fn register<M>(found: &mut Discovery<M>, allowlist: Option<&[String]>) {
    let mut claims: BTreeMap<&str, Vec<&Arc<Loaded<M>>>> = BTreeMap::new();
    for loaded in &found.loaded {
        for event_type in loaded.manifest().event_types() {
            if allowlist.is_none_or(|allowed| allowed.contains(event_type)) {
                claims.entry(event_type).or_default().push(loaded);
            }
        }
    }
    for (event_type, mut claimants) in claims {
        if let [only] = claimants.as_slice() {
            found.registry.insert(event_type.to_owned(), Arc::clone(only));
            continue;
        }
        if found.sharing.in_order(&mut claimants, |it| it.manifest().name()) {
            found.shared.insert(event_type.to_owned(), claimants.into_iter().cloned().collect());
            continue;
        }
        for claimant in &claimants {
            found.failures.push(LoadFailure::collision(
                claimant.path(),
                event_type,
                claimants.len(),
            ));
        }
    }
}
