//! Which versions are served: activating them, going back, and taking an extractor out of service.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::catalog::Catalog;
use super::disk::{CapDisk, Disk as _};
use super::{STAGING, Store, StoreFailure, failed, manifest_of, put, recover, write_error};
use crate::bundle::contents::Contents;
use crate::bundle::digest::Digest;
use crate::bundle::error::{BundleError, VersionError};
use crate::bundle::manifest::Manifest;
use crate::bundle::name::ExtractorName;
use crate::bundle::record::{Activation, RECORD_FILE, Record};
use crate::bundle::sharing::Sharing;
use crate::bundle::storing::Storing;

/// The command that is noted for what a directory served before it had a record.
const FOUND: &str = "found";

/// Digits of a version that are enough to name it, where no other of its extractor begins with them.
pub(super) const MIN_VERSION_DIGITS: usize = 4;

/// What a new bundle means for the others of its directory, each by its path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Others {
    /// Versions of the same extractor that were active until now. They are still there.
    pub replaced: Vec<PathBuf>,
    /// Active bundles of other extractors that declare an event type of the new one, which isn't activated therefore.
    pub colliding: Vec<PathBuf>,
}

/// What came of changing which versions of an extractor are served.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Switched {
    /// The versions that were served before.
    pub before: Vec<Digest>,
    /// Those that are served now.
    pub after: Vec<Digest>,
    /// The other extractors that gave way, in the order of their names.
    pub retired: Vec<ExtractorName>,
}

/// What was added to a directory.
#[derive(Debug)]
pub(in crate::bundle) struct Added {
    pub(in crate::bundle) manifest: Manifest,
    pub(in crate::bundle) was_there: bool,
    pub(in crate::bundle) is_active: bool,
    pub(in crate::bundle) others: Others,
}

impl Store {
    /// Stores a bundle as a version of its extractor, and activates it unless that isn't wanted, or would take an event type from
    /// another extractor. `whole` gives the manifest of the bundle that is there already, if it is the same and whole.
    pub(in crate::bundle) fn add(
        &self,
        contents: &Contents<'_>,
        storing: &Storing,
        whole: impl FnOnce() -> Option<Manifest>,
    ) -> Result<Added, BundleError> {
        let manifest = manifest_of(contents, storing.at)?;
        let _lock = self.lock()?;
        // The record comes first: what it doesn't name yet isn't served, so that readers never find two versions.
        let (mut record, is_new) = self.record(storing.at)?;
        if is_new {
            self.write(&record)?;
        }
        let found = whole();
        let was_there = found.is_some();
        if !was_there {
            put(&self.disk, contents, &manifest).map_err(|failure| self.write_failed(failure))?;
        }
        let manifest = found.unwrap_or(manifest);
        let (name, version) = (manifest.name(), contents.fingerprint());
        let mut others = Others::default();
        if storing.is_activating {
            let claimants = self.claimants(&record, &name, &manifest)?;
            let (before, colliding): (Vec<_>, Vec<_>) =
                claimants.into_iter().partition(|it| is_before_its_name(&it.1, &manifest));
            let path = |it: (String, Manifest, String)| self.root.join(it.0);
            let colliding = colliding.into_iter().filter(|it| !is_shared(&record, &name, it));
            others.colliding = colliding.map(path).collect();
            if others.colliding.is_empty() {
                give_way(&mut record, &before, storing.at, &storing.by);
                let versions = self.versions_with(&record, version, &manifest);
                let activation = Activation::new(versions, storing.at, &storing.by);
                let switched = self.switch(&mut record, &name, activation)?;
                let replaced = switched.before.iter().filter(|it| !switched.after.contains(it));
                let replaced = replaced.map(|version| self.path_of(*version));
                others.replaced = before.into_iter().map(path).chain(replaced).collect();
            }
        }
        let is_active = record.current(&name).contains(&version);
        Ok(Added { manifest, was_there, is_active, others })
    }

    /// Serves this version of an extractor from now on, in the place of the one that is served. `version` is its fingerprint, or
    /// as many digits of it as no other version of that name begins with, four at least. `by` is noted as the command.
    ///
    /// # Errors
    /// [`BundleError::Version`] for a version that isn't there, or that would take an event type from another extractor;
    /// [`BundleError::Record`] for a record that isn't one; [`BundleError::Write`] if it cannot be written. The same is
    /// served as before then.
    pub fn activate(
        &self,
        name: &ExtractorName,
        version: &str,
        at: jiff::Timestamp,
        by: &str,
    ) -> Result<Switched, BundleError> {
        let _lock = self.lock()?;
        let (mut record, _) = self.record(at)?;
        let (version, manifest) = self.find(&record, name, version)?;
        self.require_free(&record, name, &manifest)?;
        let versions = self.versions_with(&record, version, &manifest);
        self.switch(&mut record, name, Activation::new(versions, at, by))
    }

    /// Serves this version as [`activate`](Self::activate) does, and what else is served of its event types no more, in one step.
    ///
    /// # Errors
    /// As for [`activate`](Self::activate): a bundle that isn't named by its fingerprint gives no event type away.
    pub fn replace(
        &self,
        name: &ExtractorName,
        version: &str,
        at: jiff::Timestamp,
        by: &str,
    ) -> Result<Switched, BundleError> {
        let _lock = self.lock()?;
        let (mut record, _) = self.record(at)?;
        let (version, manifest) = self.find(&record, name, version)?;
        let claimants = self.claimants(&record, name, &manifest)?;
        give_way(&mut record, &claimants, at, by);
        self.require_free(&record, name, &manifest)?;
        let before = record.current(name).to_vec();
        let versions = self.versions_with(&record, version, &manifest);
        if record.activate(name, Activation::new(versions, at, by)) || !claimants.is_empty() {
            self.write(&record)?;
        }
        let mut retired: Vec<_> = claimants.iter().map(|(_, other, _)| other.name()).collect();
        retired.sort_unstable();
        retired.dedup();
        Ok(Switched { before, after: record.current(name).to_vec(), retired })
    }

    /// Serves of an extractor what was served of it before, and before that if it is done once more.
    ///
    /// # Errors
    /// As for [`activate`](Self::activate); and where nothing was served before.
    pub fn roll_back(
        &self,
        name: &ExtractorName,
        at: jiff::Timestamp,
        by: &str,
    ) -> Result<Switched, BundleError> {
        let _lock = self.lock()?;
        let (mut record, _) = self.record(at)?;
        self.require_known(&record, name)?;
        let nothing =
            || VersionError::NothingBefore { root: self.root.clone(), name: name.clone() };
        let after = record.before(name).ok_or_else(nothing)?.to_vec();
        let before = record.current(name).to_vec();
        for version in &after {
            let missing = || VersionError::Missing { path: self.path_of(*version) };
            let manifest = self.disk.manifest(&version.to_string()).ok_or_else(missing)?;
            self.require_free(&record, name, &manifest)?;
        }
        record.roll_back(name, at, by);
        self.write(&record)?;
        Ok(Switched { before, after, retired: Vec::new() })
    }

    /// Serves nothing of an extractor any more. Its versions stay, and [`roll_back`](Self::roll_back) brings back what was served.
    ///
    /// # Errors
    /// As for [`activate`](Self::activate).
    pub fn retire(
        &self,
        name: &ExtractorName,
        at: jiff::Timestamp,
        by: &str,
    ) -> Result<Switched, BundleError> {
        let _lock = self.lock()?;
        let (mut record, _) = self.record(at)?;
        self.require_known(&record, name)?;
        self.switch(&mut record, name, Activation::new(Vec::new(), at, by))
    }

    /// The record of the directory, or the one that it would begin with; and whether it is that.
    pub(super) fn record(&self, now: jiff::Timestamp) -> Result<(Record, bool), BundleError> {
        record_of(&self.disk, &self.root, now)
    }

    /// Puts a record in the place of the one that is there. The caller holds the lock.
    pub(super) fn write(&self, record: &Record) -> Result<(), BundleError> {
        let text = record.to_json();
        if !Record::is_readable(&text) {
            let source = std::io::ErrorKind::FileTooLarge.into();
            let path = self.root.join(RECORD_FILE);
            return Err(write_error(&path, "write a record that large", source));
        }
        write(&self.disk, &text).map_err(|failure| self.write_failed(failure))
    }

    /// Notes what is served of an extractor from now on, where that is anything else than before.
    fn switch(
        &self,
        record: &mut Record,
        name: &ExtractorName,
        activation: Activation,
    ) -> Result<Switched, BundleError> {
        let before = record.current(name).to_vec();
        if record.activate(name, activation) {
            self.write(record)?;
        }
        Ok(Switched { before, after: record.current(name).to_vec(), retired: Vec::new() })
    }

    /// What is served of an extractor with this version: that alone or, where none was given a name, beside those that have no
    /// event type in common with it.
    fn versions_with(&self, record: &Record, version: Digest, manifest: &Manifest) -> Vec<Digest> {
        let stays = |other: &&Digest| {
            let found = self.disk.manifest(&other.to_string());
            found.is_some_and(|it| !it.has_own_name() && shared_type(&it, manifest).is_none())
        };
        let current = record.current(&manifest.name()).iter().filter(|it| **it != version);
        let beside = current.filter(|other| !manifest.has_own_name() && stays(other));
        beside.copied().chain([version]).collect()
    }

    /// The bundles of others that are served and declare an event type of this one, by their names in the directory; and the type.
    fn claimants(
        &self,
        record: &Record,
        name: &ExtractorName,
        manifest: &Manifest,
    ) -> Result<Vec<(String, Manifest, String)>, BundleError> {
        let (active, own) = (record.active(), record.current(name));
        let mut claimants = Vec::new();
        for (found, _) in
            bundle_names(&self.disk, &self.root)?.into_iter().filter(|(_, version)| {
                version.is_none_or(|version| active.contains(&version) && !own.contains(&version))
            })
        {
            let Some(other) = self.disk.manifest(&found) else { continue };
            if let Some(shared) = shared_type(&other, manifest) {
                claimants.push((found, other, shared));
            }
        }
        Ok(claimants)
    }

    /// Refuses what would take an event type from another extractor, of which neither would be served then.
    fn require_free(
        &self,
        record: &Record,
        name: &ExtractorName,
        manifest: &Manifest,
    ) -> Result<(), BundleError> {
        let mut claimants = self.claimants(record, name, manifest)?.into_iter();
        match claimants.find(|it| !is_shared(record, name, it)) {
            None => Ok(()),
            Some((found, other, event_type)) => Err(VersionError::Taken {
                path: self.root.join(found),
                name: other.name(),
                event_type,
            }
            .into()),
        }
    }

    fn require_known(&self, record: &Record, name: &ExtractorName) -> Result<(), BundleError> {
        match record.activations(name) {
            [] => Err(self.unknown(record, name)),
            _ => Ok(()),
        }
    }

    fn unknown(&self, record: &Record, name: &ExtractorName) -> BundleError {
        VersionError::unknown(&self.root, name, record.names()).into()
    }

    /// The version of an extractor whose fingerprint begins so.
    fn find(
        &self,
        record: &Record,
        name: &ExtractorName,
        version: &str,
    ) -> Result<(Digest, Manifest), BundleError> {
        let catalog = Catalog::of(&self.disk, &self.root, record)?;
        let found = catalog.version(&self.root, name, version)?;
        let missing = || VersionError::Missing { path: found.path.clone() };
        Ok((found.fingerprint, found.manifest.clone().ok_or_else(missing)?))
    }
}

/// The record of a directory, or the one that it would begin with, which names all bundles in it; and whether it is that.
pub(super) fn record_of(
    disk: &CapDisk,
    root: &Path,
    now: jiff::Timestamp,
) -> Result<(Record, bool), BundleError> {
    if let Some(record) = disk.record(root)? {
        return Ok((record, false));
    }
    let mut found: BTreeMap<ExtractorName, Vec<Digest>> = BTreeMap::new();
    for (directory, version) in bundle_names(disk, root)? {
        if let (Some(version), Some(manifest)) = (version, disk.manifest(&directory)) {
            found.entry(manifest.name()).or_default().push(version);
        }
    }
    let mut record = Record::empty();
    for (name, versions) in found {
        record.activate(&name, Activation::new(versions, now, FOUND));
    }
    Ok((record, true))
}

/// What could be bundles in a directory, in the order of their names; and the version that a name stands for.
pub(super) fn bundle_names(
    disk: &CapDisk,
    root: &Path,
) -> Result<Vec<(String, Option<Digest>)>, BundleError> {
    let names = disk.names();
    let mut names =
        names.map_err(|source| write_error(root, "list the directory of bundles", source))?;
    names.retain(|name| !name.starts_with('.'));
    names.sort_unstable();
    let versioned = |name: String| {
        let version = name.parse().ok();
        (name, version)
    };
    Ok(names.into_iter().map(versioned).collect())
}

/// Notes that these versions, by their names in the directory, are served no more.
fn give_way(
    record: &mut Record,
    versions: &[(String, Manifest, String)],
    at: jiff::Timestamp,
    by: &str,
) {
    for (found, manifest, _) in versions {
        let (version, name) = (found.parse::<Digest>().ok(), manifest.name());
        let rest = record.current(&name).iter().filter(|it| Some(**it) != version);
        let rest = Activation::new(rest.copied().collect(), at, by);
        record.activate(&name, rest);
    }
}

/// Whether a bundle of another extractor may serve an event type together with one of this name.
fn is_shared(
    record: &Record,
    name: &ExtractorName,
    (_, other, _): &(String, Manifest, String),
) -> bool {
    record.sharing != Sharing::Off && other.name() != *name
}

/// Whether a bundle is what its extractor was before it was given a name: of the same function, and itself without one.
fn is_before_its_name(unnamed: &Manifest, named: &Manifest) -> bool {
    named.has_own_name()
        && !unnamed.has_own_name()
        && unnamed.function_name() == named.function_name()
        && unnamed.fingerprint().parse::<Digest>().is_ok()
}

/// An event type that both declare.
fn shared_type(one: &Manifest, other: &Manifest) -> Option<String> {
    one.event_types().iter().find(|it| other.event_types().contains(it)).cloned()
}

/// Puts the record in its place: it is written beside it, flushed, and renamed.
pub(super) fn write(disk: &impl super::disk::Disk, text: &str) -> Result<(), StoreFailure> {
    recover(disk).map_err(failed("", "clear away what a crashed writer left"))?;
    let staging = format!("{STAGING}record");
    let staged = format!("{staging}/{RECORD_FILE}");
    let placed = disk
        .create_dir(&staging)
        .and_then(|()| disk.write_file(&staging, RECORD_FILE, text.as_bytes()))
        .and_then(|()| disk.sync_file(&staging, RECORD_FILE))
        .and_then(|()| disk.rename(&staged, RECORD_FILE));
    // The failure at hand is the one to report; what can't be removed now is removed by the next writer.
    let _ = disk.remove(&staging);
    placed.map_err(failed(RECORD_FILE, "write the record of what is active"))?;
    disk.sync_root().map_err(failed("", "flush the directory of bundles"))
}
