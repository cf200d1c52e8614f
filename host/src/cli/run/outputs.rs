//! The files that results and rejects go to.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom};
use std::path::Path;

use super::checkpoint::Checkpoint;
use crate::cli::error::CliError;

/// What lines are written to, emptied or cut to where they are gone on from.
pub(super) struct Opened {
    pub(super) checkpoint: Option<Checkpoint>,
    pub(super) out: Option<File>,
    pub(super) rejects: Option<File>,
}

/// A file to write, which still holds what it held.
pub(super) struct OutputFile<'a> {
    path: &'a Path,
    file: File,
}

/// Opens the files of results and of rejects, where they are named: both before either is emptied, so that a wrong path costs no
/// earlier results.
pub(super) fn open<'a>(
    out: Option<&'a Path>,
    rejects: Option<&'a Path>,
) -> Result<(Option<OutputFile<'a>>, Option<OutputFile<'a>>), CliError> {
    let is_new = out.filter(|path| !path.exists());
    let out = out.map(OutputFile::open).transpose()?;
    let rejects = rejects.map(OutputFile::open).transpose().inspect_err(|_| {
        // The error is what counts: an empty file that can't be removed again does no harm.
        is_new.map(fs::remove_file);
    })?;
    Ok((out, rejects))
}

impl<'a> OutputFile<'a> {
    fn open(path: &'a Path) -> Result<Self, CliError> {
        let file = File::options().write(true).create(true).truncate(false).open(path);
        let file = file.map_err(|source| unwritable(path, source))?;
        Ok(Self { path, file })
    }

    pub(super) fn path(&self) -> &'a Path {
        self.path
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// How many bytes it has. `None` of a pipe or a device.
    pub(super) fn length(&self) -> Result<Option<u64>, CliError> {
        let found = self.file.metadata().map_err(|source| self.unwritable(source))?;
        Ok(found.is_file().then_some(found.len()))
    }

    /// Leaves its first `length` bytes, to be written on. A pipe or a device has nothing to cut off.
    pub(super) fn cut(mut self, length: u64) -> Result<File, CliError> {
        if self.length()?.is_some() {
            let cut = self.file.set_len(length);
            let cut = cut.and_then(|()| self.file.seek(SeekFrom::Start(length)));
            cut.map_err(|source| self.unwritable(source))?;
        }
        Ok(self.file)
    }

    pub(super) fn unwritable(&self, source: io::Error) -> CliError {
        unwritable(self.path, source)
    }
}

fn unwritable(path: &Path, source: io::Error) -> CliError {
    CliError::FileNotWritable { path: path.to_owned(), source }
}
