//! Files in directories that others may write to as well.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;

/// The file on whose lock the writers of a directory exclude each other.
pub(crate) const LOCK: &str = ".lock";

/// The flags of opening a file without following a link to it, or waiting for whoever writes to a pipe.
pub(crate) fn no_link() -> i32 {
    (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed()
}

/// Opens the [lock file](LOCK) of a directory, which is created with this mode where it isn't there. A lock belongs to an open
/// file: each call gets one of its own, so that threads exclude each other as processes do.
pub(crate) fn open_lock(dir: &Dir, mode: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true).mode(mode).custom_flags(no_link());
    Ok(dir.open_with(LOCK, &options)?.into_std())
}

/// All of a regular file that had so many bytes when it was opened; `None` where it has another number of them by now.
pub(crate) fn read_at_once(
    mut file: &cap_std::fs::File,
    bytes: u64,
) -> io::Result<Option<Vec<u8>>> {
    let Ok(expected) = usize::try_from(bytes) else { return Ok(None) };
    // One byte more would show that there are more.
    let mut buffer = vec![0; expected.saturating_add(1)];
    let mut filled = 0;
    while filled < expected {
        match file.read(buffer.get_mut(filled..).unwrap_or_default()) {
            Ok(0) => break,
            // Where the file goes on, a read fills what it is given: what it left is behind the end.
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    buffer.truncate(filled);
    Ok((filled == expected).then_some(buffer))
}

/// Removes whatever has this name, with all that is in it.
pub(crate) fn remove(dir: &Dir, path: impl AsRef<Path>) -> io::Result<()> {
    if dir.symlink_metadata(&path)?.is_dir() {
        dir.remove_dir_all(path)
    } else {
        dir.remove_file(path)
    }
}
