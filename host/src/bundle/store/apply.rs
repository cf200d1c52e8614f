//! Serving what was decided elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use super::Store;
use super::disk::Disk as _;
use super::switch::bundle_names;
use crate::bundle::digest::Digest;
use crate::bundle::error::{BundleError, VersionError};
use crate::bundle::name::ExtractorName;
use crate::bundle::record::Activation;
use crate::bundle::sharing::Sharing;

/// What came of changes that were decided elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Applied {
    /// The extractors of which something else is served now.
    pub(crate) changed: BTreeSet<ExtractorName>,
    /// Those of which the same is served as before, and why.
    pub(crate) refused: BTreeMap<ExtractorName, VersionError>,
}

impl Store {
    /// Serves of these extractors what was decided elsewhere, all of it in one step. What would take an event type from another
    /// extractor is left as it was, and so is what has a version that isn't there.
    ///
    /// # Errors
    /// [`BundleError`], and the same is served as before.
    pub(crate) fn apply(
        &self,
        changes: &BTreeMap<ExtractorName, Activation>,
        at: jiff::Timestamp,
    ) -> Result<Applied, BundleError> {
        let _lock = self.lock()?;
        let (before, is_new) = self.record(at)?;
        let mut applied = Applied::default();
        let mut types: BTreeMap<Digest, Vec<String>> = BTreeMap::new();
        let mut standing = Vec::new();
        for (found, version) in bundle_names(&self.disk, &self.root)? {
            let Some(manifest) = self.disk.manifest(&found) else { continue };
            match version {
                Some(version) => _ = types.insert(version, manifest.event_types().to_vec()),
                None => standing.push((manifest.name(), manifest.event_types().to_vec())),
            }
        }
        for (name, activation) in changes {
            if let Some(missing) = activation.versions.iter().find(|it| !types.contains_key(it)) {
                let missing = VersionError::Missing { path: self.path_of(*missing) };
                applied.refused.insert(name.clone(), missing);
            }
        }
        // What is refused leaves an extractor as it was, which may stand in the way of another one.
        let record = loop {
            let mut record = before.clone();
            applied.changed.clear();
            for (name, activation) in changes {
                if !applied.refused.contains_key(name) && record.activate(name, activation.clone())
                {
                    applied.changed.insert(name.clone());
                }
            }
            if record.sharing != Sharing::Off {
                break record;
            }
            let mut served: BTreeMap<&str, &ExtractorName> = BTreeMap::new();
            let own = record.names().flat_map(|name| {
                let versions = record.current(name).iter();
                versions.filter_map(|it| types.get(it)).map(move |types| (name, types))
            });
            let standing = standing.iter().map(|(name, types)| (name, types));
            let mut refused = None;
            'all: for (name, types) in standing.chain(own) {
                for event_type in types {
                    let Some(other) = served.insert(event_type, name) else { continue };
                    let (new, old) = match applied.changed.contains(name) {
                        true => (name, other),
                        false => (other, name),
                    };
                    if new != old && applied.changed.contains(new) {
                        let path = self.root.clone();
                        let (name, event_type) = (old.clone(), event_type.clone());
                        refused =
                            Some((new.clone(), VersionError::Taken { path, name, event_type }));
                        break 'all;
                    }
                }
            }
            let Some((name, error)) = refused else { break record };
            applied.refused.insert(name, error);
        };
        if is_new || !applied.changed.is_empty() {
            self.write(&record)?;
        }
        Ok(applied)
    }
}
