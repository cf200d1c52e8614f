//! Native code kept on disk, so that a module that this host compiled once is not compiled again.
//!
//! Native code is trusted: it runs outside every limit. So an entry is used only if this host wrote it: a directory that
//! belongs to this user and is open to nobody else holds a random key, and each entry carries a code (HMAC-SHA256) over
//! wasmtime's version, all settings of the engine that compiled code depends on, the module's digest, and the native code
//! itself. It is checked over the very bytes in memory that are then deserialised. Whatever doesn't fit is ignored, reported in the
//! [`CacheReport`] and replaced; a directory that others can write to isn't used at all. A cache that fails costs time and never
//! an answer.
//!
//! Which modules are compiled at all, and by whom, is decided before the cache is asked: an entry admits nothing.

mod directory;
mod entry;
mod key;
mod report;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use wasmtime::Engine;

use directory::{PrivateDir, UnfitDirectory};
use entry::{EngineIdentity, EntryName};
use key::CacheKey;
pub use report::{CacheReport, CacheWarning};

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
            Ok(OpenDirectory { dir, key, identity: EngineIdentity::of(engine) })
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
        let open = self.open.as_ref()?;
        let name = open.identity.name(wasm);
        let found = open.read(&name, self.settings.max_bytes, wasm, using);
        let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        let found = found.unwrap_or_else(|unfit| {
            if !matches!(unfit, UnfitDirectory::Missing) {
                let path = self.settings.directory.join(name.as_str());
                report.warn(CacheWarning::EntryRefused { path, reason: unfit.to_string() });
            }
            None
        });
        match found {
            Some(_) => report.hits += 1,
            None => report.misses += 1,
        }
        found
    }

    /// Keeps what was made of `wasm`, in place of whatever is there for it.
    pub(super) fn put(&self, wasm: &[u8], code: &[u8]) {
        let Some(open) = &self.open else { return };
        let name = open.identity.name(wasm);
        if let Err(error) = open.write(&name, self.settings.max_bytes, wasm, code) {
            let path = self.settings.directory.join(name.as_str());
            let mut report = self.report.lock().unwrap_or_else(PoisonError::into_inner);
            report.warn(CacheWarning::NotKept { path, reason: error.to_string() });
        }
    }
}

impl OpenDirectory {
    fn read<T>(
        &self,
        name: &EntryName,
        max_bytes: u64,
        wasm: &[u8],
        using: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, UnfitDirectory> {
        let bytes = self.dir.read(name.as_str(), max_bytes)?;
        Ok(using(entry::opened(&bytes, &self.key, &self.identity, wasm)?))
    }

    fn write(
        &self,
        name: &EntryName,
        max_bytes: u64,
        wasm: &[u8],
        code: &[u8],
    ) -> Result<(), UnfitDirectory> {
        let head = entry::head(&self.key, &self.identity, wasm, code);
        let bytes = (head.len() + code.len()) as u64;
        if bytes > max_bytes {
            return Err(UnfitDirectory::TooLarge { found: bytes, allowed: max_bytes });
        }
        let lock = self.dir.lock()?;
        lock.make_room(entry::EXTENSION, name.as_str(), max_bytes - bytes)?;
        lock.replace(name.as_str(), &[&head, code])
    }
}
