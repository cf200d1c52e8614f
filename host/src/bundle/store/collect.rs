//! Removing versions that nobody goes back to.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::disk::Disk as _;
use super::switch::bundle_names;
use super::{STAGING, Store, failed, recover, write_error};
use crate::bundle::digest::Digest;
use crate::bundle::error::{BundleError, VersionError};
use crate::bundle::hold::take_alone;

/// What was removed, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Collected {
    /// The bundles, by their paths, in the order of their names.
    pub removed: Vec<PathBuf>,
    /// Those that would be as well, if nobody had them loaded or were about to load them.
    pub in_use: Vec<PathBuf>,
    /// How many versions are left, those in use among them.
    pub left: usize,
}

/// How long those are waited for who look a directory over.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often it is looked whether they are done.
const EVERY: Duration = Duration::from_millis(5);

impl Store {
    /// Removes the versions that are neither active nor were before, as far back as the record goes or, with `keep`, as so many
    /// changes of each extractor go, which are all that is known afterwards. With `dry_run` nothing is done.
    ///
    /// What somebody has loaded stays, in whichever process, and so does what a [`Registry`](crate::Registry) or a
    /// [`Host`](crate::Host) may load with its next event: it goes the next time, once nobody holds it. Other writers are waited for. A
    /// directory without a record serves all that is in it, so that nothing is removed. Who is killed meanwhile leaves each version whole,
    /// or removed.
    ///
    /// # Errors
    /// [`BundleError::Version`] where somebody looks the directory over for seconds, or holds all of it, as who serves many bundles does;
    /// [`BundleError::Record`] for a record that isn't one; [`BundleError::Write`] if something cannot be removed.
    pub fn collect(&self, keep: Option<usize>, dry_run: bool) -> Result<Collected, BundleError> {
        let _lock = self.lock()?;
        let Some(mut record) = self.disk.record(&self.root)? else {
            let left = self.versions()?.len();
            return Ok(Collected { removed: Vec::new(), in_use: Vec::new(), left });
        };
        let before = record.clone();
        if let Some(keep) = keep {
            record.forget(keep);
        }
        // Whoever finds out what is served holds that before anything goes.
        let alone = self.lock_out_lookers()?;
        if !dry_run {
            // What the record names is there at every moment.
            if record != before {
                self.write(&record)?;
            }
            recover(&self.disk).map_err(|source| {
                write_error(&self.root, "clear away what a crashed writer left", source)
            })?;
        }
        let known = record.known();
        let mut collected = Collected::default();
        for version in self.versions()? {
            if known.contains(&version) {
                collected.left += 1;
                continue;
            }
            let path = self.path_of(version);
            // Who opens it later finds that it isn't there any more.
            let Some(_alone) = self.lock_out_holders(&path)? else {
                collected.left += 1;
                collected.in_use.push(path);
                continue;
            };
            if !dry_run {
                let name = version.to_string();
                let renamed = self.disk.rename(&name, &format!("{STAGING}{name}"));
                renamed
                    .map_err(failed(&name, "take the bundle away"))
                    .map_err(|failure| self.write_failed(failure))?;
            }
            collected.removed.push(path);
        }
        drop(alone);
        if !dry_run {
            // What is left now of those is removed by the next writer.
            recover(&self.disk)
                .map_err(|source| write_error(&self.root, "remove what was taken away", source))?;
        }
        Ok(collected)
    }

    /// The versions that lie in the directory, in the order of their names.
    fn versions(&self) -> Result<Vec<Digest>, BundleError> {
        let names = bundle_names(&self.disk, &self.root)?;
        Ok(names.into_iter().filter_map(|(_, version)| version).collect())
    }

    /// Makes sure that nobody looks the directory over, and that nobody begins to for as long as the value lives.
    fn lock_out_lookers(&self) -> Result<File, BundleError> {
        let failed = |source| write_error(&self.root, "lock the directory of bundles", source);
        let began = Instant::now();
        loop {
            let dir = File::open(&self.root).map_err(failed)?;
            if let Some(alone) = take_alone(dir).map_err(failed)? {
                return Ok(alone);
            }
            if began.elapsed() > PATIENCE {
                return Err(VersionError::InUse { root: self.root.clone() }.into());
            }
            std::thread::sleep(EVERY);
        }
    }

    /// Makes sure that nobody holds the bundle in this path, and that nobody comes to for as long as the value lives; `None` where somebody does.
    fn lock_out_holders(&self, path: &Path) -> Result<Option<File>, BundleError> {
        let failed = |source| write_error(path, "lock the bundle", source);
        take_alone(File::open(path).map_err(failed)?).map_err(failed)
    }
}
