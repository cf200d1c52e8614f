//! What keeps bundles from being removed while somebody may read them.
//!
//! Both are shared locks of the system, of directories themselves: nothing has to be written where bundles are read, and whoever dies holds
//! nothing any more. Where the file system has no such locks, nothing is held.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::fs::Dir;
use rustix::fs::fstat;
use rustix::process::{Resource, getrlimit};

use super::error::BundleLoadError;

/// How often a bundle is opened that is exchanged for another one each time.
const TRIES: usize = 8;

/// One in so many of the open files that this process may have holds a bundle of a directory, at most. A bundle that has served an event has another
/// file open, and the rest is for everything else.
const SHARE: u64 = 3;

/// How many bundles this process holds.
static HELD: AtomicU64 = AtomicU64::new(0);

/// Keeps one bundle from being removed for as long as it lives. Any number of readers may hold it.
#[derive(Debug)]
pub(crate) struct Hold {
    /// The bundle's directory, locked.
    dir: Option<File>,
}

impl Hold {
    /// Holds the bundle in an open directory.
    pub(super) fn take(dir: &Dir) -> Self {
        // Directories are opened as mere paths, which can't be locked: this opens it to read.
        let opened = dir.open(".").map(cap_std::fs::File::into_std);
        let dir = opened.and_then(|dir| dir.lock_shared().map(|()| dir)).ok();
        if dir.is_some() {
            HELD.fetch_add(1, Ordering::Relaxed);
        }
        Self { dir }
    }

    /// The same, but for nothing where this process holds many already: the caller holds the directory that it lies in as a whole.
    pub(super) fn take_if_few(dir: &Dir) -> Self {
        let most = getrlimit(Resource::Nofile).current.map_or(u64::MAX, |files| files / SHARE);
        let is_one_of_few = HELD.load(Ordering::Relaxed) < most;
        if is_one_of_few { Self::take(dir) } else { Self { dir: None } }
    }

    /// Whether it holds anything.
    pub(crate) fn is_held(&self) -> bool {
        self.dir.is_some()
    }

    /// Whether it holds the bundle in this directory.
    fn is_of(&self, dir: &Dir) -> bool {
        let same = |held: &File| {
            let (held, found) = (fstat(held).ok()?, fstat(dir).ok()?);
            Some((held.st_dev, held.st_ino) == (found.st_dev, found.st_ino))
        };
        self.dir.as_ref().and_then(same).unwrap_or_default()
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if self.is_held() {
            HELD.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// Opens a bundle's directory and holds it, by `known` if that is its hold already.
pub(super) fn open_held(
    known: Option<&Arc<Hold>>,
    take: fn(&Dir) -> Hold,
    open: impl Fn() -> Result<Dir, BundleLoadError>,
) -> Result<(Dir, Arc<Hold>), BundleLoadError> {
    let mut dir = open()?;
    let mut tries = 0;
    loop {
        tries += 1;
        let hold = known.filter(|known| known.is_of(&dir)).cloned();
        let hold = hold.unwrap_or_else(|| Arc::new(take(&dir)));
        if !hold.is_held() || tries == TRIES {
            return Ok((dir, hold));
        }
        // It may have been taken away, or exchanged for another one, before it was held.
        let now = open()?;
        if hold.is_of(&now) {
            return Ok((dir, hold));
        }
        dir = now;
    }
}

/// Keeps all bundles of a directory from being removed: while it is found out which of them are served, and those are held.
#[derive(Debug)]
pub(crate) struct Looking {
    _dir: Option<File>,
}

impl Looking {
    /// Begins to look over a directory of bundles.
    pub(crate) fn begin(root: &Path) -> Self {
        let locked = File::open(root).and_then(|dir| dir.lock_shared().map(|()| dir));
        Self { _dir: locked.ok() }
    }
}

/// Takes a directory, of bundles or of one, for whoever removes; `None` while somebody holds it.
pub(super) fn take_alone(dir: File) -> io::Result<Option<File>> {
    match dir.try_lock() {
        Ok(()) => Ok(Some(dir)),
        Err(std::fs::TryLockError::WouldBlock) => Ok(None),
        Err(std::fs::TryLockError::Error(error)) => Err(error),
    }
}
