//! What commands are pointed at: a bundle, a module, its text, or a plan.

use std::path::Path;

use retort::bundle;
use retort::diagnostics::problem::{Coded, Problem, Stage};

use super::error::CliError;
use super::files;

/// What is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Artifact {
    Bundle,
    Module,
    Text,
    Plan,
}

impl Artifact {
    /// What a path names.
    pub(super) fn of(path: &Path) -> Result<Self, CliError> {
        if path.is_dir() {
            return Ok(Self::Bundle);
        }
        files::probe(path, "a bundle, a module, a WAT file or a plan")?;
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("wasm") => Ok(Self::Module),
            Some("wat") => Ok(Self::Text),
            Some("json") => Ok(Self::Plan),
            _ => Err(CliError::UnknownArtifact(path.to_owned())),
        }
    }
}

/// Why a bundle isn't loaded, with the file at fault.
pub(super) fn bundle_problem(error: &bundle::BundleLoadError) -> Problem {
    Problem::new(Stage::Bundle, error.entry(), error.detail()).at(error.place())
}
