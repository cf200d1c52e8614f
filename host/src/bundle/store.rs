//! Writing bundles, so that a crash at any point leaves the old one or the new one.

#[cfg(feature = "remote")]
mod apply;
mod catalog;
mod collect;
mod disk;
#[cfg(any(feature = "remote", feature = "serve"))]
mod receive;
mod share;
mod switch;
#[cfg(test)]
mod tests;

pub use self::catalog::{Catalog, CatalogEntry, Version, VersionState};
pub use self::collect::Collected;
#[cfg(any(feature = "remote", feature = "serve"))]
pub(crate) use self::receive::ReceiveError;
pub(super) use self::switch::Added;
pub use self::switch::{Others, Switched};

use std::io;
use std::path::{Path, PathBuf};

use self::disk::{CapDisk, Disk};
use super::contents::Contents;
use super::digest::Digest;
use super::error::BundleError;
use super::manifest::{MANIFEST_FILE, Manifest};

/// Where a bundle is put together before it is renamed. What has this prefix is never whole.
const STAGING: &str = ".staging-";

/// Where the bundle of a fingerprint waits while its successor is renamed, on file systems that
/// cannot exchange two names at once. What has this prefix is whole.
const OLD: &str = ".old-";

/// A directory of bundles that can be written to.
///
/// A bundle is written into a staging directory beside the others, flushed to disk file by file,
/// and then takes its place in one rename. Writers exclude each other by a lock on the file
/// `.lock`, which the operating system releases when a writer dies: whoever holds the lock knows
/// that all staging directories were left by writers that crashed, and removes them.
///
/// Readers take no lock. They see the old bundle or the new one; on a file system that cannot
/// exchange two names, they may for an instant see neither while one replaces the other.
///
/// A bundle of a changed rule has another fingerprint: it is another version of its extractor. Which versions are served is said by
/// the [record](super::RECORD_FILE) of the directory, which is put in place in one rename as well. A directory without one, as it was
/// written by hand or by an earlier Retort, serves all that is in it; its record begins with that.
#[derive(Debug)]
pub struct Store {
    root: PathBuf,
    disk: CapDisk,
}

impl Store {
    /// Opens the directory `root`, which is created if it isn't there, and clears away what
    /// crashed writers left, unless a writer is at work.
    ///
    /// # Errors
    /// [`BundleError::Write`] if the directory cannot be created, read or written.
    pub fn open(root: &Path) -> Result<Self, BundleError> {
        let fail = |action| move |source| write_error(root, action, source);
        create_dir_all(root).map_err(fail("create the directory of bundles"))?;
        let disk = CapDisk::open(root).map_err(fail("open the directory of bundles"))?;
        if let Some(_lock) = disk.try_lock().map_err(fail("lock the directory of bundles"))? {
            recover(&disk).map_err(fail("clear away what a crashed writer left"))?;
        }
        Ok(Self { root: root.to_owned(), disk })
    }

    /// The directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the bundle with this fingerprint is, or would be.
    #[must_use]
    pub fn path_of(&self, fingerprint: Digest) -> PathBuf {
        self.root.join(fingerprint.to_string())
    }

    /// Stores a bundle under its fingerprint and returns its directory. What was under that name
    /// before is replaced. Nothing is activated: where the directory has a record, the bundle isn't served by that.
    ///
    /// Waits for other writers of the same directory. When it returns, the bundle is on disk.
    ///
    /// # Errors
    /// [`BundleError::Invalid`] or [`BundleError::TooLarge`] if a loader would refuse the bundle;
    /// [`BundleError::Write`] if it cannot be written. On every error the directory holds what it
    /// held before, and nothing half-written; only if the very last flush fails, it holds the new
    /// bundle, which may not survive a loss of power.
    pub fn put(
        &self,
        contents: &Contents<'_>,
        created_at: jiff::Timestamp,
    ) -> Result<PathBuf, BundleError> {
        let manifest = manifest_of(contents, created_at)?;
        let _lock = self.lock()?;
        put(&self.disk, contents, &manifest).map_err(|failure| self.write_failed(failure))?;
        Ok(self.root.join(manifest.fingerprint()))
    }

    fn lock(&self) -> Result<std::fs::File, BundleError> {
        let failed = |source| write_error(&self.root, "lock the directory of bundles", source);
        self.disk.lock().map_err(failed)
    }

    fn write_failed(&self, failure: StoreFailure) -> BundleError {
        write_error(&self.root.join(failure.name), failure.action, failure.source)
    }
}

/// The manifest of a bundle whose parts are as large as a loader takes them.
fn manifest_of(
    contents: &Contents<'_>,
    created_at: jiff::Timestamp,
) -> Result<Manifest, BundleError> {
    for (part, _, bytes) in contents.files() {
        let (found, allowed) = (bytes.len() as u64, part.max_bytes());
        if found > allowed {
            return Err(BundleError::TooLarge { part, found, allowed });
        }
    }
    Ok(Manifest::new(contents, created_at)?)
}

/// Creates a directory with its parents, and flushes to disk that they are there.
fn create_dir_all(path: &Path) -> io::Result<()> {
    let missing = |dir: &&Path| !dir.as_os_str().is_empty() && !dir.exists();
    let created: Vec<&Path> = path.ancestors().take_while(missing).collect();
    std::fs::create_dir_all(path)?;
    for parent in created.iter().filter_map(|dir| dir.parent()) {
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        std::fs::File::open(parent)?.sync_all()?;
    }
    Ok(())
}

fn write_error(path: &Path, action: &'static str, source: io::Error) -> BundleError {
    BundleError::Write { path: path.to_owned(), action, source }
}

/// What failed, by its name in the directory of bundles.
#[derive(Debug)]
struct StoreFailure {
    name: String,
    action: &'static str,
    source: io::Error,
}

/// Describes a failed operation on `name`.
fn failed(name: &str, action: &'static str) -> impl FnOnce(io::Error) -> StoreFailure {
    let name = name.to_owned();
    move |source| StoreFailure { name, action, source }
}

/// Stores a bundle. The caller holds the lock.
fn put(disk: &impl Disk, contents: &Contents<'_>, manifest: &Manifest) -> Result<(), StoreFailure> {
    recover(disk).map_err(failed("", "clear away what a crashed writer left"))?;
    let target = manifest.fingerprint();
    let staging = format!("{STAGING}{target}");
    let is_there = disk.exists(target).map_err(failed(target, "look for an earlier bundle"))?;
    let replaced = stage(disk, &staging, contents, manifest)
        .and_then(|()| replace(disk, &staging, is_there, target));
    let aside = replaced.inspect_err(|_| {
        // The failure at hand is the one to report; what can't be removed now is removed by the
        // next writer.
        let _ = disk.remove(&staging);
    })?;
    disk.sync_root().map_err(failed("", "flush the directory of bundles"))?;
    if let Some(name) = aside {
        // The new bundle is stored whether or not this succeeds.
        let _ = disk.remove(&name);
    }
    Ok(())
}

/// Writes a bundle into a new staging directory.
fn stage(
    disk: &impl Disk,
    staging: &str,
    contents: &Contents<'_>,
    manifest: &Manifest,
) -> Result<(), StoreFailure> {
    let manifest = manifest.to_json();
    let files = contents
        .files()
        .map(|(_, name, bytes)| (name, bytes))
        .chain([(MANIFEST_FILE.to_owned(), manifest.as_bytes())]);
    stage_files(disk, staging, files)
}

/// Writes all files into a new staging directory, and flushes them and it to disk.
fn stage_files<'a>(
    disk: &impl Disk,
    staging: &str,
    files: impl Iterator<Item = (String, &'a [u8])>,
) -> Result<(), StoreFailure> {
    disk.create_dir(staging).map_err(failed(staging, "create the staging directory"))?;
    for (name, bytes) in files {
        let path = format!("{staging}/{name}");
        disk.write_file(staging, &name, bytes).map_err(failed(&path, "write the file"))?;
        disk.sync_file(staging, &name).map_err(failed(&path, "flush the file"))?;
    }
    disk.sync_dir(staging).map_err(failed(staging, "flush the staging directory"))
}

/// Puts the staged bundle in its place, where there is one already or isn't. Says where what was there before is now.
fn replace(
    disk: &impl Disk,
    staging: &str,
    is_there: bool,
    target: &str,
) -> Result<Option<String>, StoreFailure> {
    let renaming = "put the bundle in its place";
    if !is_there {
        disk.rename(staging, target).map_err(failed(target, renaming))?;
        return Ok(None);
    }
    if disk.exchange(staging, target).map_err(failed(target, renaming))? {
        return Ok(Some(staging.to_owned()));
    }
    let old = format!("{OLD}{target}");
    disk.rename(target, &old).map_err(failed(target, "set the earlier bundle aside"))?;
    if let Err(source) = disk.rename(staging, target) {
        // If this fails too, the next writer does it.
        let _ = disk.rename(&old, target);
        return Err(failed(target, renaming)(source));
    }
    Ok(Some(old))
}

/// Finishes what crashed writers began. The caller holds the lock, so no writer is alive.
fn recover(disk: &impl Disk) -> io::Result<()> {
    for name in &disk.names()? {
        if name.starts_with(STAGING) {
            disk.remove(name)?;
        } else if let Some(place) = name.strip_prefix(OLD).filter(|name| is_fingerprint(name)) {
            // The writer died before its bundle was in place, or before it removed the old one.
            match disk.exists(place)? {
                true => disk.remove(name)?,
                false => disk.rename(name, place)?,
            }
        }
    }
    Ok(())
}

fn is_fingerprint(name: &str) -> bool {
    name.parse::<Digest>().is_ok()
}
