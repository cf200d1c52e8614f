//! Loading every bundle of a directory.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, FileType};

use super::error::BundleLoadError;
use super::load::{Expect, Loaded, ModuleGate, load_from, trace_refusal, traced};
use super::manifest::VALUE_CHARS;
use super::read::kind_name;
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::diagnostics::untrusted::sanitize;

/// What a directory of bundles gave.
#[derive(Debug)]
pub struct Discovery<M> {
    /// The bundle that serves each event type.
    pub registry: BTreeMap<String, Arc<Loaded<M>>>,
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
/// Each directory in it is a bundle; files and names that begin with a dot are skipped; links are
/// not followed, which is reported. One bundle's failure doesn't touch the others. An event type
/// that two loaded bundles declare is served by neither. A prefix (`order.*`) counts as it is
/// written: it collides with the same prefix alone, and where a type lies under several of those
/// that are declared, whoever routes events takes the one that says most.
///
/// With an `allowlist`, only its event types are served, prefixes as they are written, and others
/// cannot collide. `expect` holds for every bundle.
#[must_use]
pub fn discover<G: ModuleGate>(
    root: &Path,
    expect: &Expect<'_>,
    allowlist: Option<&[String]>,
    gate: &G,
) -> Discovery<G::Module> {
    let mut found = Discovery { registry: BTreeMap::new(), loaded: vec![], failures: vec![] };
    let opened =
        Dir::open_ambient_dir(root, ambient_authority()).and_then(|dir| Ok((children(&dir)?, dir)));
    let (children, dir) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            let detail = format!("cannot list the directory of bundles: {error}");
            let error = BundleLoadError::new(codes::MANIFEST_MISSING, root, detail);
            trace_refusal(&error);
            found.failures.push(error.into());
            return found;
        }
    };
    for (name, file_type) in children {
        let loaded = load_child(&dir, root, &name, file_type, expect, gate);
        match traced(&root.join(&name), loaded) {
            Ok(loaded) => found.loaded.push(Arc::new(loaded)),
            Err(error) => found.failures.push(error.into()),
        }
    }
    register(&mut found, allowlist);
    found
}

/// The entries that could be bundles, by name.
fn children(dir: &Dir) -> io::Result<BTreeMap<std::ffi::OsString, FileType>> {
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
    dir: &Dir,
    root: &Path,
    name: &std::ffi::OsStr,
    file_type: FileType,
    expect: &Expect<'_>,
    gate: &G,
) -> Result<Loaded<G::Module>, BundleLoadError> {
    let path = root.join(name);
    let missing = |detail| BundleLoadError::new(codes::MANIFEST_MISSING, &path, detail);
    if !file_type.is_dir() {
        return Err(missing(format!("expected a directory, found {}", kind_name(file_type))));
    }
    let child = dir
        .open_dir(name)
        .map_err(|error| missing(format!("cannot open the bundle's directory: {error}")))?;
    load_from(&child, &path, expect, gate)
}

/// Gives each event type to the one bundle that declares it, and to none where there are more.
fn register<M>(found: &mut Discovery<M>, allowlist: Option<&[String]>) {
    let mut claims: BTreeMap<&str, Vec<&Arc<Loaded<M>>>> = BTreeMap::new();
    for loaded in &found.loaded {
        for event_type in loaded.manifest().event_types() {
            if allowlist.is_none_or(|allowed| allowed.contains(event_type)) {
                claims.entry(event_type).or_default().push(loaded);
            }
        }
    }
    for (event_type, claimants) in claims {
        if let [only] = claimants.as_slice() {
            found.registry.insert(event_type.to_owned(), Arc::clone(only));
            continue;
        }
        for claimant in &claimants {
            let shown = sanitize(event_type, VALUE_CHARS);
            let detail = format!("event type `{shown}` is declared by {} bundles", claimants.len());
            let code = codes::EVENT_TYPE_COLLISION;
            let error = BundleLoadError::new(code, claimant.path(), detail);
            trace_refusal(&error);
            found.failures.push(LoadFailure { error, event_type: Some(event_type.to_owned()) });
        }
    }
}
