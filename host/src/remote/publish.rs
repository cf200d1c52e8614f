//! From a directory of bundles to a store.

use std::collections::BTreeSet;
use std::path::Path;

use super::Remote;
use super::activation::PublishedActivation;
use super::error::RemoteError;
use super::key::SigningKey;
use crate::bundle::pipeline::{Bundle, Pipeline};
use crate::bundle::{
    BundleError, Catalog, CatalogEntry, Digest, Expect, ExtractorName, Part, VersionState, load,
};

/// How a directory is published.
#[derive(Debug)]
pub struct Publishing<'a> {
    /// Through which every bundle goes before.
    pub gates: &'a Pipeline,
    /// What is signed with; nothing is where there is none.
    pub key: Option<&'a SigningKey>,
    /// The extractors; all that the directory knows where none is named.
    pub names: &'a BTreeSet<ExtractorName>,
    /// The time that is noted.
    pub at: jiff::Timestamp,
    /// The command that is noted.
    pub by: &'a str,
}

/// What came of publishing an extractor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Published {
    /// The extractor.
    pub name: ExtractorName,
    /// What is to be served of it from now on; nothing where it was retired.
    pub versions: Vec<Digest>,
    /// Those that weren't in the store.
    pub uploaded: Vec<Digest>,
    /// Whether that is anything else than before.
    pub is_changed: bool,
}

impl Remote {
    /// Publishes what is active in a directory: what the store doesn't have of it, and then, extractor by extractor, that it is to be
    /// served. What is retired in the directory is to be served no more. Extractors that the directory doesn't know stay as they are.
    ///
    /// # Errors
    /// The first [`RemoteError`]. What was published before it is; nothing is to be served that isn't whole in the store.
    pub async fn publish(
        &self,
        dir: &Path,
        options: &Publishing<'_>,
    ) -> Result<Vec<Published>, RemoteError> {
        let catalog = Catalog::read(dir)?;
        for name in options.names {
            catalog.entry(dir, name).map_err(BundleError::from)?;
        }
        let is_wanted =
            |it: &&CatalogEntry| options.names.is_empty() || options.names.contains(&it.name);
        let mut published = Vec::new();
        for entry in catalog.extractors.iter().filter(is_wanted) {
            published.extend(self.publish_one(entry, options).await?);
        }
        Ok(published)
    }

    async fn publish_one(
        &self,
        entry: &CatalogEntry,
        options: &Publishing<'_>,
    ) -> Result<Option<Published>, RemoteError> {
        let mut uploaded = Vec::new();
        let active = entry.versions.iter().filter(|it| it.state == VersionState::Active);
        let mut versions = Vec::new();
        for version in active {
            let digits = version.fingerprint.to_string();
            let expect = Expect { fingerprint: Some(&digits), ..Expect::default() };
            let bundle = load(&version.path, &expect, options.gates)?;
            if self.upload(&bundle).await? {
                uploaded.push(version.fingerprint);
            }
            versions.push(version.fingerprint);
        }
        versions.sort_unstable();
        let Publishing { at, by, key, .. } = *options;
        let activation = PublishedActivation::new(&entry.name, &versions, at, by, key);
        let name = entry.name.clone();
        let before = self.read_activation(&self.activation(&name)).await?;
        let is_changed = match &before {
            // What was never active is nothing to tell of.
            None => !versions.is_empty(),
            Some(before) => !activation.says_the_same(before),
        };
        if is_changed {
            self.write_activation(&activation).await?;
            // Whoever removes what nobody serves may have looked in between.
            for version in &versions {
                if !self.has(&self.manifest(*version)).await? {
                    let path = entry.versions.iter().find(|it| it.fingerprint == *version);
                    let Some(path) = path.map(|it| &it.path) else { continue };
                    self.upload(&load(path, &Expect::default(), options.gates)?).await?;
                }
            }
        }
        let is_known = before.is_some() || is_changed;
        Ok(is_known.then_some(Published { name, versions, uploaded, is_changed }))
    }

    /// Uploads a bundle that the store doesn't have. Whether it had to.
    async fn upload(&self, bundle: &Bundle) -> Result<bool, RemoteError> {
        let version = bundle.fingerprint();
        if self.has(&self.manifest(version)).await? {
            return Ok(false);
        }
        for part in Part::ALL {
            if let Some(bytes) = bundle.read(part)? {
                let name = part.file_name(bundle.manifest().module_name());
                self.put(&self.file(version, &name), bytes).await?;
            }
        }
        self.put(&self.manifest(version), bundle.manifest().to_json().into_bytes()).await?;
        Ok(true)
    }
}
