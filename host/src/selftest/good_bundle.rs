//! The good bundle that cases change, and loading what they made of it.

use std::path::Path;

use tempfile::TempDir;

use super::attempt::Attempt;
use super::setting::Setting;
use crate::bundle::{self, Expect, LoadError, Loaded};
use crate::pipeline::{Admitted, Pipeline, Stored};
use crate::problem::{Coded, Problem, Stage};

/// A bundle of the honest tenant's plan, in a directory that goes when this does.
pub(super) struct GoodBundle {
    _root: TempDir,
    stored: Stored,
    pipeline: Pipeline,
}

impl GoodBundle {
    /// Stores one.
    pub(super) fn store(setting: &Setting) -> Result<Self, Attempt> {
        let root = tempfile::tempdir()?;
        let stored = setting
            .store_bundle(root.path())
            .map_err(|turned| Attempt::failed(format!("a good bundle: {turned}")))?;
        let pipeline = Pipeline::in_sandbox(setting.engine().clone());
        Ok(Self { _root: root, stored, pipeline })
    }

    /// Its directory, in a directory of bundles that holds no other.
    pub(super) fn path(&self) -> &Path {
        &self.stored.path
    }

    /// Loads it as it is now.
    pub(super) fn load(&self) -> Result<Loaded<Admitted>, LoadError> {
        bundle::load(self.path(), &Expect::default(), &self.pipeline)
    }

    /// Loads it as it is now, as the end of a case.
    pub(super) fn attempt(&self) -> Result<Attempt, Attempt> {
        match self.load() {
            Ok(_) => Ok(Attempt::passed()),
            Err(error) => {
                Err(Attempt::stopped(Problem::new(Stage::Bundle, error.code(), error.to_string())))
            }
        }
    }
}
