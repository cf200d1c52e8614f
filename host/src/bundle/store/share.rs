//! Whether several extractors of a directory may serve an event type.

use std::collections::BTreeMap;

use super::Store;
use super::disk::Disk as _;
use super::switch::bundle_names;
use crate::bundle::error::{BundleError, VersionError};
use crate::bundle::name::ExtractorName;
use crate::bundle::record::Record;
use crate::bundle::sharing::Sharing;

impl Store {
    /// What becomes from now on of event types that active versions of several extractors declare; and what did so far.
    ///
    /// # Errors
    /// [`BundleError::Version`] where event types were to have one extractor each, and several serve one; and as for
    /// [`activate`](Self::activate).
    pub fn share(&self, sharing: Sharing, at: jiff::Timestamp) -> Result<Sharing, BundleError> {
        let _lock = self.lock()?;
        let (mut record, _) = self.record(at)?;
        if sharing == Sharing::Off {
            self.require_unshared(&record)?;
        }
        let before = std::mem::replace(&mut record.sharing, sharing);
        if before != sharing {
            self.write(&record)?;
        }
        Ok(before)
    }

    fn require_unshared(&self, record: &Record) -> Result<(), BundleError> {
        let active = record.active();
        let mut served: BTreeMap<String, ExtractorName> = BTreeMap::new();
        for (found, version) in bundle_names(&self.disk, &self.root)? {
            if version.is_some_and(|version| !active.contains(&version)) {
                continue;
            }
            let Some(manifest) = self.disk.manifest(&found) else { continue };
            for event_type in manifest.event_types() {
                let name = manifest.name();
                match served.insert(event_type.clone(), name.clone()) {
                    Some(other) if other != name => {
                        return Err(VersionError::Shared {
                            root: self.root.clone(),
                            names: [other, name],
                            event_type: event_type.clone(),
                        }
                        .into());
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}
