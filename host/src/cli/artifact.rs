//! What commands are pointed at: a bundle, code, or a plan.

use std::path::Path;

use retort::bundle::Code;
use retort::diagnostics::{Problem, Stage};
use retort::internal::document::DocumentKind;
use retort::{Coded, bundle};

use super::error::CliError;
use super::files;

/// What a path names, with what is in it where that is one file.
pub(super) enum Artifact {
    Bundle,
    Code(CodeFile),
    Plan(String),
}

/// What a file holds that is an extractor but no plan.
pub(super) enum CodeFile {
    Rust(String),
    Text(String),
    Module(Vec<u8>),
}

impl Artifact {
    pub(super) fn read(path: &Path) -> Result<Self, CliError> {
        if path.is_dir() {
            return Ok(Self::Bundle);
        }
        files::probe(path, "a bundle, a module, a WAT file, Rust or a plan")?;
        if extension(path) == Some("json") {
            return files::read_text(path, DocumentKind::Plan).map(Self::Plan);
        }
        let expected = "a bundle's directory, or a file that ends in .wasm, .wat, .rs or .json";
        CodeFile::of_extension(path, expected).map(Self::Code)
    }
}

impl CodeFile {
    pub(super) fn read(path: &Path) -> Result<Self, CliError> {
        files::probe(path, "a module, a WAT file or Rust")?;
        Self::of_extension(path, "a file that ends in .wasm, .wat or .rs")
    }

    fn of_extension(path: &Path, expected: &'static str) -> Result<Self, CliError> {
        match extension(path) {
            Some("wasm") => files::read(path, DocumentKind::Module).map(Self::Module),
            Some("rs") => files::read_text(path, DocumentKind::Rust).map(Self::Rust),
            Some("wat") => files::read_text(path, DocumentKind::Wat).map(Self::Text),
            _ => Err(CliError::UnknownArtifact { path: path.to_owned(), expected }),
        }
    }

    /// It, as the gates take it.
    pub(super) fn as_code(&self) -> Code<'_> {
        match self {
            Self::Rust(text) => Code::Rust(text),
            Self::Text(text) => Code::Text(text),
            Self::Module(module) => Code::Module(module),
        }
    }
}

fn extension(path: &Path) -> Option<&str> {
    path.extension()?.to_str()
}

/// Why a bundle isn't loaded, with the file at fault.
pub(super) fn bundle_problem(error: &bundle::BundleLoadError) -> Problem {
    Problem::new(Stage::Bundle, error.entry(), error.detail()).at(error.place())
}
