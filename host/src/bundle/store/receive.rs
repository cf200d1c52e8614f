//! Taking bundles in that were made elsewhere.

use std::collections::BTreeMap;

use super::disk::Disk as _;
use super::{STAGING, Store, StoreFailure, failed, recover, replace, stage_files};
use crate::bundle::digest::Digest;
use crate::bundle::error::{BundleError, BundleLoadError};
use crate::bundle::load::{Expect, ModuleGate, load, load_unsaid};

/// Why a bundle wasn't taken in.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReceiveError {
    /// It isn't what it should be, or a gate refuses it.
    #[error(transparent)]
    Load(#[from] BundleLoadError),
    /// The directory can't be written.
    #[error(transparent)]
    Store(#[from] BundleError),
}

impl Store {
    /// Takes a bundle in, of which nothing is known: its files, the manifest among them, by their names. They go through every gate
    /// where they are staged, before the bundle has its name. Nothing is activated. Whether it is new.
    ///
    /// # Errors
    /// [`ReceiveError`]. The directory holds what it held before.
    pub(crate) fn receive(
        &self,
        version: Digest,
        files: &BTreeMap<String, Vec<u8>>,
        gates: &impl ModuleGate,
        at: jiff::Timestamp,
    ) -> Result<bool, ReceiveError> {
        let target = version.to_string();
        let expect = Expect { fingerprint: Some(&target), ..Expect::default() };
        let _lock = self.lock()?;
        // The record comes first: what it doesn't name isn't served.
        let (record, is_new) = self.record(at)?;
        if is_new {
            self.write(&record)?;
        }
        let write_failed = |failure: StoreFailure| ReceiveError::Store(self.write_failed(failure));
        recover(&self.disk)
            .map_err(failed("", "clear away what a crashed writer left"))
            .map_err(write_failed)?;
        let exists = self.disk.exists(&target);
        let is_there =
            exists.map_err(failed(&target, "look for an earlier bundle")).map_err(write_failed)?;
        if is_there && load_unsaid(&self.path_of(version), &expect, gates).is_ok() {
            return Ok(false);
        }
        let staging = format!("{STAGING}{target}");
        let received = stage_files(
            &self.disk,
            &staging,
            files.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice())),
        )
        .map_err(write_failed)
        .and_then(|()| {
            load(&self.root.join(&staging), &expect, gates)?;
            let aside = replace(&self.disk, &staging, is_there, &target);
            aside.map_err(write_failed)
        });
        let aside = received.inspect_err(|_| {
            // The failure at hand is the one to report; what can't be removed now is removed by the next writer.
            let _ = self.disk.remove(&staging);
        })?;
        let synced = self.disk.sync_root();
        synced.map_err(failed("", "flush the directory of bundles")).map_err(write_failed)?;
        if let Some(name) = aside {
            // The new bundle is stored whether or not this succeeds.
            let _ = self.disk.remove(&name);
        }
        Ok(true)
    }
}
