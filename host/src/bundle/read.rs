//! Reading files that anyone may have put there.

use std::io::{self, Read as _};

use cap_std::fs::{Dir, File, FileType, Metadata, OpenOptions, OpenOptionsExt as _};

use crate::sandbox::files::{self, no_link};

/// A piece of a file: as much of one as is read at once where it isn't held in memory. One serves file after file.
pub(super) struct Chunk(Vec<u8>);

impl Chunk {
    /// Larger than most files of bundles, and small enough to stay in a processor's cache until it was hashed.
    const BYTES: usize = 16 << 10;

    pub(super) fn new() -> Self {
        Self(vec![0; Self::BYTES])
    }
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadError {
    #[error("there is no such file")]
    Missing,
    #[error("expected a regular file, found {0}")]
    NotRegular(&'static str),
    #[error("expected at most {allowed} bytes, found more")]
    TooLarge { allowed: u64 },
    #[error(
        "expected {expected} bytes, as it had when it was opened, found another number of them"
    )]
    Changed { expected: u64 },
    #[error("cannot read it: {0}")]
    Io(#[from] io::Error),
}

/// A regular file that lies in a directory itself, opened.
#[derive(Debug)]
pub(super) struct Regular {
    file: File,
    bytes: u64,
}

impl Regular {
    /// Opens a file of at most `max_bytes` bytes. Links are not followed, pipes and devices are not opened for reading.
    pub(super) fn open(dir: &Dir, name: &str, max_bytes: u64) -> Result<Self, ReadError> {
        let found = dir.symlink_metadata(name).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => ReadError::Missing,
            _ => ReadError::Io(error),
        })?;
        require_regular(&found)?;
        Self::open_listed(dir, name, max_bytes)
    }

    /// The same of a name that a listing of the directory says to be a regular file's.
    pub(super) fn open_listed(dir: &Dir, name: &str, max_bytes: u64) -> Result<Self, ReadError> {
        // The name may have changed hands since: it must still not be a link, opening it must not
        // wait for a writer, and what was opened is looked at again.
        let file = dir.open_with(name, OpenOptions::new().read(true).custom_flags(no_link()))?;
        let opened = file.metadata()?;
        require_regular(&opened)?;
        let bytes = opened.len();
        if bytes > max_bytes {
            return Err(ReadError::TooLarge { allowed: max_bytes });
        }
        Ok(Self { file, bytes })
    }

    /// How long it was when it was opened, which is how much of it is read.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Hands all of it out, piece by piece, so that no file is held in memory for its digest alone.
    pub(super) fn each_piece(
        mut self,
        Chunk(chunk): &mut Chunk,
        mut take: impl FnMut(&[u8]),
    ) -> Result<(), ReadError> {
        let changed = ReadError::Changed { expected: self.bytes };
        let mut left = self.bytes;
        loop {
            let read = match self.file.read(chunk) {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            let piece = chunk.get(..read).unwrap_or_default();
            let Some(rest) = left.checked_sub(piece.len() as u64) else { return Err(changed) };
            left = rest;
            // Where the file goes on, a read fills what it is given: what it left is behind the end.
            let is_end = piece.is_empty() || left == 0 && piece.len() < chunk.len();
            take(piece);
            if is_end {
                return if left == 0 { Ok(()) } else { Err(changed) };
            }
        }
    }

    /// All of it.
    pub(super) fn read(self) -> Result<Vec<u8>, ReadError> {
        let bytes = files::read_at_once(&self.file, self.bytes)?;
        bytes.ok_or(ReadError::Changed { expected: self.bytes })
    }
}

fn require_regular(metadata: &Metadata) -> Result<(), ReadError> {
    let file_type = metadata.file_type();
    if file_type.is_file() { Ok(()) } else { Err(ReadError::NotRegular(kind_name(file_type))) }
}

/// What a directory entry is, for a message.
pub(super) fn kind_name(file_type: FileType) -> &'static str {
    if file_type.is_symlink() {
        "a symbolic link"
    } else if file_type.is_dir() {
        "a directory"
    } else if file_type.is_file() {
        "a regular file"
    } else {
        "a special file"
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn only_regular_files_within_the_limit_are_read() {
        let root = tempfile::tempdir().unwrap();
        let dir = Dir::open_ambient_dir(root.path(), cap_std::ambient_authority()).unwrap();
        dir.write("file", "12345").unwrap();
        dir.create_dir("folder").unwrap();
        dir.symlink("file", "inside").unwrap();
        dir.symlink_contents("/etc/hostname", "outside").unwrap();
        let mode = rustix::fs::Mode::RUSR;
        rustix::fs::mknodat(&dir, "pipe", rustix::fs::FileType::Fifo, mode, 0).unwrap();

        let file = Regular::open(&dir, "file", 5).unwrap();
        assert_eq!(file.bytes(), 5);
        assert_eq!(file.read().unwrap(), b"12345");
        let refusal = |name, limit| Regular::open(&dir, name, limit).unwrap_err().to_string();
        assert_eq!(refusal("file", 4), "expected at most 4 bytes, found more");
        assert_eq!(refusal("none", 5), "there is no such file");
        assert_eq!(refusal("folder", 5), "expected a regular file, found a directory");
        assert_eq!(refusal("inside", 5), "expected a regular file, found a symbolic link");
        assert_eq!(refusal("outside", 5), "expected a regular file, found a symbolic link");
        assert_eq!(refusal("pipe", 5), "expected a regular file, found a special file");
    }

    #[test]
    fn a_file_that_changes_while_it_is_read_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let dir = Dir::open_ambient_dir(root.path(), cap_std::ambient_authority()).unwrap();
        for later in ["123456", "1234", ""] {
            dir.write("file", "12345").unwrap();
            let file = Regular::open(&dir, "file", 100).unwrap();
            dir.write("file", later).unwrap();
            assert!(matches!(file.read(), Err(ReadError::Changed { expected: 5 })), "{later}");
            dir.write("file", "12345").unwrap();
            let file = Regular::open(&dir, "file", 100).unwrap();
            dir.write("file", later).unwrap();
            let read = file.each_piece(&mut Chunk::new(), |_| {});
            assert!(matches!(read, Err(ReadError::Changed { expected: 5 })), "{later}");
        }
    }

    #[test]
    fn pieces_are_the_file() {
        let root = tempfile::tempdir().unwrap();
        let dir = Dir::open_ambient_dir(root.path(), cap_std::ambient_authority()).unwrap();
        let mut chunk = Chunk::new();
        let whole = Chunk::BYTES;
        for length in [0, 1, whole - 1, whole, whole + 1, 3 * whole] {
            let content: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            dir.write("file", &content).unwrap();
            let (mut found, mut longest) = (Vec::new(), 0);
            let file = Regular::open(&dir, "file", length as u64).unwrap();
            file.each_piece(&mut chunk, |piece| {
                longest = longest.max(piece.len());
                found.extend_from_slice(piece);
            })
            .unwrap();
            assert_eq!(found, content);
            assert!(longest <= whole);
        }
    }
}
