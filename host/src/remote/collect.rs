//! Removing what nobody is to serve any more.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::TryStreamExt as _;
use object_store::ObjectStoreExt as _;
use object_store::path::Path;

use super::Remote;
use super::error::RemoteError;
use crate::bundle::{Digest, MANIFEST_FILE};

/// The objects of a version.
#[derive(Default)]
struct Stored {
    objects: Vec<Path>,
    /// When the last of them was written, in seconds.
    written: i64,
}

impl Remote {
    /// Removes bundles that no extractor is to be served with and whose last object is older than `age`, half-uploaded ones among them. A
    /// version that is published again is uploaded again.
    ///
    /// # Errors
    /// [`RemoteError`]. Where an activation can't be read, nothing is removed.
    pub async fn collect(
        &self,
        age: Duration,
        now: jiff::Timestamp,
    ) -> Result<Vec<Digest>, RemoteError> {
        let mut versions: BTreeMap<Digest, Stored> = BTreeMap::new();
        let bundles = self.bundles();
        let mut listed = self.store.list(Some(&bundles));
        while let Some(object) =
            listed.try_next().await.map_err(self.failed(&bundles, "list it"))?
        {
            let version = object.location.parts().rev().nth(1);
            let Some(version) = version.and_then(|it| it.as_ref().parse::<Digest>().ok()) else {
                continue;
            };
            let stored = versions.entry(version).or_default();
            stored.written = stored.written.max(object.last_modified.timestamp());
            stored.objects.push(object.location);
        }
        drop(listed);
        // After the listing: what is published in between is younger than that.
        let mut active = BTreeSet::new();
        for path in self.activations().await? {
            active
                .extend(self.read_activation(&path).await?.into_iter().flat_map(|it| it.versions));
        }
        let age = i64::try_from(age.as_secs()).unwrap_or(i64::MAX);
        let oldest = now.as_second().saturating_sub(age);
        let is_gone =
            |(version, it): &(Digest, Stored)| !active.contains(version) && it.written < oldest;
        let mut removed = Vec::new();
        for (version, mut stored) in versions.into_iter().filter(is_gone) {
            // First what says that it is whole.
            stored.objects.sort_by_key(|it| it.filename() != Some(MANIFEST_FILE));
            for path in &stored.objects {
                match self.store.delete(path).await {
                    Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                    Err(error) => return Err(self.failed(path, "remove it")(error)),
                }
            }
            removed.push(version);
        }
        Ok(removed)
    }
}
