//! The bundle that a compilation ends with.

use retort::bundle::{Stored, Storing};
use retort::internal::codes::EVENT_TYPE_TAKEN;
use retort::{Accepted, Store};
use serde::Serialize;

use super::ActivationArg;
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
    name: String,
    active: bool,
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
            name: stored.manifest.name().to_string(),
            active: stored.is_active,
            replaced: stored.others.replaced.iter().map(|path| files::name(path)).collect(),
            colliding: stored.others.colliding.iter().map(|path| files::name(path)).collect(),
        }
    }
}

/// Puts the bundle on disk. A directory that can't be written says nothing about the plan: it is wrong input.
pub(super) fn store(
    project: &Project,
    activation: ActivationArg,
    accepted: &Accepted,
) -> Result<Stored, CliError> {
    project.inputs().guard_store(&project.out)?;
    let store = Store::open(&project.out).map_err(CliError::refused)?;
    let storing = Storing::at(jiff::Timestamp::now())
        .name(project.name().cloned())
        .activate(!activation.no_activate)
        .by("retort compile");
    accepted.store(&store, storing).map_err(CliError::refused)
}

/// Whether the bundle is served, if it was to be.
pub(super) fn is_as_asked(stored: &Stored) -> bool {
    stored.others.colliding.is_empty()
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
        output::coded(
            EVENT_TYPE_TAKEN.name,
            format_args!(
                "{path} serves an event type of it, and neither would be served then: the bundle is stored, and isn't active. Give both the same name, or let this one take over by `retort bundles activate --replace`"
            ),
        );
    }
    output::write(&format!("{}\n", stored.path.display()))
}
