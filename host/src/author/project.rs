//! `retort.toml`: what a project is made of.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use thiserror::Error;

use super::backend::Backend;
use crate::bundle::{ExtractorName, InvalidName};
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::json::document::DocumentKind;
use crate::json::toml;

/// The project file's name.
pub const PROJECT_FILE: &str = "retort.toml";

/// What a project's `retort.toml` says, which docs/cli.md describes key by key.
///
/// # Example
/// ```
/// use std::path::Path;
///
/// use retort::author::ProjectFile;
///
/// let file = ProjectFile::parse("rule = \"rule.md\"\ngraph = \"graph.yaml\"", "retort.toml")?;
/// assert_eq!(file.samples, None);
/// let file = file.in_folder(Path::new("orders"));
/// assert_eq!(file.rule.as_deref(), Some(Path::new("orders/rule.md")));
/// # Ok::<(), retort::author::ProjectError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ProjectFile {
    /// What bundles are versions of: see [`extractor_name`](Self::extractor_name).
    pub name: Option<String>,
    /// The plan, where nobody is to write one.
    pub plan: Option<PathBuf>,
    /// The extractor that is code.
    pub source: Option<PathBuf>,
    /// The graph spec.
    pub graph: Option<PathBuf>,
    /// An ontology, in its place.
    pub ontology: Option<PathBuf>,
    /// The binding of the ontology.
    pub binding: Option<PathBuf>,
    /// Sample events.
    pub samples: Option<PathBuf>,
    /// The directory of bundles.
    pub output: Option<PathBuf>,
    /// What is to be extracted.
    pub rule: Option<PathBuf>,
    /// What events look like.
    pub schema: Option<PathBuf>,
    /// Who writes the plan: a [`ModelSpec`](super::llm::ModelSpec).
    pub model: Option<String>,
    /// What is asked for.
    pub backend: Option<Backend>,
    /// What may be read of events.
    pub policy: Option<PathBuf>,
    /// What samples are expected to give.
    pub expected: Option<PathBuf>,
    /// Whether edges may lead to nodes of other events.
    #[serde(default)]
    pub allow_external_endpoints: bool,
}

/// Why there is no project.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// The file can't be read.
    #[error("{}: cannot read a project file: {source}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// It isn't a project file.
    #[error("{origin}: {message}")]
    Invalid {
        /// The file, with line and column where they are known.
        origin: String,
        /// What was expected and what was found.
        message: String,
    },
}

impl Coded for ProjectError {
    fn entry(&self) -> Code {
        match self {
            Self::Unreadable { .. } => codes::FILE_NOT_READABLE,
            Self::Invalid { .. } => codes::PROJECT_INVALID,
        }
    }
}

impl ProjectFile {
    /// The project of a folder, with its paths from there, as [`in_folder`](Self::in_folder) has them.
    ///
    /// # Errors
    /// [`ProjectError`].
    pub fn read(folder: &Path) -> Result<Self, ProjectError> {
        let path = folder.join(PROJECT_FILE);
        let refused = |source| ProjectError::Unreadable { path: path.clone(), source };
        let (mut text, allowed) = (String::new(), DocumentKind::ProjectFile.max_bytes());
        let file = std::fs::File::open(&path).map_err(refused)?;
        file.take(allowed as u64 + 1).read_to_string(&mut text).map_err(refused)?;
        if text.len() > allowed {
            return Err(refused(io::ErrorKind::FileTooLarge.into()));
        }
        Ok(Self::parse(&text, &path.display().to_string())?.in_folder(folder))
    }

    /// Reads a project file, which messages call `origin`. Paths are as they are written.
    ///
    /// # Errors
    /// [`ProjectError::Invalid`] for what isn't TOML of the known keys, and for an empty path, which would stand for the folder.
    pub fn parse(text: &str, origin: &str) -> Result<Self, ProjectError> {
        let mut file: Self = toml::parse(text).map_err(|error| ProjectError::Invalid {
            origin: format!("{origin}:{}:{}", error.line, error.column),
            message: error.message,
        })?;
        let empty = file.paths().into_iter().find_map(|(key, path)| {
            path.as_ref().is_some_and(|it| it.as_os_str().is_empty()).then_some(key)
        });
        match empty {
            None => Ok(file),
            Some(key) => Err(ProjectError::Invalid {
                origin: origin.to_owned(),
                message: format!("{key}: expected a path, found an empty string"),
            }),
        }
    }

    /// The same with paths from where the process is, for a project in this folder; a recording of a model is a file as well.
    #[must_use]
    pub fn in_folder(mut self, folder: &Path) -> Self {
        for (_, path) in self.paths() {
            *path = path.take().map(|relative| folder.join(relative));
        }
        self.model = self.model.map(|spec| match spec.strip_prefix("replay:") {
            Some(file) => format!("replay:{}", folder.join(file).display()),
            None => spec,
        });
        self
    }

    /// What bundles are versions of, where it is said.
    ///
    /// # Errors
    /// [`InvalidName`].
    pub fn extractor_name(&self) -> Result<Option<ExtractorName>, InvalidName> {
        self.name.clone().map(ExtractorName::try_from).transpose()
    }

    /// The paths, by their keys.
    fn paths(&mut self) -> [(&'static str, &mut Option<PathBuf>); 11] {
        [
            ("plan", &mut self.plan),
            ("source", &mut self.source),
            ("graph", &mut self.graph),
            ("ontology", &mut self.ontology),
            ("binding", &mut self.binding),
            ("samples", &mut self.samples),
            ("output", &mut self.output),
            ("rule", &mut self.rule),
            ("schema", &mut self.schema),
            ("policy", &mut self.policy),
            ("expected", &mut self.expected),
        ]
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn a_project_is_read_with_its_paths_from_its_folder() {
        let root = tempfile::tempdir().unwrap();
        let missing = ProjectFile::read(root.path()).unwrap_err();
        assert_eq!(missing.code(), "file_not_readable");
        let path = root.path().join(PROJECT_FILE);
        let text = "name = \"orders\"\nmodel = \"replay:answers.json\"\nsamples = \"/all/samples\"\nplan = \"plan.json\"\n";
        std::fs::write(&path, text).unwrap();
        let file = ProjectFile::read(root.path()).unwrap();
        assert_eq!(file.extractor_name().unwrap(), Some("orders".parse().unwrap()));
        assert_eq!(file.plan, Some(root.path().join("plan.json")));
        assert_eq!(file.samples.as_deref(), Some(Path::new("/all/samples")));
        let recording = format!("replay:{}", root.path().join("answers.json").display());
        assert_eq!(file.model, Some(recording));
        for (text, said) in [
            ("plans = \"x\"", ":1:1: plans: expected one of"),
            ("plan = \"\"", ": plan: expected a path, found an empty string"),
            ("backend = \"java\"", ":1:11: backend: expected one of"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = ProjectFile::read(root.path()).unwrap_err();
            assert_eq!(error.code(), "project_invalid");
            let expected = format!("{}{said}", path.display());
            assert!(error.to_string().starts_with(&expected), "{error}");
        }
        std::fs::write(&path, " ".repeat(70_000)).unwrap();
        assert_eq!(ProjectFile::read(root.path()).unwrap_err().code(), "file_not_readable");
    }
}
