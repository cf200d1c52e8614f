//! The bundle that a compilation ends with.

use retort::bundle::{Stored, Storing};
use retort::{Accepted, Store};
use serde::Serialize;

use super::KeepArg;
use crate::cli::error::CliError;
use crate::cli::files;
use crate::cli::output;
use crate::cli::project::Project;

/// A bundle in a report.
#[derive(Serialize)]
pub(super) struct BundleReport {
    path: String,
    fingerprint: String,
    cached: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    replaced: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    colliding: Vec<String>,
}

impl From<&Stored> for BundleReport {
    fn from(stored: &Stored) -> Self {
        Self {
            path: stored.path.display().to_string(),
            fingerprint: stored.fingerprint.to_string(),
            cached: stored.cache_hit,
            replaced: stored.others.replaced.iter().map(|path| files::name(path)).collect(),
            colliding: stored.others.colliding.iter().map(|path| files::name(path)).collect(),
        }
    }
}

/// Puts the bundle on disk. A directory that can't be written says nothing about the plan: it is wrong input.
pub(super) fn store(
    project: &Project,
    keep: KeepArg,
    accepted: &Accepted,
) -> Result<Stored, CliError> {
    project.inputs().guard_store(&project.out)?;
    let mut store = Store::open(&project.out).map_err(CliError::refused)?;
    if keep.keep {
        store = store.keeping_earlier();
    }
    let storing = Storing::at(jiff::Timestamp::now()).name(project.name().cloned());
    accepted.store(&store, storing).map_err(CliError::refused)
}

/// The bundle's path on stdout, for people and shells.
pub(super) fn print_path(stored: &Stored) -> Result<(), CliError> {
    if stored.cache_hit {
        output::note("the bundle was there already (cached)");
    }
    for path in &stored.others.replaced {
        output::note(format_args!("it takes the place of {}", files::name(path)));
    }
    for path in &stored.others.colliding {
        let path = files::name(path);
        output::note(format_args!(
            "{path} declares an event type of it as well, which neither of them will serve: remove one, or give both plans the same function_name"
        ));
    }
    output::write(&format!("{}\n", stored.path.display()))
}
