//! What lies in a directory of bundles: names, their versions, and which of them are served.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::disk::{CapDisk, Disk as _};
use super::switch::{MIN_VERSION_DIGITS, bundle_names, record_of};
use super::write_error;
use crate::bundle::digest::Digest;
use crate::bundle::error::{BundleError, VersionError};
use crate::bundle::manifest::Manifest;
use crate::bundle::name::ExtractorName;
use crate::bundle::record::{Activation, Record};
use crate::bundle::sharing::Sharing;

/// What lies in a directory of bundles.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Catalog {
    /// Whether the directory has a record. One without serves all that is in it.
    pub has_record: bool,
    /// What becomes of event types that active versions of several extractors declare.
    pub sharing: Sharing,
    /// The extractors, in the order of their names.
    pub extractors: Vec<CatalogEntry>,
    /// What is in the place of a version, and has no manifest that can be read.
    pub unreadable: Vec<PathBuf>,
}

/// An extractor of a directory.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CatalogEntry {
    /// Its name.
    pub name: ExtractorName,
    /// What was served of it, the last of them now; none where no version was ever activated.
    pub activations: Vec<Activation>,
    /// Its versions, the active ones first, then by when they were made, the latest first.
    pub versions: Vec<Version>,
}

/// A version of an extractor.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Version {
    /// Its fingerprint.
    pub fingerprint: Digest,
    /// Its directory.
    pub path: PathBuf,
    /// Whether it is served, or was.
    pub state: VersionState,
    /// What it says of itself; `None` where it isn't there, or can't be read.
    pub manifest: Option<Manifest>,
}

/// Whether a version is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "serve", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum VersionState {
    /// It is.
    Active,
    /// It was, and the record knows of it.
    Earlier,
    /// It is there, and nothing else is known.
    Stored,
}

impl VersionState {
    /// The name used in reports, the same as the serialised form.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Earlier => "earlier",
            Self::Stored => "stored",
        }
    }
}

impl Catalog {
    /// Looks over the directory `root`, by its record and the manifests in it alone. Nothing is written.
    ///
    /// # Errors
    /// [`BundleError::Record`] for a record that isn't one; [`BundleError::Write`] if the directory cannot be read.
    pub fn read(root: &Path) -> Result<Self, BundleError> {
        let disk = CapDisk::open(root)
            .map_err(|source| write_error(root, "open the directory of bundles", source))?;
        let (record, is_new) = record_of(&disk, root, jiff::Timestamp::UNIX_EPOCH)?;
        Ok(Self { has_record: !is_new, ..Self::of(&disk, root, &record)? })
    }

    /// The same of an open directory with this record.
    pub(super) fn of(disk: &CapDisk, root: &Path, record: &Record) -> Result<Self, BundleError> {
        let mut unreadable = Vec::new();
        let mut versions: BTreeMap<ExtractorName, BTreeMap<Digest, Option<Manifest>>> =
            BTreeMap::new();
        for name in record.names() {
            let known = record.activations(name).iter().flat_map(|it| &it.versions);
            versions.insert(name.clone(), known.map(|version| (*version, None)).collect());
        }
        for (directory, version) in bundle_names(disk, root)? {
            let Some(version) = version else { continue };
            match disk.manifest(&directory) {
                Some(manifest) => {
                    let of_name = versions.entry(manifest.name()).or_default();
                    of_name.insert(version, Some(manifest));
                }
                None => unreadable.push(root.join(directory)),
            }
        }
        let entry = |(name, found): (ExtractorName, BTreeMap<Digest, Option<Manifest>>)| {
            let activations = record.activations(&name).to_vec();
            let version = |(fingerprint, manifest): (Digest, _)| {
                let state = state_of(fingerprint, &activations);
                let path = root.join(fingerprint.to_string());
                Version { fingerprint, path, state, manifest }
            };
            let mut versions: Vec<Version> = found.into_iter().map(version).collect();
            versions.sort_by(|one, other| {
                one.state.cmp(&other.state).then_with(|| made(other).cmp(&made(one)))
            });
            CatalogEntry { name, activations, versions }
        };
        let extractors = versions.into_iter().map(entry).collect();
        Ok(Self { has_record: true, sharing: record.sharing, extractors, unreadable })
    }

    /// The extractor of this name in the directory, which was read.
    ///
    /// # Errors
    /// [`VersionError::NameUnknown`].
    pub fn entry(&self, root: &Path, name: &ExtractorName) -> Result<&CatalogEntry, VersionError> {
        let found = self.extractors.iter().find(|it| it.name == *name);
        let known = self.extractors.iter().map(|it| &it.name);
        found.ok_or_else(|| VersionError::unknown(root, name, known))
    }

    /// The one version of an extractor that is there and begins with these digits, of which there are four at least.
    ///
    /// # Errors
    /// [`VersionError::NameUnknown`] and [`VersionError::VersionUnknown`].
    pub fn version(
        &self,
        root: &Path,
        name: &ExtractorName,
        digits: &str,
    ) -> Result<&Version, VersionError> {
        let is_meant = |it: &&Version| {
            it.manifest.is_some()
                && digits.len() >= MIN_VERSION_DIGITS
                && it.fingerprint.to_string().starts_with(digits)
        };
        let mut found = self.entry(root, name)?.versions.iter().filter(is_meant);
        match (found.next(), found.count()) {
            (Some(only), 0) => Ok(only),
            (first, others) => Err(VersionError::VersionUnknown {
                root: root.to_owned(),
                name: name.clone(),
                version: digits.to_owned(),
                found: usize::from(first.is_some()) + others,
            }),
        }
    }
}

fn made(version: &Version) -> Option<&str> {
    version.manifest.as_ref().map(Manifest::created_at)
}

fn state_of(version: Digest, activations: &[Activation]) -> VersionState {
    let names = |it: &Activation| it.versions.contains(&version);
    match activations.last() {
        Some(last) if names(last) => VersionState::Active,
        _ if activations.iter().any(names) => VersionState::Earlier,
        _ => VersionState::Stored,
    }
}
