//! Takes up what changes on disk.

use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tracing::info;

use super::state::{State, tell_failures};
use crate::bundle::RECORD_FILE;

/// How often it is looked.
const EVERY: Duration = Duration::from_secs(1);

/// What tells a file that was put in the place of another from that.
type Stamp = Option<(u64, i64, i64, u64)>;

fn stamp(path: &Path) -> Stamp {
    let of = |found: Metadata| (found.ino(), found.mtime(), found.mtime_nsec(), found.size());
    std::fs::metadata(path).ok().map(of)
}

/// A directory of bundles, as far as it shows without being read: its record, and what is in it.
fn directory_stamp(root: &Path) -> [Stamp; 2] {
    [stamp(root), stamp(&root.join(RECORD_FILE))]
}

/// Looks for changes until it is given up.
pub(super) async fn watch(state: Arc<State>) {
    let mut seen = HashMap::new();
    look(&state, &mut seen);
    loop {
        tokio::time::sleep(EVERY).await;
        let looking = (Arc::clone(&state), std::mem::take(&mut seen));
        // Bundles are read where something has changed.
        let looked = tokio::task::spawn_blocking(move || {
            let (state, mut seen) = looking;
            for name in look(&state, &mut seen) {
                refresh(&state, &name);
            }
            seen
        });
        let Ok(looked) = looked.await else { return };
        seen = looked;
    }
}

/// The tenants whose directories aren't as they were.
fn look(state: &State, seen: &mut HashMap<String, Vec<[Stamp; 2]>>) -> Vec<String> {
    let config = state.config();
    let mut changed = Vec::new();
    for (name, tenant) in &config.tenants {
        let stamps: Vec<_> = tenant.bundles.iter().map(|root| directory_stamp(root)).collect();
        if seen.get(name).is_some_and(|before| *before != stamps) {
            changed.push(name.clone());
        }
        seen.insert(name.clone(), stamps);
    }
    seen.retain(|name, _| config.tenants.contains_key(name));
    changed
}

fn refresh(state: &State, name: &str) {
    let Ok(tenant) = state.host.tenant(name) else { return };
    if tenant.refresh().is_ok() {
        info!(tenant = name, "its bundles were looked over again");
        tell_failures(&tenant);
    }
}
