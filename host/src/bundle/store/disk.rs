//! The file-system operations of storing.

use std::fs::{File, TryLockError};
use std::io::{self, Write as _};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use rustix::fs::{RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::bundle::manifest::{self, MANIFEST_FILE, Manifest};
use crate::bundle::read::Regular;
use crate::bundle::record::{Record, RecordError};
use crate::sandbox::files::{self, open_lock};

/// What storing does to the directory of bundles. A trait, so that tests can fail or stop each
/// operation. Names are names in that directory.
pub(super) trait Disk {
    /// Creates a directory that isn't there.
    fn create_dir(&self, name: &str) -> io::Result<()>;

    /// Creates a file that isn't there and writes it.
    fn write_file(&self, dir: &str, name: &str, bytes: &[u8]) -> io::Result<()>;

    /// Flushes a file to disk.
    fn sync_file(&self, dir: &str, name: &str) -> io::Result<()>;

    /// Flushes a directory's entries to disk.
    fn sync_dir(&self, name: &str) -> io::Result<()>;

    /// Flushes the entries of the directory of bundles to disk.
    fn sync_root(&self) -> io::Result<()>;

    /// Whether there is anything by this name, be it a dangling link.
    fn exists(&self, name: &str) -> io::Result<bool>;

    /// Renames to a name that nothing has, or a file to that of another one, which it replaces.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Exchanges two names in one step; `false`, with nothing done, if the file system can't.
    fn exchange(&self, a: &str, b: &str) -> io::Result<bool>;

    /// Removes whatever has this name, with all that is in it.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// All names that are text; no other can be one of ours.
    fn names(&self) -> io::Result<Vec<String>>;

    /// What the bundle by this name says of itself; `None` where there is none that can be read.
    fn manifest(&self, name: &str) -> Option<Manifest>;
}

/// Whoever may write to the directory of bundles may lock it, as far as the process's mask goes.
const LOCK_MODE: u32 = 0o666;

/// A real directory, opened once: renaming its parents changes nothing, and no name leads out.
#[derive(Debug)]
pub(super) struct CapDisk(Dir);

impl CapDisk {
    pub(super) fn open(root: &Path) -> io::Result<Self> {
        Dir::open_ambient_dir(root, ambient_authority()).map(Self)
    }

    /// Waits until no other writer is at work. The lock lasts as long as the value, or the process.
    pub(super) fn lock(&self) -> io::Result<File> {
        let file = open_lock(&self.0, LOCK_MODE)?;
        file.lock()?;
        Ok(file)
    }

    /// The lock, or `None` if another writer is at work.
    pub(super) fn try_lock(&self) -> io::Result<Option<File>> {
        let file = open_lock(&self.0, LOCK_MODE)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl CapDisk {
    /// The activation record, if there is one.
    pub(super) fn record(&self, root: &Path) -> Result<Option<Record>, RecordError> {
        Record::read(&self.0, root)
    }
}

impl Disk for CapDisk {
    fn create_dir(&self, name: &str) -> io::Result<()> {
        self.0.create_dir(name)
    }

    fn write_file(&self, dir: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.create_new(true).write(true);
        self.0.open_dir(dir)?.open_with(name, &options)?.write_all(bytes)
    }

    fn sync_file(&self, dir: &str, name: &str) -> io::Result<()> {
        self.0.open_dir(dir)?.open(name)?.sync_all()
    }

    fn sync_dir(&self, name: &str) -> io::Result<()> {
        // Directories are opened as mere paths, which can't be flushed: this opens it to read.
        self.0.open_dir(name)?.open(".")?.sync_all()
    }

    fn sync_root(&self) -> io::Result<()> {
        self.0.open(".")?.sync_all()
    }

    fn exists(&self, name: &str) -> io::Result<bool> {
        match self.0.symlink_metadata(name) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.0.rename(from, &self.0, to)
    }

    fn exchange(&self, a: &str, b: &str) -> io::Result<bool> {
        match renameat_with(&self.0, a, &self.0, b, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(true),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP | Errno::XDEV) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        files::remove(&self.0, name)
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let entries = self.0.entries()?;
        let names = entries.map(|entry| Ok(entry?.file_name().into_string().ok()));
        names.filter_map(Result::transpose).collect()
    }

    fn manifest(&self, name: &str) -> Option<Manifest> {
        if !self.0.symlink_metadata(name).ok()?.is_dir() {
            return None;
        }
        let dir = self.0.open_dir(name).ok()?;
        let file = Regular::open(&dir, MANIFEST_FILE, manifest::MAX_BYTES).ok()?;
        Manifest::from_json(&file.read().ok()?).ok()
    }
}
