//! A directory that belongs to this user alone, and files in it that do.

use std::collections::BTreeSet;
use std::fs::{OpenOptions as StdOpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cap_std::fs::{Dir, File, Metadata, MetadataExt as _, OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;

use crate::sandbox::files::{self, no_link, open_lock};

/// What has this name is being written, by whoever holds the lock.
const STAGING: &str = ".staging";

/// How often, and how long at a time, a writer waits for another one. The other one writes a file in that time; one that takes
/// longer isn't worth waiting for.
const LOCK_TRIES: u32 = 100;
const LOCK_WAIT: Duration = Duration::from_millis(10);

/// Who may do what. A directory may have bits besides, which it has from its parent and which let nobody in.
const PERMISSIONS: u32 = 0o777;
const FILE_MODE: u32 = 0o600;
const DIR_MODE: u32 = 0o700;

/// Why a directory or a file in it can't be used.
#[derive(Debug, thiserror::Error)]
pub(in crate::sandbox) enum UnfitDirectory {
    #[error("there is no such file")]
    Missing,
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("expected {expected}, found something else")]
    Kind { expected: &'static str },
    #[error("expected the owner to be user {expected}, found user {found}")]
    Owner { expected: u32, found: u32 },
    #[error("expected the mode {expected:04o}, found {found:04o}")]
    Mode { expected: u32, found: u32 },
    #[error("expected one name for the file, found {found} links to it")]
    Links { found: u64 },
    #[error("expected at most {allowed} bytes, found {found}")]
    TooLarge { found: u64, allowed: u64 },
    #[error("another process has been writing for too long")]
    Locked,
    #[error("{0}")]
    Content(String),
}

/// An open directory with this user as owner and nobody else let in. Renaming its parents changes nothing, and no name leads
/// out of it.
#[derive(Debug)]
pub(in crate::sandbox) struct PrivateDir(Dir);

impl PrivateDir {
    /// Opens the directory, which is created, with its parents, where it isn't there.
    pub(in crate::sandbox) fn open(path: &Path) -> Result<Self, UnfitDirectory> {
        // Without a separator or a dot at the end, which would have a link followed.
        let path: PathBuf = path.components().collect();
        std::fs::DirBuilder::new().recursive(true).mode(DIR_MODE).create(&path).or_else(
            |error| match error.kind() {
                // Whatever has the name is looked at below.
                io::ErrorKind::AlreadyExists => Ok(()),
                _ => Err(error),
            },
        )?;
        let flags = (OFlags::DIRECTORY | OFlags::NOFOLLOW).bits().cast_signed();
        let opened = StdOpenOptions::new().read(true).custom_flags(flags).open(&path);
        let dir = match opened {
            Ok(dir) => Dir::from_std_file(dir),
            Err(_) if path.symlink_metadata().is_ok_and(|found| !found.is_dir()) => {
                return Err(UnfitDirectory::Kind { expected: "a directory" });
            }
            Err(error) => return Err(error.into()),
        };
        let found = dir.dir_metadata()?;
        require_owner(&found)?;
        require_mode(&found, DIR_MODE)?;
        Ok(Self(dir))
    }

    /// The bytes of a private file, at most `max_bytes` of them.
    pub(super) fn read(&self, name: &str, max_bytes: u64) -> Result<Vec<u8>, UnfitDirectory> {
        // Nobody else could have put a pipe or a device there, and one isn't waited for.
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(no_link());
        let file = self.0.open_with(name, &options).or_else(|error| {
            // What can't be opened is told by what it is.
            require_file(&self.0.symlink_metadata(name).map_err(missing)?)?;
            Err(missing(error))
        })?;
        let found = file.metadata()?;
        require_private(&found)?;
        let too_large = |found| UnfitDirectory::TooLarge { found, allowed: max_bytes };
        if found.len() > max_bytes {
            return Err(too_large(found.len()));
        }
        files::read_at_once(&file, found.len())?
            .ok_or_else(|| UnfitDirectory::Content("it changes while it is read".to_owned()))
    }

    /// Waits until no other writer is at work, for a second at most.
    pub(super) fn lock(&self) -> Result<Locked<'_>, UnfitDirectory> {
        let file = open_lock(&self.0, FILE_MODE)?;
        require_private(&Metadata::from_just_metadata(file.metadata()?))?;
        for _ in 0..LOCK_TRIES {
            match file.try_lock() {
                Ok(()) => return Ok(Locked { dir: &self.0, _lock: file }),
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_WAIT),
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
        }
        Err(UnfitDirectory::Locked)
    }
}

/// The one writer of a directory.
pub(super) struct Locked<'a> {
    dir: &'a Dir,
    _lock: std::fs::File,
}

impl Locked<'_> {
    /// Gives a file this content, in one step: whoever reads it sees the old one or the new one.
    pub(super) fn replace(&self, name: &str, content: &[&[u8]]) -> Result<(), UnfitDirectory> {
        // Left by a writer that died, since the lock is held here.
        self.remove(STAGING)?;
        let staged = self.stage(content).and_then(|()| {
            if self.dir.symlink_metadata(name).is_ok_and(|found| found.is_dir()) {
                self.dir.remove_dir_all(name)?;
            }
            self.dir.rename(STAGING, self.dir, name)
        });
        staged.map_err(|error| {
            // The error at hand is the one to report; the next writer removes what can't be removed now.
            let _ = self.remove(STAGING);
            error.into()
        })
    }

    fn stage(&self, content: &[&[u8]]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.create_new(true).write(true).mode(FILE_MODE);
        let mut file: File = self.dir.open_with(STAGING, &options)?;
        content.iter().try_for_each(|bytes| file.write_all(bytes))
    }

    /// Removes the oldest of the files whose names end in one of these, until all but the one called `except` have at most
    /// `max_bytes`, and says how many they have.
    pub(super) fn make_room(
        &self,
        extensions: &[&str],
        except: &str,
        max_bytes: u64,
    ) -> Result<u64, UnfitDirectory> {
        let mut files = BTreeSet::new();
        let mut total = 0_u64;
        for entry in self.dir.entries()? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if extensions.iter().any(|extension| name.ends_with(extension)) && name != except {
                let found = entry.metadata()?;
                let written = found.modified().map_or(SystemTime::UNIX_EPOCH, |at| at.into_std());
                total = total.saturating_add(found.len());
                files.insert((written, name, found.len()));
            }
        }
        for (_, name, bytes) in files {
            if total <= max_bytes {
                break;
            }
            self.remove(&name)?;
            total = total.saturating_sub(bytes);
        }
        Ok(total)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        match files::remove(self.dir, name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }
}

fn missing(error: io::Error) -> UnfitDirectory {
    if error.kind() == io::ErrorKind::NotFound {
        UnfitDirectory::Missing
    } else {
        UnfitDirectory::Io(error)
    }
}

fn require_private(found: &Metadata) -> Result<(), UnfitDirectory> {
    require_file(found)?;
    require_owner(found)?;
    require_mode(found, FILE_MODE)?;
    match found.nlink() {
        1 => Ok(()),
        // Another process has put one in its place since it was opened.
        0 => Err(UnfitDirectory::Missing),
        found => Err(UnfitDirectory::Links { found }),
    }
}

fn require_file(found: &Metadata) -> Result<(), UnfitDirectory> {
    if found.is_file() { Ok(()) } else { Err(UnfitDirectory::Kind { expected: "a regular file" }) }
}

fn require_owner(found: &Metadata) -> Result<(), UnfitDirectory> {
    let expected = rustix::process::geteuid().as_raw();
    let found = found.uid();
    if found == expected { Ok(()) } else { Err(UnfitDirectory::Owner { expected, found }) }
}

fn require_mode(found: &Metadata, expected: u32) -> Result<(), UnfitDirectory> {
    let found = found.mode() & PERMISSIONS;
    if found == expected { Ok(()) } else { Err(UnfitDirectory::Mode { expected, found }) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_file_has_one_name_and_one_that_was_replaced_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let file = std::fs::File::create(&path).unwrap();
        file.set_permissions(Permissions::from_mode(FILE_MODE)).unwrap();
        let file = File::from_std(file);
        let found = || require_private(&file.metadata().unwrap());
        assert!(found().is_ok());
        std::fs::hard_link(&path, folder.path().join("other")).unwrap();
        assert!(matches!(found(), Err(UnfitDirectory::Links { found: 2 })));
        std::fs::remove_file(&path).unwrap();
        std::fs::remove_file(folder.path().join("other")).unwrap();
        assert!(matches!(found(), Err(UnfitDirectory::Missing)));
    }
}
