//! Takes up what changes on disk.

use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tracing::info;

use super::file::Source;
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

/// What was seen of everything that is looked at.
#[derive(Debug)]
struct Seen {
    /// The configuration, and the policies, the certificate and the key that it names.
    files: Vec<(PathBuf, Stamp)>,
    /// Directories of bundles, by tenant.
    bundles: HashMap<String, Vec<[Stamp; 2]>>,
}

/// Looks for changes until it is given up.
pub(super) async fn watch(state: Arc<State>) {
    let mut seen = Seen { files: files(&state), bundles: HashMap::new() };
    seen.look(&state);
    loop {
        tokio::time::sleep(EVERY).await;
        let state = Arc::clone(&state);
        // Files are read where something has changed.
        let looked = tokio::task::spawn_blocking(move || {
            seen.take_up(&state);
            seen
        });
        let Ok(looked) = looked.await else { return };
        seen = looked;
    }
}

impl Seen {
    fn take_up(&mut self, state: &State) {
        // As they are before they are read: what changes meanwhile is seen the next time.
        let files = files(state);
        if self.files != files {
            state.reload();
            self.files = files;
        }
        for name in self.look(state) {
            refresh(state, &name);
        }
    }

    /// Notes how everything is, and gives the tenants whose directories aren't as they were.
    fn look(&mut self, state: &State) -> Vec<String> {
        let config = state.config();
        let mut changed = Vec::new();
        for (name, tenant) in &config.tenants {
            let stamps: Vec<_> = tenant.bundles.iter().map(|root| directory_stamp(root)).collect();
            if self.bundles.get(name).is_some_and(|before| *before != stamps) {
                changed.push(name.clone());
            }
            self.bundles.insert(name.clone(), stamps);
        }
        self.bundles.retain(|name, _| config.tenants.contains_key(name));
        changed
    }
}

/// The files of the configuration, as they are.
fn files(state: &State) -> Vec<(PathBuf, Stamp)> {
    let Source::File { path, .. } = state.source() else { return Vec::new() };
    let config = state.config();
    let policies = config.tenants.values().filter_map(|tenant| tenant.policy_path.as_ref());
    let tls = config.tls.iter().flat_map(|tls| [&tls.files.certificate, &tls.files.key]);
    std::iter::once(path)
        .chain(policies)
        .chain(tls)
        .map(|path| (path.clone(), stamp(path)))
        .collect()
}

fn refresh(state: &State, name: &str) {
    let Ok(tenant) = state.host.tenant(name) else { return };
    if tenant.refresh().is_ok() {
        info!(tenant = name, "its bundles were looked over again");
        tell_failures(&tenant);
    }
}
