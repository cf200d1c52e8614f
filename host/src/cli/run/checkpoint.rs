//! The state of a run, kept on disk while it goes on.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use retort::SharedFiles;
use retort::runtime::Progress;

use super::outputs::OutputFile;
use super::state::{At, State};
use crate::cli::error::CliError;

/// Writes down how far a run is, after what it has written is on disk.
pub(super) struct Checkpoint {
    path: PathBuf,
    /// As of the last chunk; on disk is one of those before it.
    state: State,
    /// What the earlier run had come to, which this one counts on from.
    began: State,
    target: Target,
    every: Duration,
    written: Instant,
    is_written: bool,
}

/// What has to be on disk before the state is that counts it.
enum Target {
    Lines {
        out: (PathBuf, File),
        rejects: (PathBuf, File),
    },
    /// With how many rows there were when the state was noted.
    Tables(SharedFiles, u64),
}

impl Checkpoint {
    /// Takes the files of tables over as they were when `state` was written: what came after it is removed.
    pub(super) fn of_tables(
        path: &Path,
        state: State,
        files: SharedFiles,
        every: Duration,
    ) -> Self {
        Self {
            path: path.to_owned(),
            began: state.clone(),
            state,
            target: Target::Tables(files, 0),
            every,
            written: Instant::now(),
            is_written: true,
        }
    }

    /// Takes the outputs over as they were when `state` was written: what is behind that in them is cut off. A lock on the file of
    /// results, which ends with the process, keeps a second run from doing the same.
    pub(super) fn begin(
        path: &Path,
        state: State,
        out: OutputFile<'_>,
        rejects: OutputFile<'_>,
        every: Duration,
    ) -> Result<Self, CliError> {
        match out.file().try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(CliError::StateInUse { path: out.path().to_owned() });
            }
            // Not every file system has locks.
            Err(TryLockError::Error(_)) => {}
        }
        for output in [&out, &rejects] {
            if output.length()?.is_none() {
                return Err(CliError::ResumeNeedsFile { path: output.path().to_owned() });
            }
        }
        // Before the outputs are touched, so that what is cut off of them is nobody's.
        state.write(path).map_err(unwritable(path))?;
        let out = (out.path().to_owned(), out.cut(state.out_bytes)?);
        let rejects = (rejects.path().to_owned(), rejects.cut(state.rejects_bytes)?);
        Ok(Self {
            path: path.to_owned(),
            began: state.clone(),
            state,
            target: Target::Lines { out, rejects },
            every,
            written: Instant::now(),
            is_written: true,
        })
    }

    /// Writers to the same files of lines.
    pub(super) fn writers(&self) -> Result<Option<(File, File)>, CliError> {
        let writer = |(path, file): &(PathBuf, File)| file.try_clone().map_err(unwritable(path));
        match &self.target {
            Target::Lines { out, rejects } => Ok(Some((writer(out)?, writer(rejects)?))),
            Target::Tables(..) => Ok(None),
        }
    }

    /// Takes down how far it is; now and then on disk as well.
    pub(super) fn note(&mut self, progress: &Progress<'_>) -> Result<(), CliError> {
        if let Some(position) = progress.position {
            self.state.at = At::of(self.began.at.input, position);
            self.state.out_bytes = self.began.out_bytes + progress.out_bytes;
            self.state.rejects_bytes = self.began.rejects_bytes + progress.rejects_bytes;
            self.state.set_summary(progress.summary);
            if let Target::Tables(files, rows) = &mut self.target {
                *rows = files.lock().rows();
            }
            self.is_written = false;
        }
        if self.written.elapsed() >= self.every { self.write() } else { Ok(()) }
    }

    /// Writes how far it has come in the end.
    pub(super) fn end(&mut self, is_done: bool) -> Result<(), CliError> {
        if self.state.done != is_done {
            self.state.done = is_done;
            self.is_written = false;
        }
        self.write()
    }

    fn write(&mut self) -> Result<(), CliError> {
        if !self.is_written {
            match &self.target {
                Target::Lines { out, rejects } => {
                    for (path, file) in [out, rejects] {
                        file.sync_data().map_err(unwritable(path))?;
                    }
                    self.state.write(&self.path).map_err(unwritable(&self.path))?;
                }
                Target::Tables(files, rows) => {
                    let mut files = files.lock();
                    // It was ended among the rows of an event: there are some that the state doesn't count, in the same files as those
                    // that it does. What is on disk is of an earlier state, and stays.
                    if files.rows() != *rows {
                        return Ok(());
                    }
                    self.state.files =
                        if self.state.done { files.finish()? } else { files.seal()? };
                    self.state.write(&self.path).map_err(unwritable(&self.path))?;
                    // Only now: what has its name is counted by the state.
                    files.publish()?;
                }
            }
            self.is_written = true;
        }
        self.written = Instant::now();
        Ok(())
    }
}

fn unwritable(path: &Path) -> impl Fn(io::Error) -> CliError {
    let path = path.to_owned();
    move |source| CliError::FileNotWritable { path: path.clone(), source }
}
