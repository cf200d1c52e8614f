//! What a host grants of WASI: the functions, and the directories that may be read.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use serde::{Deserialize, Serialize};

use crate::gate::inspect::Grant;
use crate::sandbox::ModuleLoadError;

/// Most directories that may be granted.
const MAX_DIRECTORIES: usize = 16;

/// Most entries of a granted directory, those of the directories in it included. Reading a directory goes through all its
/// entries in one call, which nothing interrupts.
const MAX_ENTRIES: usize = 1_000;

/// How deep directories may be nested in a granted one.
const MAX_DEPTH: usize = 32;

/// Most bytes of the path that a guest sees.
const MAX_GUEST_PATH: usize = 255;

/// What a sandbox grants its guests of WASI. The default is [`Grant::Core`] without a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WasiGrants {
    /// The functions that a guest may import.
    pub grant: Grant,
    /// The directories that it may read. They need [`Grant::Files`].
    pub directories: Vec<Directory>,
}

/// A directory with reference data that guests may read.
///
/// Grant one that nobody but the host writes to, and that stays as it is while the sandbox lives. What guests read there is what
/// is there: an event's result is as repeatable as the directory is. A guest sees names, contents and sizes of
/// files, and no times. Links are followed inside the directory and never out of it; pipes, devices and sockets can't be opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Directory {
    /// Where it is on this machine.
    pub host: PathBuf,
    /// The absolute path by which guests know it, such as `/data`.
    pub guest: String,
}

impl Directory {
    /// A directory of this machine under the path by which guests know it.
    #[must_use]
    pub fn new(host: impl Into<PathBuf>, guest: impl Into<String>) -> Self {
        Self { host: host.into(), guest: guest.into() }
    }
}

/// A grant whose directories have been looked at.
#[derive(Clone, Debug, Default)]
pub(in crate::sandbox) struct Granted {
    wasi: WasiGrants,
    opened: Arc<[Opened]>,
}

/// A granted directory that is held open, so that it stays the one that was looked at, wherever its path leads later.
#[derive(Debug)]
pub(super) struct Opened {
    dir: Dir,
    directory: Directory,
}

impl Opened {
    fn new(directory: &Directory) -> std::io::Result<Self> {
        let dir = Dir::open_ambient_dir(&directory.host, ambient_authority())?;
        Ok(Self { dir, directory: directory.clone() })
    }

    /// The path by which guests know it.
    pub(super) fn guest(&self) -> &str {
        &self.directory.guest
    }

    /// The path that opens this very directory.
    #[cfg(target_os = "linux")]
    pub(super) fn path(&self) -> PathBuf {
        use std::os::fd::AsRawFd as _;
        format!("/proc/self/fd/{}", self.dir.as_raw_fd()).into()
    }

    /// Where the directory was when it was granted: this system has no path that opens a descriptor's directory anew.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn path(&self) -> PathBuf {
        self.directory.host.clone()
    }
}

impl Granted {
    /// Checks what a host wants to grant, and fixes where its directories are.
    pub(in crate::sandbox) fn check(mut wasi: WasiGrants) -> Result<Self, ModuleLoadError> {
        if wasi.directories.len() > MAX_DIRECTORIES {
            let message =
                format!("{} directories, at most {MAX_DIRECTORIES}", wasi.directories.len());
            return Err(unfit(&wasi.directories[MAX_DIRECTORIES].host, message));
        }
        if cfg!(not(feature = "wasi")) {
            if let Some(directory) = wasi.directories.first() {
                let message = "this build has no WASI (the feature `wasi`)".to_owned();
                return Err(unfit(&directory.host, message));
            }
            wasi.grant = Grant::None;
        }
        let mut seen = BTreeSet::new();
        let mut opened = Vec::with_capacity(wasi.directories.len());
        for directory in &mut wasi.directories {
            let refused = |message: String| unfit(&directory.host, message);
            if wasi.grant != Grant::Files {
                let grant = wasi.grant.as_str();
                return Err(refused(format!("the grant is `{grant}`, a directory needs `files`")));
            }
            guest_path(&directory.guest).map_err(refused)?;
            if !seen.insert(directory.guest.clone()) {
                return Err(refused(format!("`{}` appears twice", directory.guest)));
            }
            // Where it is doesn't change with the process's current directory.
            let host = directory.host.canonicalize().map_err(|error| refused(error.to_string()))?;
            directory.host = host;
            let refused = |message: String| unfit(&directory.host, message);
            let held = Opened::new(directory).map_err(|error| refused(error.to_string()))?;
            bounded(&held).map_err(refused)?;
            opened.push(held);
        }
        Ok(Self { wasi, opened: opened.into() })
    }

    /// What another tenant of the same host gets: the same functions, but for reading files, and no directory.
    pub(in crate::sandbox) fn for_another_tenant(&self) -> Self {
        let grant = self.wasi.grant.min(Grant::Core);
        Self { wasi: WasiGrants { grant, directories: Vec::new() }, opened: Arc::default() }
    }

    pub(in crate::sandbox) fn wasi(&self) -> &WasiGrants {
        &self.wasi
    }

    pub(super) fn opened(&self) -> &[Opened] {
        &self.opened
    }
}

fn unfit(directory: &Path, message: String) -> ModuleLoadError {
    ModuleLoadError::Directory { directory: directory.display().to_string(), message }
}

fn guest_path(path: &str) -> Result<(), String> {
    if !path.starts_with('/') || path.contains('\0') || path.len() > MAX_GUEST_PATH {
        let path = crate::diagnostics::untrusted::quoted(path);
        return Err(format!(
            "expected an absolute path for guests of at most {MAX_GUEST_PATH} bytes, got {path}"
        ));
    }
    Ok(())
}

/// Whether reading the directory is bounded.
fn bounded(opened: &Opened) -> Result<(), String> {
    let root = opened.path();
    let failed = |path: &Path, error: std::io::Error| {
        let inside = path.strip_prefix(&root).unwrap_or(path);
        format!("{}: {error}", opened.directory.host.join(inside).display())
    };
    let mut entries = 0;
    let mut pending = vec![(root.clone(), 1)];
    while let Some((path, depth)) = pending.pop() {
        for entry in fs::read_dir(&path).map_err(|error| failed(&path, error))? {
            let entry = entry.map_err(|error| failed(&path, error))?;
            entries += 1;
            if entries > MAX_ENTRIES {
                return Err(format!("more than {MAX_ENTRIES} entries"));
            }
            // The type of a link itself, so that nothing is followed.
            if entry.file_type().map_err(|error| failed(&path, error))?.is_dir() {
                if depth == MAX_DEPTH {
                    return Err(format!("directories more than {MAX_DEPTH} deep"));
                }
                pending.push((entry.path(), depth + 1));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    fn refusal(wasi: WasiGrants) -> String {
        match Granted::check(wasi) {
            Err(ModuleLoadError::Directory { message, .. }) => message,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_grant_names_directories_that_are_there_and_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().to_owned();
        let files = |directories| WasiGrants { grant: Grant::Files, directories };
        Granted::check(files(vec![Directory::new(&root, "/data")])).unwrap();

        let core = WasiGrants {
            directories: vec![Directory::new(&root, "/data")],
            ..WasiGrants::default()
        };
        assert_eq!(refusal(core), "the grant is `core`, a directory needs `files`");
        let twice = vec![Directory::new(&root, "/data"), Directory::new(&root, "/data")];
        assert_eq!(refusal(files(twice)), "`/data` appears twice");
        let relative = refusal(files(vec![Directory::new(&root, "data")]));
        assert!(relative.contains("expected an absolute path"), "{relative}");
        let gone = refusal(files(vec![Directory::new(root.join("gone"), "/data")]));
        assert!(gone.contains("No such file"), "{gone}");
        let many = (0..17).map(|n| Directory::new(&root, format!("/{n}"))).collect();
        assert_eq!(refusal(files(many)), "17 directories, at most 16");

        let full = root.join("full");
        fs::create_dir(&full).unwrap();
        (0..MAX_ENTRIES).for_each(|n| fs::write(full.join(n.to_string()), "").unwrap());
        Granted::check(files(vec![Directory::new(&full, "/data")])).unwrap();
        let over = refusal(files(vec![Directory::new(&root, "/data")]));
        assert_eq!(over, "more than 1000 entries");
        fs::remove_dir_all(full).unwrap();

        let file = root.join("file");
        fs::write(&file, "").unwrap();
        let file = refusal(files(vec![Directory::new(file, "/data")]));
        assert!(file.contains("Not a directory"), "{file}");

        let deep: PathBuf = (0..MAX_DEPTH).map(|_| "d").collect();
        fs::create_dir_all(root.join(deep)).unwrap();
        let deep = refusal(files(vec![Directory::new(&root, "/data")]));
        assert_eq!(deep, "directories more than 32 deep");
    }

    #[test]
    fn another_tenant_reads_no_directory() {
        let dir = tempfile::tempdir().unwrap();
        let directories = vec![Directory::new(dir.path(), "/data")];
        let granted = Granted::check(WasiGrants { grant: Grant::Files, directories }).unwrap();
        assert_eq!(*granted.for_another_tenant().wasi(), WasiGrants::default());
        let none = Granted::check(WasiGrants { grant: Grant::None, directories: vec![] }).unwrap();
        assert_eq!(none.for_another_tenant().wasi().grant, Grant::None);
    }
}
