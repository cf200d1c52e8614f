//! Removing versions that nobody goes back to.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::disk::Disk as _;
use super::switch::bundle_names;
use super::{STAGING, Store, failed, recover, write_error};
use crate::bundle::digest::Digest;
use crate::bundle::error::{BundleError, VersionError};

/// What was removed, or would be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Collected {
    /// The bundles, by their paths, in the order of their names.
    pub removed: Vec<PathBuf>,
    /// How many versions are left.
    pub left: usize,
}

/// Keeps bundles from being removed for as long as it lives. Any number of readers may hold one of a directory.
///
/// It is a shared lock of the directory itself, so that nothing has to be written there. Where the file system has no such
/// locks, nothing is kept from being removed.
#[derive(Debug)]
pub(crate) struct Reading {
    _lock: Option<File>,
}

impl Reading {
    /// Begins to read the bundles of a directory.
    pub(crate) fn begin(root: &Path) -> Self {
        let locked = File::open(root).and_then(|dir| dir.lock_shared().map(|()| dir));
        Self { _lock: locked.ok() }
    }
}

impl Store {
    /// Removes the versions that are neither active nor were before, as far back as the record goes or, with `keep`, as so many
    /// changes of each extractor go, which are all that is known afterwards. With `dry_run` nothing is done.
    ///
    /// Other writers are waited for. A directory without a record serves all that is in it, so that nothing is removed.
    ///
    /// # Errors
    /// [`BundleError::Version`] while a [`Registry`](crate::Registry) is open on the directory, in any process;
    /// [`BundleError::Record`] for a record that isn't one; [`BundleError::Write`] if something cannot be removed.
    pub fn collect(&self, keep: Option<usize>, dry_run: bool) -> Result<Collected, BundleError> {
        let _lock = self.lock()?;
        let Some(mut record) = self.disk.record(&self.root)? else {
            let left = self.versions()?.len();
            return Ok(Collected { removed: Vec::new(), left });
        };
        let before = record.clone();
        if let Some(keep) = keep {
            record.forget(keep);
        }
        let known = record.known();
        let (left, gone): (Vec<_>, Vec<_>) =
            self.versions()?.into_iter().partition(|version| known.contains(version));
        let removed = gone.iter().map(|version| self.path_of(*version)).collect();
        let collected = Collected { removed, left: left.len() };
        if dry_run {
            return Ok(collected);
        }
        let alone = self.lock_out_readers()?;
        // What the record names is there at every moment.
        if record != before {
            self.write(&record)?;
        }
        recover(&self.disk).map_err(|source| {
            write_error(&self.root, "clear away what a crashed writer left", source)
        })?;
        for version in &gone {
            let name = version.to_string();
            let renamed = self.disk.rename(&name, &format!("{STAGING}{name}"));
            renamed
                .map_err(failed(&name, "take the bundle away"))
                .map_err(|failure| self.write_failed(failure))?;
        }
        drop(alone);
        // What is left now of those is removed by the next writer.
        recover(&self.disk)
            .map_err(|source| write_error(&self.root, "remove what was taken away", source))?;
        Ok(collected)
    }

    /// The versions that lie in the directory, in the order of their names.
    fn versions(&self) -> Result<Vec<Digest>, BundleError> {
        let names = bundle_names(&self.disk, &self.root)?;
        Ok(names.into_iter().filter_map(|(_, version)| version).collect())
    }

    /// Makes sure that nobody reads the directory, and that nobody begins to for as long as the value lives.
    fn lock_out_readers(&self) -> Result<File, BundleError> {
        let failed = |source| write_error(&self.root, "lock the directory of bundles", source);
        let dir = File::open(&self.root).map_err(failed)?;
        match dir.try_lock() {
            Ok(()) => Ok(dir),
            Err(std::fs::TryLockError::WouldBlock) => {
                Err(VersionError::InUse { root: self.root.clone() }.into())
            }
            Err(std::fs::TryLockError::Error(source)) => Err(failed(source)),
        }
    }
}
