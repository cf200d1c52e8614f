//! The good bundle that cases change, and loading what they made of it.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::attempt::Attempt;
use super::setting::Setting;
use crate::bundle::pipeline::Pipeline;
use crate::bundle::{self, Expect};
use crate::diagnostics::problem::{Coded, Problem, Stage};

/// A bundle of the honest tenant's plan, in a directory that goes when this does.
#[derive(Debug)]
pub(super) struct GoodBundle {
    root: TempDir,
    path: PathBuf,
    pipeline: Pipeline,
}

impl GoodBundle {
    /// Takes the plan through all gates and stores what comes of it.
    pub(super) fn made(setting: &Setting) -> Result<Self, Attempt> {
        let root = tempfile::tempdir()?;
        let stored = setting
            .store_bundle(root.path())
            .map_err(|error| Attempt::failed(format!("a good bundle: {error}")))?;
        let pipeline = Pipeline::in_sandbox(setting.engine().clone());
        Ok(Self { root, path: stored.path, pipeline })
    }

    /// A copy of the one that was made for all cases.
    pub(super) fn store(setting: &Setting) -> Result<Self, Attempt> {
        let original = setting.good_bundle()?;
        let root = tempfile::tempdir()?;
        let path = root.path().join(original.path.file_name().unwrap_or_default());
        fs::create_dir(&path)?;
        for entry in fs::read_dir(&original.path)? {
            let entry = entry?;
            fs::copy(entry.path(), path.join(entry.file_name()))?;
        }
        Ok(Self { root, path, pipeline: original.pipeline.clone() })
    }

    /// The directory of bundles, which holds no other.
    pub(super) fn root(&self) -> &Path {
        self.root.path()
    }

    /// Its directory.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The gates that it passed, and has to pass again.
    pub(super) fn pipeline(&self) -> &Pipeline {
        &self.pipeline
    }

    /// Loads it as it is now, as the end of a case.
    pub(super) fn attempt(&self) -> Result<Attempt, Attempt> {
        match bundle::load(self.path(), &Expect::default(), &self.pipeline) {
            Ok(_) => Ok(Attempt::passed()),
            Err(error) => {
                Err(Attempt::stopped(Problem::new(Stage::Bundle, error.entry(), error.to_string())))
            }
        }
    }
}
