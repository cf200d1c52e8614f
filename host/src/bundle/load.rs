//! Loading a bundle, trusting nothing that lies on disk.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use tracing::{info, warn};

use super::contents::{FingerprintHasher, Part};
use super::digest::{Digest, PieceHasher};
use super::error::{BundleLoadError, ModuleRefusal, shown};
use super::hold::{Hold, open_held};
use super::manifest::{self, MANIFEST_FILE, Manifest, VALUE_CHARS};
use super::read::{Chunk, ReadError, Regular, kind_name};
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::diagnostics::untrusted::sanitize;
use crate::render::compile::compile_text;

/// What the caller expects of a bundle.
#[derive(Clone, Copy, Debug, Default)]
pub struct Expect<'a> {
    /// The fingerprint, compared as it is written; `None` takes any.
    pub fingerprint: Option<&'a str>,
    /// Fingerprints of which it has to be one, as [`Digest`]s; `None` takes any. It is how a directory of several bundles is pinned.
    pub any_of: Option<&'a [Digest]>,
    /// Event types that the bundle must declare. It may declare more; `None` asks for none.
    pub event_types: Option<&'a [&'a str]>,
}

impl Expect<'_> {
    /// Compares what a manifest *claims* with what is expected.
    ///
    /// # Errors
    /// A message with the code [`FINGERPRINT_MISMATCH`](codes::FINGERPRINT_MISMATCH) or
    /// [`EVENT_TYPES_MISMATCH`](codes::EVENT_TYPES_MISMATCH), looked for in this order.
    pub fn check(&self, manifest: &Manifest) -> Result<(), (Code, String)> {
        let found = manifest.fingerprint();
        if let Some(expected) = self.fingerprint.filter(|expected| *expected != found) {
            let detail = format!(
                "expected fingerprint {}, the manifest says {}",
                sanitize(expected, VALUE_CHARS),
                sanitize(found, VALUE_CHARS)
            );
            return Err((codes::FINGERPRINT_MISMATCH, detail));
        }
        let is_known = |known: &[Digest]| found.parse().is_ok_and(|it| known.contains(&it));
        if let Some(known) = self.any_of.filter(|known| !is_known(known)) {
            let detail = format!(
                "expected one of {} fingerprints, the manifest says {}",
                known.len(),
                sanitize(found, VALUE_CHARS)
            );
            return Err((codes::FINGERPRINT_MISMATCH, detail));
        }
        let missing = self
            .event_types
            .unwrap_or_default()
            .iter()
            .find(|expected| !manifest.event_types().iter().any(|it| it == *expected));
        if let Some(missing) = missing {
            let detail = format!(
                "expected event type `{}`, the manifest declares {}",
                sanitize(missing, VALUE_CHARS),
                sanitize(&manifest.event_types().join(", "), VALUE_CHARS)
            );
            return Err((codes::EVENT_TYPES_MISMATCH, detail));
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
    /// [sanitised](crate::diagnostics::diagnose::sanitize).
    fn admit(
        &self,
        module: &[u8],
        plan: Option<&[u8]>,
        manifest: &Manifest,
    ) -> Result<Self::Module, ModuleRefusal>;

    /// What [`admit`](Self::admit) would give, where this gate knows that it has admitted the very same bundle before: the one whose
    /// manifest's text has this digest. `files` reads the bundle's files, and gives the module and the plan if all of them are those
    /// that the manifest has the digests of, and nothing lies beside them. `None`, which is the default, has the bundle loaded
    /// as one that nothing is known of.
    fn readmit(
        &self,
        _text: Digest,
        _manifest: &Manifest,
        _files: &mut dyn FnMut() -> Option<Unaltered>,
    ) -> Option<Self::Module> {
        None
    }

    /// Is told that all is well with a bundle that it has admitted, and whose manifest's text has this digest: what
    /// [`readmit`](Self::readmit) may know.
    fn note(&self, _text: Digest, _admitted: &Self::Module) {}
}

/// What is used of the files of a bundle, none of which was altered.
#[derive(Clone, Debug)]
pub struct Unaltered {
    /// The module.
    pub module: Vec<u8>,
    /// The plan, if there is one.
    pub plan: Option<Vec<u8>>,
}

/// How many files of others in a bundle's directory are looked at, to name the first of them.
const MAX_OTHERS: usize = 64;

/// A bundle that passed every gate of loading. Of its files nothing is kept in memory but what the gate made of the module.
///
/// For as long as it lives its files stay, whatever is activated meanwhile: [`Store::collect`](super::Store::collect) leaves the bundle where it
/// is, in this process and in others, which takes an open file of the system. Not so where the file system has no locks, or the bundle is
/// [put](super::Store::put) in its place once more.
#[derive(Debug)]
pub struct Loaded<M> {
    path: PathBuf,
    manifest: Manifest,
    fingerprint: Digest,
    module: M,
    hold: Arc<Hold>,
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

    /// What the gate made of its module.
    #[must_use]
    pub fn module(&self) -> &M {
        &self.module
    }

    /// The same bundle with something else made of its module.
    #[must_use]
    pub fn with_module<N>(&self, module: N) -> Loaded<N> {
        let Self { path, manifest, fingerprint, hold, .. } = self;
        let (path, manifest, hold) = (path.clone(), manifest.clone(), Arc::clone(hold));
        Loaded { path, manifest, fingerprint: *fingerprint, module, hold }
    }

    /// What keeps its files.
    pub(crate) fn hold(&self) -> &Arc<Hold> {
        &self.hold
    }

    /// Reads one of its files once more: none is kept in memory. What comes back has the digest that was compared when the
    /// bundle was loaded. `None` for a part that this bundle does without.
    ///
    /// # Errors
    /// [`BundleLoadError`], if the file isn't there any more, or isn't the same.
    pub fn read(&self, part: Part) -> Result<Option<Vec<u8>>, BundleLoadError> {
        let files =
            BundleFiles { dir: &open_dir(&self.path)?, path: &self.path, manifest: &self.manifest };
        if !files.has(part) {
            return Ok(None);
        }
        let bytes = files.read(part)?;
        files.require_digest(&files.name(part), Digest::of(&bytes))?;
        Ok(Some(bytes))
    }
}

/// Loads the bundle in `path`.
///
/// In this order, the first failure being reported: the manifest is there and well-formed; it
/// claims what is expected; its module is a regular file of the directory; every file, the
/// manifest included, has the manifest's digest; the content has the manifest's fingerprint;
/// there is nothing in the directory but the files that the manifest names; text that no plan was rendered to
/// is assembled to the module; the gate admits the
/// module. Nothing of the module runs before the gate does.
///
/// A gate may know that it has admitted a bundle with this very manifest. Then the files are held to the fingerprint alone, which
/// covers every byte that the digests do, and the gate isn't asked again; whatever isn't as it was then is looked at as above.
///
/// Links inside the directory are not followed. Of the files the module and the plan are held in
/// memory until the gate has seen them, and no other ever is.
///
/// # Errors
/// [`BundleLoadError`], with the code and the file at fault.
pub fn load<G: ModuleGate>(
    path: &Path,
    expect: &Expect<'_>,
    gate: &G,
) -> Result<Loaded<G::Module>, BundleLoadError> {
    load_held(path, None, expect, gate)
}

/// The same of a bundle that was looked at: it is held already, or, where many are, the directory that it is in.
pub(crate) fn load_held<G: ModuleGate>(
    path: &Path,
    known: Option<&Arc<Hold>>,
    expect: &Expect<'_>,
    gate: &G,
) -> Result<Loaded<G::Module>, BundleLoadError> {
    let is_unheld = known.is_some_and(|known| !known.is_held());
    let take = if is_unheld { Hold::take_if_few } else { Hold::take };
    let opened = open_held(known, take, || open_dir(path));
    traced(path, opened.and_then(|(dir, hold)| load_from(&dir, hold, path, expect, gate)))
}

/// The same where a bundle that isn't there, or isn't what is expected, is nothing to tell.
pub(super) fn load_unsaid<G: ModuleGate>(
    path: &Path,
    expect: &Expect<'_>,
    gate: &G,
) -> Result<Loaded<G::Module>, BundleLoadError> {
    open_held(None, Hold::take, || open_dir(path))
        .and_then(|(dir, hold)| load_from(&dir, hold, path, expect, gate))
}

/// Says to the host's log what became of a bundle.
pub(super) fn traced<M>(
    path: &Path,
    loaded: Result<Loaded<M>, BundleLoadError>,
) -> Result<Loaded<M>, BundleLoadError> {
    match &loaded {
        Ok(loaded) => {
            let function = loaded.manifest().function_name();
            info!(bundle = shown(path), function, "bundle loaded");
        }
        Err(error) => trace_refusal(error),
    }
    loaded
}

/// Says to the host's log that a bundle, or a directory of them, is refused or doesn't serve what it declares.
pub(super) fn trace_refusal(error: &BundleLoadError) {
    warn!(bundle = error.place(), code = error.code(), "bundle refused");
}

pub(super) fn open_dir(path: &Path) -> Result<Dir, BundleLoadError> {
    Dir::open_ambient_dir(path, ambient_authority()).map_err(|error| {
        let detail = format!("cannot open the bundle's directory: {error}");
        BundleLoadError::new(codes::MANIFEST_MISSING, path, detail)
    })
}

/// Loads the bundle in an open directory, which messages call `path`.
pub(super) fn load_from<G: ModuleGate>(
    dir: &Dir,
    hold: Arc<Hold>,
    path: &Path,
    expect: &Expect<'_>,
    gate: &G,
) -> Result<Loaded<G::Module>, BundleLoadError> {
    let (manifest, text) = read_manifest(dir, path)?;
    let manifest_path = path.join(MANIFEST_FILE);
    expect
        .check(&manifest)
        .map_err(|(code, detail)| BundleLoadError::new(code, &manifest_path, detail))?;
    let files = BundleFiles { dir, path, manifest: &manifest };
    let text_digest = Digest::of(&text);
    let known = manifest.fingerprint().parse::<Digest>().ok().and_then(|fingerprint| {
        let admitted =
            gate.readmit(text_digest, &manifest, &mut || files.unaltered(fingerprint))?;
        Some((fingerprint, admitted))
    });
    if let Some((fingerprint, module)) = known {
        return Ok(Loaded { path: path.to_owned(), manifest, fingerprint, module, hold });
    }
    let module = files.module()?;
    files.require_digest(MANIFEST_FILE, manifest.own_digest())?;
    // The digest is that of one form of the manifest: another order, a field twice or other white
    // space would not show in it.
    if manifest.to_json().as_bytes() != text {
        let detail = "expected the manifest in the form in which manifests are written, found the \
                      same fields in another one";
        return Err(BundleLoadError::new(codes::DIGEST_MISMATCH, &manifest_path, detail));
    }
    let (fingerprint, plan) = files.check(&module)?;
    if fingerprint.to_string() != manifest.fingerprint() {
        let found = sanitize(manifest.fingerprint(), VALUE_CHARS);
        let detail = format!("the manifest says {found}, the content has {fingerprint}");
        return Err(BundleLoadError::new(codes::FINGERPRINT_MISMATCH, &manifest_path, detail));
    }
    files.require_no_others()?;
    if plan.is_none() {
        files.require_module_of_text(&module)?;
    }
    let module = gate
        .admit(&module, plan.as_deref(), &manifest)
        .map_err(|refusal| refusal.into_error(&path.join(manifest.module_filename())))?;
    gate.note(text_digest, &module);
    Ok(Loaded { path: path.to_owned(), manifest, fingerprint, module, hold })
}

/// What the manifest of the bundle in an open directory says, of which nothing is known but that it has the form of one.
pub(super) fn outline(dir: &Dir, path: &Path) -> Result<Manifest, BundleLoadError> {
    Ok(read_manifest(dir, path)?.0)
}

/// The manifest, and its bytes.
fn read_manifest(dir: &Dir, path: &Path) -> Result<(Manifest, Vec<u8>), BundleLoadError> {
    let path = path.join(MANIFEST_FILE);
    let unreadable = |detail| BundleLoadError::new(codes::MANIFEST_UNREADABLE, &path, detail);
    let bytes = Regular::open(dir, MANIFEST_FILE, manifest::MAX_BYTES)
        .and_then(Regular::read)
        .map_err(|error| match error {
            ReadError::TooLarge { .. } => unreadable(error.to_string()),
            _ => refused(&path, &error, codes::MANIFEST_MISSING),
        })?;
    match Manifest::from_json(&bytes) {
        Ok(manifest) => Ok((manifest, bytes)),
        Err(error) => Err(unreadable(error.to_string())),
    }
}

/// The files that a manifest names, in the bundle's directory.
struct BundleFiles<'a> {
    dir: &'a Dir,
    path: &'a Path,
    manifest: &'a Manifest,
}

impl BundleFiles<'_> {
    fn name(&self, part: Part) -> String {
        part.file_name(self.manifest.module_name())
    }

    fn has(&self, part: Part) -> bool {
        self.manifest.files().contains_key(&self.name(part))
    }

    /// The module's bytes. Where it isn't a file of the bundle, there are codes of its own.
    fn module(&self) -> Result<Vec<u8>, BundleLoadError> {
        let name = self.manifest.module_filename();
        let path = self.path.join(name);
        // The name has no separators, so only a link could lead out of the directory.
        if self.dir.symlink_metadata(name).is_ok_and(|found| found.is_symlink()) {
            let detail = "expected a file of the bundle itself, found a symbolic link";
            return Err(BundleLoadError::new(codes::MANIFEST_UNREADABLE, &path, detail));
        }
        Regular::open(self.dir, name, Part::Module.max_bytes())
            .and_then(Regular::read)
            .map_err(|error| refused(&path, &error, codes::MODULE_NOT_FOUND))
    }

    /// Holds the files to a fingerprint that covers what their digests were once found to be right for.
    fn unaltered(&self, fingerprint: Digest) -> Option<Unaltered> {
        // All names are in the manifest and all are regular files; a name that isn't there is found to be missing when it is read.
        for entry in self.dir.entries().ok()? {
            let entry = entry.ok()?;
            let name = entry.file_name();
            let is_named = name.to_str().is_some_and(|it| self.manifest.files().contains_key(it));
            if !is_named || !entry.file_type().ok()?.is_file() {
                return None;
            }
        }
        let mut hasher = FingerprintHasher::new();
        let mut found = Unaltered { module: Vec::new(), plan: None };
        let mut chunk = Chunk::new();
        for part in Part::ALL.into_iter().filter(|part| self.has(*part)) {
            let file = Regular::open_listed(self.dir, &self.name(part), part.max_bytes()).ok()?;
            match part {
                Part::Module => {
                    found.module = file.read().ok()?;
                    hasher.part(part, &found.module);
                }
                Part::Plan => hasher.part(part, found.plan.insert(file.read().ok()?)),
                _ => {
                    hasher.begin(part, file.bytes());
                    file.each_piece(&mut chunk, |piece| hasher.piece(piece)).ok()?;
                }
            }
        }
        (hasher.finish(&self.manifest.naming()) == fingerprint).then_some(found)
    }

    /// Holds every file to its digest. What comes back is the fingerprint of all of them, and the plan, if there is one.
    fn check(&self, module: &[u8]) -> Result<(Digest, Option<Vec<u8>>), BundleLoadError> {
        self.require_digest(self.manifest.module_filename(), Digest::of(module))?;
        let mut fingerprint = FingerprintHasher::new();
        let mut plan = None;
        let mut chunk = Chunk::new();
        for part in Part::ALL.into_iter().filter(|part| self.has(*part)) {
            match part {
                Part::Module => fingerprint.part(part, module),
                Part::Plan => {
                    let bytes = self.read(part)?;
                    fingerprint.part(part, &bytes);
                    self.require_digest(&self.name(part), Digest::of(&bytes))?;
                    plan = Some(bytes);
                }
                _ => {
                    let file = self.open(part)?;
                    let mut digest = PieceHasher::default();
                    fingerprint.begin(part, file.bytes());
                    file.each_piece(&mut chunk, |piece| {
                        fingerprint.piece(piece);
                        digest.piece(piece);
                    })
                    .map_err(|error| self.refused(part, &error))?;
                    self.require_digest(&self.name(part), digest.finish())?;
                }
            }
        }
        Ok((fingerprint.finish(&self.manifest.naming()), plan))
    }

    /// Assembles the module's text once more, where there is one that nobody rendered from a plan: that is what a person reads to
    /// know what the module does. Of what was rendered the gate knows whether the plan gives the same module.
    fn require_module_of_text(&self, module: &[u8]) -> Result<(), BundleLoadError> {
        if !self.has(Part::Source) {
            return Ok(());
        }
        let text = self.read(Part::Source)?;
        let assembled = match std::str::from_utf8(&text) {
            Ok(text) => compile_text(text).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let detail = match assembled {
            Ok(assembled) if assembled == module => return Ok(()),
            Ok(_) => "expected what the module was assembled from, found the text of another one",
            Err(error) => &format!("expected what the module was assembled from: {error}"),
        };
        let path = self.path.join(self.name(Part::Source));
        Err(BundleLoadError::new(codes::MODULE_NOT_OF_SOURCE, &path, detail))
    }

    fn open(&self, part: Part) -> Result<Regular, BundleLoadError> {
        Regular::open(self.dir, &self.name(part), part.max_bytes())
            .map_err(|error| self.refused(part, &error))
    }

    fn read(&self, part: Part) -> Result<Vec<u8>, BundleLoadError> {
        self.open(part)?.read().map_err(|error| self.refused(part, &error))
    }

    fn refused(&self, part: Part, error: &ReadError) -> BundleLoadError {
        refused(&self.path.join(self.name(part)), error, codes::DIGEST_MISMATCH)
    }

    fn require_digest(&self, name: &str, found: Digest) -> Result<(), BundleLoadError> {
        let detail = match self.manifest.files().get(name) {
            Some(expected) if *expected == found => return Ok(()),
            Some(expected) => {
                format!("the manifest says digest {expected}, the file has {found}")
            }
            None => "the manifest has no digest of this file".to_owned(),
        };
        Err(BundleLoadError::new(codes::DIGEST_MISMATCH, &self.path.join(name), detail))
    }

    /// Refuses a directory that holds anything that the manifest doesn't name. The first by name is blamed, so that the same
    /// directory gives the same message in whatever order it is listed.
    fn require_no_others(&self) -> Result<(), BundleLoadError> {
        let unlisted = |error: io::Error| {
            let detail = format!("cannot list the bundle's directory: {error}");
            BundleLoadError::new(codes::LOAD_FAILED, self.path, detail)
        };
        let mut others = BTreeMap::new();
        for entry in self.dir.entries().map_err(unlisted)? {
            let entry = entry.map_err(unlisted)?;
            let name = entry.file_name();
            if name.to_str().is_some_and(|name| self.manifest.files().contains_key(name)) {
                continue;
            }
            if others.len() == MAX_OTHERS {
                let detail = format!(
                    "expected the files that the manifest names, found more than {MAX_OTHERS} others"
                );
                return Err(BundleLoadError::new(codes::DIGEST_MISMATCH, self.path, detail));
            }
            others.insert(name, entry.file_type().map_err(unlisted)?);
        }
        let Some((name, file_type)) = others.first_key_value() else { return Ok(()) };
        let kind = kind_name(*file_type);
        let detail = format!("the manifest has no digest of this file: found {kind}");
        Err(BundleLoadError::new(codes::DIGEST_MISMATCH, &self.path.join(name), detail))
    }
}

/// Why a file of a bundle wasn't read; `absent` is the code where there is no regular file.
fn refused(path: &Path, error: &ReadError, absent: Code) -> BundleLoadError {
    let code = match error {
        ReadError::Missing | ReadError::NotRegular(_) => absent,
        ReadError::TooLarge { .. } | ReadError::Changed { .. } | ReadError::Io(_) => {
            codes::LOAD_FAILED
        }
    };
    BundleLoadError::new(code, path, error.to_string())
}
