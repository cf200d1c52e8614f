//! Writing bundles, so that a crash at any point leaves the old one or the new one.

mod disk;
#[cfg(test)]
mod tests;

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
/// A bundle of a changed rule has another fingerprint. So that the two don't claim the same events, of which neither would
/// serve any, [`Accepted::store`](super::Accepted::store) puts the new one in the place of earlier ones: those of the
/// same function that share an event type with it. [`keeping_earlier`](Self::keeping_earlier) leaves them where they are.
#[derive(Debug)]
pub struct Store {
    root: PathBuf,
    disk: CapDisk,
    keeps_earlier: bool,
}

/// What a new bundle means for the others of its directory, each by its path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Others {
    /// Earlier bundles of the same extractor, which are gone.
    pub replaced: Vec<PathBuf>,
    /// Bundles that declare an event type of the new one as well, which neither of them serves.
    pub colliding: Vec<PathBuf>,
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
        Ok(Self { root: root.to_owned(), disk, keeps_earlier: false })
    }

    /// The same directory, with earlier bundles of an extractor left beside the new one.
    #[must_use]
    pub fn keeping_earlier(self) -> Self {
        Self { keeps_earlier: true, ..self }
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
    /// before is replaced.
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
        self.put_locked(contents, &manifest, &[])?;
        Ok(self.root.join(manifest.fingerprint()))
    }

    /// Stores a bundle in the place of earlier ones of the same extractor, unless the store keeps those.
    pub(super) fn supersede(
        &self,
        contents: &Contents<'_>,
        created_at: jiff::Timestamp,
    ) -> Result<(Manifest, Others), BundleError> {
        let manifest = manifest_of(contents, created_at)?;
        let _lock = self.lock()?;
        let (earlier, colliding) = self.others(&manifest)?;
        self.put_locked(contents, &manifest, &earlier)?;
        Ok((manifest, self.others_at(earlier, colliding)))
    }

    /// Takes earlier bundles of the same extractor away, unless the store keeps those, in favour of one that is there already.
    pub(super) fn retire_earlier(&self, manifest: &Manifest) -> Result<Others, BundleError> {
        let _lock = self.lock()?;
        let (earlier, colliding) = self.others(manifest)?;
        retire(&self.disk, &earlier).map_err(|failure| self.write_failed(failure))?;
        Ok(self.others_at(earlier, colliding))
    }

    /// The names of bundles that share an event type with this one: those that it replaces, and those that it collides with.
    fn others(&self, manifest: &Manifest) -> Result<(Vec<String>, Vec<String>), BundleError> {
        let mut names = self
            .disk
            .names()
            .map_err(|source| write_error(&self.root, "list the directory of bundles", source))?;
        names.sort();
        let mut others = (Vec::new(), Vec::new());
        for name in names {
            if name.starts_with('.') || name == manifest.fingerprint() {
                continue;
            }
            let Some(other) = self.disk.manifest(&name) else { continue };
            if !self.keeps_earlier && is_fingerprint(&name) && is_same_extractor(&other, manifest) {
                others.0.push(name);
            } else if share_an_event_type(&other, manifest) {
                others.1.push(name);
            }
        }
        Ok(others)
    }

    fn others_at(&self, replaced: Vec<String>, colliding: Vec<String>) -> Others {
        let paths = |names: Vec<String>| names.iter().map(|name| self.root.join(name)).collect();
        Others { replaced: paths(replaced), colliding: paths(colliding) }
    }

    fn put_locked(
        &self,
        contents: &Contents<'_>,
        manifest: &Manifest,
        earlier: &[String],
    ) -> Result<(), BundleError> {
        put(&self.disk, contents, manifest, earlier).map_err(|failure| self.write_failed(failure))
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

fn share_an_event_type(one: &Manifest, other: &Manifest) -> bool {
    one.event_types().iter().any(|it| other.event_types().contains(it))
}

/// Whether one bundle is another version of the other: of the same name, and for some of the same events.
fn is_same_extractor(one: &Manifest, other: &Manifest) -> bool {
    one.name() == other.name() && share_an_event_type(one, other)
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

/// Stores a bundle in the place of earlier ones. The caller holds the lock.
fn put(
    disk: &impl Disk,
    contents: &Contents<'_>,
    manifest: &Manifest,
    earlier: &[String],
) -> Result<(), StoreFailure> {
    recover(disk).map_err(failed("", "clear away what a crashed writer left"))?;
    let target = manifest.fingerprint();
    let staging = format!("{STAGING}{target}");
    // Without a bundle under the fingerprint, the first of the earlier ones is what the new one is exchanged with.
    let place = match disk.exists(target).map_err(failed(target, "look for an earlier bundle"))? {
        true => Some(target),
        false => earlier.first().map(String::as_str),
    };
    let replaced = stage(disk, &staging, contents, manifest)
        .and_then(|()| replace(disk, &staging, place, target));
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
    let rest: Vec<String> =
        earlier.iter().filter(|name| Some(name.as_str()) != place).cloned().collect();
    retire(disk, &rest)
}

/// Takes bundles away, each in one step for readers. The caller holds the lock.
fn retire(disk: &impl Disk, names: &[String]) -> Result<(), StoreFailure> {
    for name in names {
        let gone = format!("{STAGING}{name}");
        disk.rename(name, &gone).map_err(failed(name, "take the earlier bundle away"))?;
        // What can't be removed now is removed by the next writer.
        let _ = disk.remove(&gone);
    }
    match names {
        [] => Ok(()),
        _ => disk.sync_root().map_err(failed("", "flush the directory of bundles")),
    }
}

/// Writes all files into a new staging directory, and flushes them and it to disk.
fn stage(
    disk: &impl Disk,
    staging: &str,
    contents: &Contents<'_>,
    manifest: &Manifest,
) -> Result<(), StoreFailure> {
    disk.create_dir(staging).map_err(failed(staging, "create the staging directory"))?;
    let manifest = manifest.to_json();
    let files = contents
        .files()
        .map(|(_, name, bytes)| (name, bytes))
        .chain([(MANIFEST_FILE.to_owned(), manifest.as_bytes())]);
    for (name, bytes) in files {
        let path = format!("{staging}/{name}");
        disk.write_file(staging, &name, bytes).map_err(failed(&path, "write the file"))?;
        disk.sync_file(staging, &name).map_err(failed(&path, "flush the file"))?;
    }
    disk.sync_dir(staging).map_err(failed(staging, "flush the staging directory"))
}

/// Puts the staged bundle in the place of one that is there under the target's name or another, and names it as the target.
/// Says where what was there before is now.
fn replace(
    disk: &impl Disk,
    staging: &str,
    place: Option<&str>,
    target: &str,
) -> Result<Option<String>, StoreFailure> {
    let renaming = "put the bundle in its place";
    let Some(place) = place else {
        disk.rename(staging, target).map_err(failed(target, renaming))?;
        return Ok(None);
    };
    if disk.exchange(staging, place).map_err(failed(target, renaming))? {
        // A reader finds the new bundle from now on, by whatever name.
        if place != target
            && let Err(source) = disk.rename(place, target)
        {
            let _ = disk.exchange(staging, place);
            return Err(failed(target, renaming)(source));
        }
        return Ok(Some(staging.to_owned()));
    }
    let old = format!("{OLD}{place}");
    disk.rename(place, &old).map_err(failed(place, "set the earlier bundle aside"))?;
    if let Err(source) = disk.rename(staging, target) {
        // If this fails too, the next writer does it.
        let _ = disk.rename(&old, place);
        return Err(failed(target, renaming)(source));
    }
    Ok(Some(old))
}

/// Finishes what crashed writers began. The caller holds the lock, so no writer is alive.
fn recover(disk: &impl Disk) -> io::Result<()> {
    let names = disk.names()?;
    for name in &names {
        if name.starts_with(STAGING) {
            disk.remove(name)?;
        } else if let Some(place) = name.strip_prefix(OLD).filter(|name| is_fingerprint(name)) {
            // The writer died before its bundle was in place, or before it removed the old one.
            if disk.exists(place)? || has_successor(disk, name, &names) {
                disk.remove(name)?;
            } else {
                disk.rename(name, place)?;
            }
        }
    }
    Ok(())
}

/// Whether there is another version of a bundle that was set aside.
fn has_successor(disk: &impl Disk, old: &str, names: &[String]) -> bool {
    let Some(old) = disk.manifest(old) else { return false };
    let bundles = names.iter().filter(|name| is_fingerprint(name));
    bundles.filter_map(|name| disk.manifest(name)).any(|it| is_same_extractor(&it, &old))
}

fn is_fingerprint(name: &str) -> bool {
    name.parse::<Digest>().is_ok()
}
