//! The state of a run, kept on disk while it goes on.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

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
    out: File,
    rejects: File,
    every: Duration,
    written: Instant,
    is_written: bool,
}

impl Checkpoint {
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
        for (output, least) in [(&out, state.out_bytes), (&rejects, state.rejects_bytes)] {
            let found = output.length()?;
            let needed = || CliError::ResumeNeedsFile { path: output.path().to_owned() };
            let found = found.ok_or_else(needed)?;
            if found < least {
                let name = output.path().display();
                let message = format!("expected {name} with {least} bytes or more, found {found}");
                return Err(CliError::StateMismatch { path: path.to_owned(), message });
            }
        }
        let refused = |source| CliError::FileNotWritable { path: path.to_owned(), source };
        // Before the outputs are touched, so that what is cut off of them is nobody's.
        state.write(path).map_err(refused)?;
        let out = out.cut(state.out_bytes)?;
        let rejects = rejects.cut(state.rejects_bytes)?;
        Ok(Self {
            path: path.to_owned(),
            began: state.clone(),
            state,
            out,
            rejects,
            every,
            written: Instant::now(),
            is_written: true,
        })
    }

    /// Writers to the same files.
    pub(super) fn writers(&self) -> io::Result<(File, File)> {
        Ok((self.out.try_clone()?, self.rejects.try_clone()?))
    }

    /// Takes down how far it is; now and then on disk as well.
    pub(super) fn note(&mut self, progress: &Progress<'_>) -> io::Result<()> {
        if let Some(position) = progress.position {
            self.state.at = At::of(self.began.at.input, position);
            self.state.out_bytes = self.began.out_bytes + progress.out_bytes;
            self.state.rejects_bytes = self.began.rejects_bytes + progress.rejects_bytes;
            self.state.set_summary(progress.summary);
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
        self.write().map_err(|source| self.unwritable(source))
    }

    pub(super) fn unwritable(&self, source: io::Error) -> CliError {
        CliError::FileNotWritable { path: self.path.clone(), source }
    }

    fn write(&mut self) -> io::Result<()> {
        if !self.is_written {
            self.out.sync_data()?;
            self.rejects.sync_data()?;
            self.state.write(&self.path)?;
            self.is_written = true;
        }
        self.written = Instant::now();
        Ok(())
    }
}
