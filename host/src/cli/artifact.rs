//! What commands are pointed at: a bundle, a module, its text, or a plan.

use std::path::Path;

use retort::diagnostics::{Problem, Stage};
use retort::internal::document::DocumentKind;
use retort::{Coded, bundle};

use super::error::CliError;
use super::files;

/// What a path names, with what is in it where that is one file.
pub(super) enum Artifact {
    Bundle,
    Module(Vec<u8>),
    Text(String),
    Plan(String),
}

impl Artifact {
    pub(super) fn read(path: &Path) -> Result<Self, CliError> {
        if path.is_dir() {
            return Ok(Self::Bundle);
        }
        files::probe(path, "a bundle, a module, a WAT file or a plan")?;
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("wasm") => files::read(path, DocumentKind::Module).map(Self::Module),
            Some("wat") => files::read_text(path, DocumentKind::Wat).map(Self::Text),
            Some("json") => files::read_text(path, DocumentKind::Plan).map(Self::Plan),
            _ => Err(CliError::UnknownArtifact(path.to_owned())),
        }
    }
}

/// Why a bundle isn't loaded, with the file at fault.
pub(super) fn bundle_problem(error: &bundle::BundleLoadError) -> Problem {
    Problem::new(Stage::Bundle, error.entry(), error.detail()).at(error.place())
}
