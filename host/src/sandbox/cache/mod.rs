//! Native code kept on disk, so that a module that this host compiled once is not compiled again.
//!
//! Native code is trusted: it runs outside every limit. So an entry is used only if this host wrote it: a directory that
//! belongs to this user and is open to nobody else holds a random key, and each entry carries a code (HMAC-SHA256) over
//! wasmtime's version, all settings of the engine that compiled code depends on, the module's digest, and the native code
//! itself. It is checked over the very bytes in memory that are then deserialised. Whatever doesn't fit is ignored, reported in the
//! [`CacheReport`] and replaced; a directory that others can write to isn't used at all. A cache that fails costs time and never
//! an answer.
//!
//! Which modules are compiled at all, and by whom, is decided before the cache is asked: an entry of native code admits nothing.
//!
//! Beside native code lie verdicts: that the gates of one build, with one configuration, have admitted one bundle, and what was proven
//! of its module. They carry a code by the same key, and are trusted as the native code is, which could do all that a false verdict
//! could. What a verdict is about is a digest of all that the gates' verdict depends on; whoever asks for one has found the
//! bundle's files to be the same, byte for byte.

mod directory;
mod entry;
mod key;
mod report;
mod room;
mod verdict;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use wasmtime::Engine;

pub(super) use directory::PrivateDir;
use directory::UnfitDirectory;
use entry::{EngineIdentity, ModuleDigest};
use key::CacheKey;
pub use report::{CacheReport, CacheWarning};
use room::Room;

/// Where native code is kept.
///
/// ```
/// use retort::sandbox::{Cache, Options, Sandbox};
///
/// let directory = std::env::temp_dir().join("retort-doc-cache");
/// let mut options = Options::default();
/// options.cache = Some(Cache::new(&directory));
/// let sandbox = Sandbox::with_options(options)?;
/// assert!(sandbox.cache_report().warnings.is_empty());
/// # std::fs::remove_dir_all(directory).ok();
/// # Ok::<(), retort::sandbox::ModuleLoadError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    /// The directory: for this purpose alone, owned by the user that this process runs as, with mode 0700. It is created if
    /// it isn't there. It must be on this machine and must not be in what users, tenants or bundles can write to.
    pub directory: PathBuf,
    /// Bytes that all entries together may have; the oldest make room for a new one. Default 256 MiB, which is some thousand
    /// rendered extractors.
    pub max_bytes: u64,
}

impl Cache {
    /// A cache in this directory, of the default size.
    #[must_use]
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), max_bytes: 256 << 20 }
    }
}

/// An open cache for one engine, or one that couldn't be opened and keeps nothing.
#[derive(Debug)]
pub(super) struct NativeCache {
    settings: Cache,
    open: Option<OpenDirectory>,
    report: Mutex<CacheReport>,
}

#[derive(Debug)]
struct OpenDirectory {
    dir: PrivateDir,
    /// Also keeps the threads of this process from waiting for each other as for other processes, which takes longer.
    room: Mutex<Room>,
    key: CacheKey,
    identity: EngineIdentity,
}

impl NativeCache {
    /// Opens the cache for an engine. Where that fails, every lookup misses and the report says why.
    pub(super) fn open(settings: Cache, engine: &Engine) -> Self {
        let mut report = CacheReport::default();
        let path = settings.directory.clone();
        let opened = PrivateDir::open(&path).and_then(|dir| {
            let (key, replaced) = CacheKey::of(&dir)?;
            if let Some(reason) = replaced {
                report.warn(CacheWarning::KeyReplaced {
                    path: path.join(key::FILE),
                    reason: reason.to_string(),
                });
            }
            let room = Mutex::new(Room::default());
            Ok(OpenDirectory { dir, room, key, identity: EngineIdentity::of(engine) })
        });
        let open = opened
            .map_err(|error| {
                report.warn(CacheWarning::Unusable { path, reason: error.to_string() });
            })
            .ok();
        Self { settings, open, report: Mutex::new(report) }
    }

    /// What has happened since the cache was opened.
    pub(super) fn report(&self) -> CacheReport {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What `using` makes of the native code that this host once made of `wasm`; `None` where there is none that is fit for
    /// use, or `using` can't use it: a pool may be too small for a module that another engine took.
    pub(super) fn get<T>(&self, wasm: &[u8], using: impl FnOnce(&[u8]) -> Option<T>) -> Option<T> {
        self.open.as_ref()?;
        let found = self.find(wasm, using);
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        match found {
            Some(_) => report.hits += 1,
            None => report.misses += 1,
        }
        found
    }

    /// The same for one who asks again where there is none: that it was missed is counted then.
    pub(super) fn get_early<T>(
        &self,
        wasm: &[u8],
        using: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Option<T> {
        let found = self.find(wasm, using)?;
        self.report.lock().unwrap_or_else(PoisonError::into_inner).hits += 1;
        Some(found)
    }

    fn find<T>(&self, wasm: &[u8], using: impl FnOnce(&[u8]) -> Option<T>) -> Option<T> {
        let open = self.open.as_ref()?;
        let module = ModuleDigest::of(wasm);
        let name = open.identity.name(&module);
        let opened = open.dir.read(name.as_str(), self.settings.max_bytes);
        let used = opened.and_then(|bytes| {
            Ok(using(entry::opened(&bytes, &open.key, &open.identity, &module)?))
        });
        used.unwrap_or_else(|unfit| {
            let refused = |path, reason| CacheWarning::EntryRefused { path, reason };
            self.warn_unless_missing(name.as_str(), &unfit, refused);
            None
        })
    }

    /// Keeps what was made of `wasm`, in place of whatever is there for it.
    pub(super) fn put(&self, wasm: &[u8], code: &[u8]) {
        let Some(open) = &self.open else { return };
        let module = ModuleDigest::of(wasm);
        let head = entry::head(&open.key, &open.identity, &module, code);
        self.write(open, open.identity.name(&module).as_str(), &[&head, code]);
    }

    /// Counts a bundle that was loaded by its verdict.
    pub(super) fn count_readmitted(&self) {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).readmitted += 1;
    }

    /// What this host once found of `subject`, a digest of all that the finding depends on.
    pub(super) fn verdict(&self, subject: &[u8; 32]) -> Option<u8> {
        let open = self.open.as_ref()?;
        let name = verdict::name(subject);
        let found = open.dir.read(name.as_str(), verdict::BYTES as u64);
        let found = found.and_then(|bytes| verdict::opened(&bytes, &open.key, subject));
        let unfit = match found {
            Ok(verdict) => return Some(verdict),
            Err(unfit) => unfit,
        };
        let refused = |path, reason| CacheWarning::VerdictRefused { path, reason };
        self.warn_unless_missing(name.as_str(), &unfit, refused);
        None
    }

    /// Notes what was found of `subject`.
    pub(super) fn put_verdict(&self, subject: &[u8; 32], verdict: u8) {
        let Some(open) = &self.open else { return };
        let entry = verdict::entry(&open.key, subject, verdict);
        self.write(open, verdict::name(subject).as_str(), &[&entry]);
    }

    fn write(&self, open: &OpenDirectory, name: &str, content: &[&[u8]]) {
        if let Err(error) = open.write(name, self.settings.max_bytes, content) {
            let path = self.settings.directory.join(name);
            let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
            report.warn(CacheWarning::NotKept { path, reason: error.to_string() });
        }
    }

    fn warn_unless_missing(
        &self,
        name: &str,
        unfit: &UnfitDirectory,
        warning: impl FnOnce(PathBuf, String) -> CacheWarning,
    ) {
        if !matches!(unfit, UnfitDirectory::Missing) {
            let warning = warning(self.settings.directory.join(name), unfit.to_string());
            self.report.lock().unwrap_or_else(PoisonError::into_inner).warn(warning);
        }
    }
}

impl OpenDirectory {
    fn write(&self, name: &str, max_bytes: u64, content: &[&[u8]]) -> Result<(), UnfitDirectory> {
        let bytes = content.iter().map(|part| part.len() as u64).sum();
        if bytes > max_bytes {
            return Err(UnfitDirectory::TooLarge { found: bytes, allowed: max_bytes });
        }
        let mut room = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        let lock = self.dir.lock()?;
        let extensions = [entry::EXTENSION, verdict::EXTENSION];
        room.take(bytes, max_bytes, |left| lock.make_room(&extensions, name, left))?;
        lock.replace(name, content)
    }
}
