//! Files that commands write, held apart from those that they read.
//!
//! A file has many names: paths with and without links, hard links, stdin. So files are compared by what they are, device
//! and inode, before the first byte of any is overwritten.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use retort::bundle::{Digest, MANIFEST_FILE, MODULE_NAME, Part, RECORD_FILE};

use super::error::CliError;
use super::files;

/// Which file something is, whatever it is called.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    /// Of a regular file: nothing is lost by writing to a terminal, a pipe or a device that is read as well.
    fn of(found: &Metadata) -> Option<Self> {
        found.is_file().then(|| Self { device: found.dev(), inode: found.ino() })
    }

    fn of_path(path: &Path) -> Option<Self> {
        Self::of(&fs::metadata(path).ok()?)
    }

    fn of_stream(stream: &impl AsFd) -> Option<Self> {
        let stream = File::from(stream.as_fd().try_clone_to_owned().ok()?);
        Self::of(&stream.metadata().ok()?)
    }
}

/// What a command reads.
#[derive(Default)]
pub(super) struct Inputs {
    files: Vec<PathBuf>,
    /// Directories, and how many directories below them the files are that are read.
    folders: Vec<(PathBuf, usize)>,
}

impl Inputs {
    /// With these files; `-` is stdin.
    pub(super) fn files<'a>(mut self, paths: impl IntoIterator<Item = &'a Path>) -> Self {
        self.files.extend(paths.into_iter().map(Path::to_owned));
        self
    }

    /// With a file, or with what is in a bundle's directory.
    pub(super) fn artifact(mut self, path: &Path) -> Self {
        if path.is_dir() {
            self.folders.push((path.to_owned(), 0));
            return self;
        }
        self.files([path])
    }

    /// With all bundles of a directory, and its record.
    pub(super) fn bundles(mut self, root: &Path) -> Self {
        self.folders.push((root.to_owned(), 1));
        self.files.push(root.join(RECORD_FILE));
        self
    }

    /// Refuses to write a file that is read as well, or that would come to lie in a bundle that is. `role` names the flag
    /// that says where to write.
    pub(super) fn guard(&self, written: &Path, role: &'static str) -> Result<(), CliError> {
        let refused = |path: String| Err(CliError::OutputIsInput { path, role });
        if place(written).is_some_and(|place| self.is_in_bundle(&place)) {
            return refused(files::name(written));
        }
        match FileIdentity::of_path(written) {
            None => Ok(()),
            Some(written) => self.find(written).map_or(Ok(()), refused),
        }
    }

    /// Refuses to store bundles in a directory one of whose bundles holds a file that is read, beside what bundles hold: it
    /// would go with a bundle that is replaced.
    pub(super) fn guard_store(&self, root: &Path) -> Result<(), CliError> {
        let Ok(root) = root.canonicalize() else { return Ok(()) };
        let is_part = |name: &str| {
            let names = Part::ALL.map(|part| part.file_name(MODULE_NAME));
            name == MANIFEST_FILE || names.iter().any(|part| part == name)
        };
        let would_go = |path: &&PathBuf| {
            let place = if files::is_stdin(path) { None } else { place(path) };
            let inside = place.as_ref().and_then(|place| place.strip_prefix(&root).ok());
            let names: Vec<_> = inside
                .into_iter()
                .flatten()
                .map(|name| name.to_str().unwrap_or_default())
                .collect();
            match names.as_slice() {
                [bundle, file] if bundle.parse::<Digest>().is_ok() => !is_part(file),
                [bundle, _, ..] => bundle.parse::<Digest>().is_ok(),
                _ => false,
            }
        };
        match self.files.iter().find(would_go) {
            Some(path) => {
                Err(CliError::OutputIsInput { path: files::name(path), role: "a bundle" })
            }
            None => Ok(()),
        }
    }

    /// Refuses to write results to stdout where that is a file that is read as well: what is written would be read again,
    /// without an end.
    pub(super) fn guard_stdout(&self) -> Result<(), CliError> {
        match FileIdentity::of_stream(&io::stdout()).and_then(|stdout| self.find(stdout)) {
            None => Ok(()),
            Some(path) => Err(CliError::OutputIsInput { path, role: "stdout" }),
        }
    }

    /// Whether a place is in one of the bundles that are read, at whatever depth: a new file there would spoil it.
    fn is_in_bundle(&self, place: &Path) -> bool {
        self.folders.iter().any(|(folder, depth)| {
            let Ok(folder) = folder.canonicalize() else { return false };
            let Ok(inside) = place.strip_prefix(&folder) else { return false };
            let bundle: PathBuf = inside.components().take(*depth).collect();
            inside.components().count() > *depth && is_bundle(&folder.join(bundle))
        })
    }

    /// The name of the input that is this file.
    fn find(&self, wanted: FileIdentity) -> Option<String> {
        let is_wanted = |path: &&PathBuf| {
            let found = match files::is_stdin(path) {
                true => FileIdentity::of_stream(&io::stdin()),
                false => FileIdentity::of_path(path),
            };
            found == Some(wanted)
        };
        if let Some(path) = self.files.iter().find(is_wanted) {
            return Some(files::name(path));
        }
        let mut folders = self.folders.clone();
        while let Some((folder, depth)) = folders.pop() {
            if depth == 0 && !is_bundle(&folder) {
                continue;
            }
            // What can't be listed or looked at isn't read either.
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                // Links are not followed there.
                let Ok(found) = entry.metadata() else { continue };
                if found.is_dir() && depth > 0 {
                    folders.push((entry.path(), depth - 1));
                } else if depth == 0 && FileIdentity::of(&found) == Some(wanted) {
                    return Some(files::name(&entry.path()));
                }
            }
        }
        None
    }
}

/// Whether a directory is to be read as a bundle.
fn is_bundle(folder: &Path) -> bool {
    folder.join(MANIFEST_FILE).symlink_metadata().is_ok()
}

/// Refuses two outputs that are one file. The roles name the flags that say where to write.
pub(super) fn guard_two(
    (one, role): (&Path, &'static str),
    (other, other_role): (&Path, &'static str),
) -> Result<(), CliError> {
    let is_same = match (FileIdentity::of_path(one), FileIdentity::of_path(other)) {
        (Some(one), Some(other)) => one == other,
        (None, None) if !one.exists() && !other.exists() => place(one) == place(other),
        _ => false,
    };
    if one == other || is_same {
        let roles = [role, other_role];
        return Err(CliError::OutputTwice { path: one.to_owned(), roles });
    }
    Ok(())
}

/// Where a file is, or would be, without links.
fn place(path: &Path) -> Option<PathBuf> {
    if let Ok(place) = path.canonicalize() {
        return Some(place);
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    Some(parent.unwrap_or(Path::new(".")).canonicalize().ok()?.join(path.file_name()?))
}
