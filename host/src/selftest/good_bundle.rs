//! The good bundle that cases change, and loading what they made of it.

use std::path::Path;

use tempfile::TempDir;

use super::attempt::Attempt;
use super::setting::Setting;
use crate::bundle::{self, Expect};
use crate::pipeline::{Pipeline, Stored};
use crate::problem::{Coded, Problem, Stage};

/// A bundle of the honest tenant's plan, in a directory that goes when this does.
pub(super) struct GoodBundle {
    root: TempDir,
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
        Ok(Self { root, stored, pipeline })
    }

    /// The directory of bundles, which holds no other.
    pub(super) fn root(&self) -> &Path {
        self.root.path()
    }

    /// Its directory.
    pub(super) fn path(&self) -> &Path {
        &self.stored.path
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
                Err(Attempt::stopped(Problem::new(Stage::Bundle, error.code(), error.to_string())))
            }
        }
    }
}
