//! The bundle that a compilation ends with.

use retort::bundle::Store;
use retort::bundle::pipeline::{Accepted, Pipeline, StageTime, Stored};
use serde::Serialize;

use crate::cli::error::CliError;
use crate::cli::output;
use crate::cli::project::Project;

/// A bundle in a report.
#[derive(Serialize)]
pub(super) struct BundleReport {
    path: String,
    fingerprint: String,
    cached: bool,
}

impl From<&Stored> for BundleReport {
    fn from(stored: &Stored) -> Self {
        Self {
            path: stored.path.display().to_string(),
            fingerprint: stored.fingerprint.to_string(),
            cached: stored.cache_hit,
        }
    }
}

/// Puts the bundle on disk. A directory that can't be written says nothing about the plan: it is wrong input.
pub(super) fn store(
    project: &Project,
    pipeline: &Pipeline,
    accepted: &Accepted,
    watch: &mut dyn FnMut(StageTime),
) -> Result<Stored, CliError> {
    project.inputs().guard_store(&project.out)?;
    let store = Store::open(&project.out).map_err(CliError::refused)?;
    let stored = pipeline.store(accepted, &store, jiff::Timestamp::now(), watch);
    stored.map_err(CliError::refused)
}

/// The bundle's path on stdout, for people and shells.
pub(super) fn print_path(stored: &Stored) -> Result<(), CliError> {
    if stored.cache_hit {
        output::note("the bundle was there already (cached)");
    }
    output::write(&format!("{}\n", stored.path.display()))
}
