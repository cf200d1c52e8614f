//! The good bundle that cases change, and loading what they made of it.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::attempt::CaseAttempt;
use crate::bundle::pipeline::Pipeline;
use crate::bundle::{self, Expect};

/// A bundle of the honest tenant's plan, in a directory that goes when this does.
#[derive(Debug)]
pub(super) struct GoodBundle {
    root: TempDir,
    path: PathBuf,
    pipeline: Pipeline,
}

impl GoodBundle {
    /// The bundle that was stored at `path` below `root`.
    pub(super) fn new(root: TempDir, path: PathBuf, pipeline: Pipeline) -> Self {
        Self { root, path, pipeline }
    }

    /// A copy that a case may change.
    pub(super) fn copy(&self) -> Result<Self, CaseAttempt> {
        let root = tempfile::tempdir()?;
        let path = root.path().join(self.path.file_name().unwrap_or_default());
        fs::create_dir(&path)?;
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            fs::copy(entry.path(), path.join(entry.file_name()))?;
        }
        Ok(Self { root, path, pipeline: self.pipeline.clone() })
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
    pub(super) fn attempt(&self) -> Result<CaseAttempt, CaseAttempt> {
        CaseAttempt::ended(bundle::load(self.path(), &Expect::default(), &self.pipeline))
    }
}
