//! One thing after the other, for each tenant: who waits takes no thread of those that others need.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OwnedMutexGuard;

/// Who changes what of which tenant.
#[derive(Clone, Debug, Default)]
pub(in crate::service) struct Turns {
    uploading: Arc<Mutex<HashSet<String>>>,
    /// Of tenants that there are, or were.
    changing: Arc<Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>>,
}

/// That an upload of a tenant is under way, until this is dropped.
#[derive(Debug)]
pub(super) struct Uploading {
    turns: Turns,
    tenant: String,
}

/// Nothing panics while one of these is locked.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Turns {
    /// Begins an upload, of which a tenant has one at a time: each is held in memory.
    pub(super) fn upload(&self, tenant: &str) -> Option<Uploading> {
        let is_first = locked(&self.uploading).insert(tenant.to_owned());
        is_first.then(|| Uploading { turns: self.clone(), tenant: tenant.to_owned() })
    }

    /// Waits until nothing else is done with a tenant's directory.
    pub(super) async fn take(&self, tenant: &str) -> OwnedMutexGuard<()> {
        let turn = Arc::clone(locked(&self.changing).entry(tenant.to_owned()).or_default());
        turn.lock_owned().await
    }
}

impl Drop for Uploading {
    fn drop(&mut self) {
        locked(&self.turns.uploading).remove(&self.tenant);
    }
}
