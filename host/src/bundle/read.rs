//! Reading files that anyone may have put there.

use std::io::{self, Read as _};

use cap_std::fs::{Dir, FileType, Metadata, OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReadError {
    #[error("there is no such file")]
    Missing,
    #[error("expected a regular file, found {0}")]
    NotRegular(&'static str),
    #[error("expected at most {allowed} bytes, found more")]
    TooLarge { allowed: u64 },
    #[error("cannot read it: {0}")]
    Io(#[from] io::Error),
}

/// The bytes of a regular file that lies in `dir` itself, at most `max_bytes` of them.
///
/// Links are not followed, pipes and devices are not opened for reading, and no more than the
/// limit is ever held in memory.
pub(super) fn read_regular(dir: &Dir, name: &str, max_bytes: u64) -> Result<Vec<u8>, ReadError> {
    let found = dir.symlink_metadata(name).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ReadError::Missing,
        _ => ReadError::Io(error),
    })?;
    require_regular(&found)?;
    // The name may have changed hands since: it must still not be a link, opening it must not
    // wait for a writer, and what was opened is looked at again.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = dir.open_with(name, OpenOptions::new().read(true).custom_flags(flags))?;
    let opened = file.metadata()?;
    require_regular(&opened)?;
    if opened.len() > max_bytes {
        return Err(ReadError::TooLarge { allowed: max_bytes });
    }
    let mut bytes = Vec::new();
    file.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_bytes {
        return Err(ReadError::TooLarge { allowed: max_bytes });
    }
    Ok(bytes)
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

        assert_eq!(read_regular(&dir, "file", 5).unwrap(), b"12345");
        let refusal = |name, limit| read_regular(&dir, name, limit).unwrap_err().to_string();
        assert_eq!(refusal("file", 4), "expected at most 4 bytes, found more");
        assert_eq!(refusal("none", 5), "there is no such file");
        assert_eq!(refusal("folder", 5), "expected a regular file, found a directory");
        assert_eq!(refusal("inside", 5), "expected a regular file, found a symbolic link");
        assert_eq!(refusal("outside", 5), "expected a regular file, found a symbolic link");
        assert_eq!(refusal("pipe", 5), "expected a regular file, found a special file");
    }
}
