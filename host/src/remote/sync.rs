//! From a store to a directory of bundles.

use std::collections::{BTreeMap, BTreeSet};

use super::Remote;
use super::activation::PublishedActivation;
use super::error::RemoteError;
use super::key::TrustedKey;
use crate::bundle::pipeline::Pipeline;
use crate::bundle::{
    BundleError, Catalog, Digest, ExtractorName, MANIFEST_FILE, MAX_MANIFEST_BYTES, Manifest, Part,
    Store,
};

/// How a directory takes what is published.
#[derive(Debug)]
pub struct Syncing<'a> {
    /// Through which every bundle goes.
    pub gates: &'a Pipeline,
    /// Who may say what is served. Everybody who can write to the store, where there is none.
    pub trusted: &'a [TrustedKey],
    /// The time of the directory's first record, where it has none.
    pub at: jiff::Timestamp,
}

/// What came of taking what is published.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Synced {
    /// Versions that weren't there, in order.
    pub received: Vec<Digest>,
    /// Extractors of which something else is served now.
    pub changed: BTreeSet<ExtractorName>,
    /// Extractors of which something else is served than is published, since that was changed in the directory later.
    pub changed_here: BTreeSet<ExtractorName>,
    /// What wasn't taken, and why: the rest is served all the same.
    pub refused: Vec<RemoteError>,
}

impl Synced {
    /// Whether nothing was to be done.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.received.is_empty() && self.changed.is_empty() && self.refused.is_empty()
    }
}

impl Remote {
    /// Takes what is published into a directory: the bundles that it doesn't have, each through every gate, and then, in one step, which
    /// versions are served. Extractors that the store doesn't know stay as they are. The later decision counts, that of the
    /// publisher or one in the directory.
    ///
    /// # Errors
    /// [`RemoteError`], where nothing can be listed or written. What is wrong with one extractor is no error: it stays as it was.
    pub async fn sync(&self, store: &Store, options: &Syncing<'_>) -> Result<Synced, RemoteError> {
        let mut synced = Synced::default();
        let catalog = Catalog::read(store.root())?;
        let mut changes = BTreeMap::new();
        for path in self.activations().await? {
            let found = match self.read_activation(&path).await {
                Ok(Some(found)) => found,
                // It was there when they were listed.
                Ok(None) => continue,
                Err(error) => {
                    synced.refused.push(error);
                    continue;
                }
            };
            let place = format!("{}/{path}", self.url);
            if let Err(error) = found.require_signature(options.trusted, &place) {
                synced.refused.push(error);
                continue;
            }
            let here = catalog.extractors.iter().find(|it| it.name == found.name);
            match here.and_then(|it| it.activations.last()) {
                Some(last) if last.versions == found.versions => continue,
                Some(last) if !found.is_later_than(&last.since) => {
                    synced.changed_here.insert(found.name);
                    continue;
                }
                None if found.versions.is_empty() => continue,
                _ => {}
            }
            match self.receive(store, &found, options, &mut synced.received).await {
                Ok(()) => _ = changes.insert(found.name.clone(), found.activation()),
                Err(error) => synced.refused.push(error),
            }
        }
        synced.received.sort_unstable();
        if changes.is_empty() {
            return Ok(synced);
        }
        let applied = store.apply(&changes, options.at)?;
        synced.changed = applied.changed;
        synced.refused.extend(applied.refused.into_values().map(BundleError::from).map(Into::into));
        Ok(synced)
    }

    /// Takes the versions of an activation in that the directory doesn't have.
    async fn receive(
        &self,
        store: &Store,
        activation: &PublishedActivation,
        options: &Syncing<'_>,
        received: &mut Vec<Digest>,
    ) -> Result<(), RemoteError> {
        for version in &activation.versions {
            if received.contains(version) || store.path_of(*version).join(MANIFEST_FILE).is_file() {
                continue;
            }
            let files = self.download(*version).await?;
            if store.receive(*version, &files, options.gates, options.at)? {
                received.push(*version);
            }
        }
        Ok(())
    }

    /// The files of a bundle, none larger than it may be. Whether they are that bundle's is for the gates to say.
    async fn download(&self, version: Digest) -> Result<BTreeMap<String, Vec<u8>>, RemoteError> {
        let invalid = |name: &str, message: String| RemoteError::Invalid {
            place: format!("{}/{}", self.url, self.file(version, name)),
            message,
        };
        let missing =
            |name: &str| invalid(name, "expected a file of a bundle, found none".to_owned());
        let text = self.get(&self.manifest(version), MAX_MANIFEST_BYTES).await?;
        let text = text.ok_or_else(|| missing(MANIFEST_FILE))?;
        let manifest = Manifest::from_json(&text)
            .map_err(|error| invalid(MANIFEST_FILE, format!("expected a manifest: {error}")))?;
        let mut files = BTreeMap::from([(MANIFEST_FILE.to_owned(), text.to_vec())]);
        for part in Part::ALL {
            let name = part.file_name(manifest.module_name());
            if !manifest.files().contains_key(&name) {
                continue;
            }
            let bytes = self.get(&self.file(version, &name), part.max_bytes()).await?;
            let bytes = bytes.ok_or_else(|| missing(&name))?;
            files.insert(name, bytes.to_vec());
        }
        Ok(files)
    }
}
