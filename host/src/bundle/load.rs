//! Loading a bundle, trusting nothing that lies on disk.

use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::contents::{Contents, Part};
use super::digest::Digest;
use super::error::{LoadCode, LoadError, ModuleRefusal};
use super::manifest::{self, MANIFEST_FILE, Manifest, VALUE_CHARS};
use super::read::{ReadError, read_regular};
use crate::untrusted::sanitize;

/// What the caller expects of a bundle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Expect<'a> {
    /// The fingerprint, compared as it is written; `None` takes any.
    pub fingerprint: Option<&'a str>,
    /// Event types that the bundle must declare. It may declare more; `None` asks for none.
    pub event_types: Option<&'a [String]>,
}

impl Expect<'_> {
    /// Compares what a manifest *claims* with what is expected.
    ///
    /// # Errors
    /// A message with the code [`FingerprintMismatch`](LoadCode::FingerprintMismatch) or
    /// [`EventTypesMismatch`](LoadCode::EventTypesMismatch), looked for in this order.
    pub fn check(&self, manifest: &Manifest) -> Result<(), (LoadCode, String)> {
        let found = manifest.fingerprint();
        if let Some(expected) = self.fingerprint.filter(|expected| *expected != found) {
            let detail = format!(
                "expected fingerprint {}, the manifest says {}",
                sanitize(expected, VALUE_CHARS),
                sanitize(found, VALUE_CHARS)
            );
            return Err((LoadCode::FingerprintMismatch, detail));
        }
        let missing = self
            .event_types
            .unwrap_or_default()
            .iter()
            .find(|expected| !manifest.event_types().contains(expected));
        if let Some(missing) = missing {
            let detail = format!(
                "expected event type `{}`, the manifest declares {}",
                sanitize(missing, VALUE_CHARS),
                sanitize(&manifest.event_types().join(", "), VALUE_CHARS)
            );
            return Err((LoadCode::EventTypesMismatch, detail));
        }
        Ok(())
    }
}

/// The gates that a module passes before a bundle is loaded: static inspection, the sandbox, and
/// the manifest's function with the ABI's type.
///
/// They belong to other stages, which loading knows only through this trait.
pub trait ModuleGate {
    /// What an admitted module becomes.
    type Module;

    /// Admits a module whose bytes, plan and manifest have been found to belong together.
    ///
    /// # Errors
    /// [`ModuleRefusal`] with the reason. Text of the module in a reason must be
    /// [sanitised](crate::diagnose::sanitize).
    fn admit(
        &self,
        module: &[u8],
        plan: &[u8],
        manifest: &Manifest,
    ) -> Result<Self::Module, ModuleRefusal>;
}

/// A bundle that passed every gate of loading.
#[derive(Debug)]
pub struct Loaded<M> {
    path: PathBuf,
    manifest: Manifest,
    fingerprint: Digest,
    parts: Parts,
    module: M,
}

impl<M> Loaded<M> {
    /// The directory it was loaded from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its manifest.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Its fingerprint, computed from its content.
    #[must_use]
    pub fn fingerprint(&self) -> Digest {
        self.fingerprint
    }

    /// Its content: the bytes whose digests were compared.
    #[must_use]
    pub fn contents(&self) -> Contents<'_> {
        self.parts.contents(&self.manifest)
    }

    /// What the gate made of its module.
    #[must_use]
    pub fn module(&self) -> &M {
        &self.module
    }
}

/// The files of a bundle, as read.
#[derive(Debug)]
struct Parts {
    plan: Vec<u8>,
    source: Vec<u8>,
    module: Vec<u8>,
    graph: Vec<u8>,
    limits: Vec<u8>,
    event_schema: Option<Vec<u8>>,
    rule: Option<Vec<u8>>,
}

impl Parts {
    fn contents<'a>(&'a self, manifest: &'a Manifest) -> Contents<'a> {
        Contents {
            module_name: manifest.module_name(),
            function_name: manifest.function_name(),
            event_types: manifest.event_types(),
            plan: &self.plan,
            source: &self.source,
            module: &self.module,
            graph: &self.graph,
            limits: &self.limits,
            event_schema: self.event_schema.as_deref(),
            rule: self.rule.as_deref(),
            versions: manifest.versions(),
        }
    }
}

/// Loads the bundle in `path`.
///
/// In this order, the first failure being reported: the manifest is there and well-formed; it
/// claims what is expected; its module is a regular file of the directory; every file, the
/// manifest included, has the manifest's digest; the content has the manifest's fingerprint; the
/// gate admits the module. Nothing of the module runs before the gate does.
///
/// Links inside the directory are not followed, and files that the manifest doesn't name are not
/// looked at.
///
/// # Errors
/// [`LoadError`], with the code and the file at fault.
pub fn load<G: ModuleGate>(
    path: &Path,
    expect: &Expect<'_>,
    gate: &G,
) -> Result<Loaded<G::Module>, LoadError> {
    let dir = Dir::open_ambient_dir(path, ambient_authority()).map_err(|error| {
        let detail = format!("cannot open the bundle's directory: {error}");
        LoadError::new(LoadCode::ManifestMissing, path, detail)
    })?;
    load_from(&dir, path, expect, gate)
}

/// Loads the bundle in an open directory, which messages call `path`.
pub(super) fn load_from<G: ModuleGate>(
    dir: &Dir,
    path: &Path,
    expect: &Expect<'_>,
    gate: &G,
) -> Result<Loaded<G::Module>, LoadError> {
    let manifest = read_manifest(dir, path)?;
    let manifest_path = path.join(MANIFEST_FILE);
    expect
        .check(&manifest)
        .map_err(|(code, detail)| LoadError::new(code, &manifest_path, detail))?;
    let module = read_module(dir, path, &manifest)?;
    require_digest(&manifest_path, &manifest, MANIFEST_FILE, manifest.own_digest())?;
    let parts = read_parts(dir, path, &manifest, module)?;
    let fingerprint = parts.contents(&manifest).fingerprint();
    if fingerprint.to_string() != manifest.fingerprint() {
        let found = sanitize(manifest.fingerprint(), VALUE_CHARS);
        let detail = format!("the manifest says {found}, the content has {fingerprint}");
        return Err(LoadError::new(LoadCode::FingerprintMismatch, &manifest_path, detail));
    }
    let module = gate
        .admit(&parts.module, &parts.plan, &manifest)
        .map_err(|refusal| refusal.into_error(&path.join(manifest.module_filename())))?;
    Ok(Loaded { path: path.to_owned(), manifest, fingerprint, parts, module })
}

fn read_manifest(dir: &Dir, path: &Path) -> Result<Manifest, LoadError> {
    let path = path.join(MANIFEST_FILE);
    let bytes = read_regular(dir, MANIFEST_FILE, manifest::MAX_BYTES).map_err(|error| {
        let code = match error {
            ReadError::Missing | ReadError::NotRegular(_) => LoadCode::ManifestMissing,
            ReadError::TooLarge { .. } => LoadCode::ManifestUnreadable,
            ReadError::Io(_) => LoadCode::LoadFailed,
        };
        LoadError::new(code, &path, error.to_string())
    })?;
    Manifest::from_json(&bytes)
        .map_err(|error| LoadError::new(LoadCode::ManifestUnreadable, &path, error.to_string()))
}

fn read_module(dir: &Dir, path: &Path, manifest: &Manifest) -> Result<Vec<u8>, LoadError> {
    let name = manifest.module_filename();
    let path = path.join(name);
    // The name has no separators, so only a link could lead out of the directory.
    if dir.symlink_metadata(name).is_ok_and(|found| found.is_symlink()) {
        let detail = "expected a file of the bundle itself, found a symbolic link";
        return Err(LoadError::new(LoadCode::ManifestUnreadable, &path, detail));
    }
    read_regular(dir, name, Part::Module.max_bytes()).map_err(|error| {
        let code = match error {
            ReadError::Missing | ReadError::NotRegular(_) => LoadCode::ModuleNotFound,
            ReadError::TooLarge { .. } | ReadError::Io(_) => LoadCode::LoadFailed,
        };
        LoadError::new(code, &path, error.to_string())
    })
}

/// Reads the files that the manifest names, and compares the digest of each.
fn read_parts(
    dir: &Dir,
    path: &Path,
    manifest: &Manifest,
    module: Vec<u8>,
) -> Result<Parts, LoadError> {
    let check = |part: Part, bytes: Vec<u8>| {
        let name = part.file_name(manifest.module_name());
        require_digest(&path.join(&name), manifest, &name, Digest::of(&bytes))?;
        Ok::<_, LoadError>(bytes)
    };
    let read = |part: Part| {
        let name = part.file_name(manifest.module_name());
        let bytes = read_regular(dir, &name, part.max_bytes()).map_err(|error| {
            let code = match error {
                ReadError::Missing | ReadError::NotRegular(_) => LoadCode::DigestMismatch,
                ReadError::TooLarge { .. } | ReadError::Io(_) => LoadCode::LoadFailed,
            };
            LoadError::new(code, &path.join(&name), error.to_string())
        })?;
        check(part, bytes)
    };
    let read_optional = |part: Part| {
        let named = manifest.files().contains_key(&part.file_name(manifest.module_name()));
        named.then(|| read(part)).transpose()
    };
    Ok(Parts {
        module: check(Part::Module, module)?,
        plan: read(Part::Plan)?,
        source: read(Part::Source)?,
        graph: read(Part::Graph)?,
        limits: read(Part::Limits)?,
        event_schema: read_optional(Part::EventSchema)?,
        rule: read_optional(Part::Rule)?,
    })
}

fn require_digest(
    path: &Path,
    manifest: &Manifest,
    name: &str,
    found: Digest,
) -> Result<(), LoadError> {
    match manifest.files().get(name) {
        Some(expected) if *expected == found => Ok(()),
        Some(expected) => {
            let detail = format!("the manifest says digest {expected}, the file has {found}");
            Err(LoadError::new(LoadCode::DigestMismatch, path, detail))
        }
        None => {
            let detail = "the manifest has no digest of this file";
            Err(LoadError::new(LoadCode::DigestMismatch, path, detail))
        }
    }
}
