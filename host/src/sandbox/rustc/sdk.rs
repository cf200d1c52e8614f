//! The libraries of the SDK: compiled once by a toolchain, and kept.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::compiler::Compiler;
use super::job::{Done, Job};
use super::{RustcError, RustcLimits, RustcOptions, flags};
use crate::evidence::effort::Cancel;
use crate::sandbox::cache::PrivateDir;

/// Where in an entry it stands which linker the compiler starts.
const LINKER: &str = "linker";

/// Where in an entry the digests of its libraries stand. It is written last, so that an entry which has it is whole.
const DIGESTS: &str = "digests";

/// How long the compiler may take for each of the SDK's crates, on a machine with much else to do.
const BUILD_MS: u64 = 120_000;

/// How the names of directories begin that the SDK is being compiled in, and how old one is that nobody compiles in any more.
const BUILDING: &str = ".building-";
const ABANDONED: Duration = Duration::from_secs(3_600);

/// The sources of the SDK.
pub(super) struct Sdk {
    pub(super) version: &'static str,
    /// The path of each file, and its text.
    pub(super) files: &'static [(&'static str, &'static str)],
}

/// The SDK of this version of Retort.
impl Default for Sdk {
    fn default() -> Self {
        Self { version: retort_guest_template::SDK_VERSION, files: retort_guest_template::SDK }
    }
}

impl Sdk {
    /// The digest of its version and all its files.
    pub(super) fn digest(&self) -> [u8; 32] {
        let mut digest = Sha256::new();
        update(&mut digest, self.parts());
        digest.finalize().into()
    }

    fn parts(&self) -> impl Iterator<Item = &str> {
        let files = self.files.iter().flat_map(|(path, text)| [*path, *text]);
        [self.version].into_iter().chain(files)
    }
}

/// Parts, each after its length.
fn update<'a>(digest: &mut Sha256, parts: impl Iterator<Item = &'a str>) {
    for part in parts {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part.as_bytes());
    }
}

/// The libraries that extractors are compiled with.
#[derive(Debug)]
pub(super) struct SdkLibraries {
    directory: PathBuf,
    linker: Option<PathBuf>,
    /// Where nothing is kept, the directory lives as long as this.
    _temporary: Option<TempDir>,
}

impl SdkLibraries {
    /// Others in the place of these, which the compiler can't use.
    pub(super) fn instead_of(
        broken: &Self,
        sdk: &Sdk,
        options: &RustcOptions,
        compiler: &Compiler,
        cancel: &Cancel,
    ) -> Result<Self, RustcError> {
        if broken.is_kept() {
            discard(&broken.directory);
        }
        Self::of(sdk, options, compiler, cancel)
    }

    /// Those that were compiled before, or new ones.
    pub(super) fn of(
        sdk: &Sdk,
        options: &RustcOptions,
        compiler: &Compiler,
        cancel: &Cancel,
    ) -> Result<Self, RustcError> {
        let failed = |error: io::Error| {
            RustcError::ToolchainFailed(format!("a directory for the SDK: {error}"))
        };
        let root = options.cache.clone().or_else(default_root);
        let kept = root.filter(|root| PrivateDir::open(root).is_ok());
        let entry = kept.as_ref().map(|root| root.join(digest(sdk, compiler)));
        if let Some(found) = entry.as_deref().and_then(Self::kept) {
            return Ok(found);
        }
        if let Some(root) = &kept {
            remove_abandoned(root);
        }
        let root = kept.unwrap_or_else(std::env::temp_dir);
        let building = private_directory(BUILDING, &root).map_err(failed)?;
        build(sdk, options, compiler, building.path(), cancel)?;
        if let Some(entry) = entry {
            // One that isn't whole is in the way.
            if entry.symlink_metadata().is_ok() && Self::kept(&entry).is_none() {
                discard(&entry);
            }
            // Another process may have been first: its entry is as good.
            if fs::rename(building.path(), &entry).is_ok() {
                // It has another name now.
                let _ = building.keep();
            }
            if let Some(found) = Self::kept(&entry) {
                return Ok(found);
            }
            let temporary =
                private_directory("retort-sdk-", &std::env::temp_dir()).map_err(failed)?;
            build(sdk, options, compiler, temporary.path(), cancel)?;
            return Ok(Self::temporary(temporary));
        }
        Ok(Self::temporary(building))
    }

    /// Whether they are in a cache.
    fn is_kept(&self) -> bool {
        self._temporary.is_none()
    }

    /// A whole entry in a directory of this user's.
    fn kept(entry: &Path) -> Option<Self> {
        // Opening a private directory creates one.
        entry.symlink_metadata().ok().filter(fs::Metadata::is_dir)?;
        PrivateDir::open(entry).ok()?;
        let noted = fs::read_to_string(entry.join(DIGESTS)).ok()?;
        let is_whole = digests(entry).is_ok_and(|found| found == noted);
        is_whole.then(|| Self {
            directory: entry.to_owned(),
            linker: linker_of(entry),
            _temporary: None,
        })
    }

    fn temporary(directory: TempDir) -> Self {
        let path = directory.path().to_owned();
        Self { linker: linker_of(&path), directory: path, _temporary: Some(directory) }
    }

    /// The arguments by which an extractor is compiled with them.
    pub(super) fn arguments(&self) -> impl Iterator<Item = String> {
        flags::CRATES.iter().map(|(_, name, known)| {
            format!("--extern={known}={}", self.directory.join(library(name)).display())
        })
    }

    /// What a compiler has to read for them.
    pub(super) fn readable(&self) -> Vec<PathBuf> {
        let mut read = vec![self.directory.clone()];
        if let Some(linker) = &self.linker {
            read.push(linker.clone());
            read.extend(libraries_of(linker));
        }
        read
    }
}

/// Where a linker's own libraries are: beside its directory, and for one of a toolchain's, with those of the compiler.
fn libraries_of(linker: &Path) -> impl Iterator<Item = PathBuf> {
    let beside = linker.parent().and_then(Path::parent).map(|above| above.join("lib"));
    let toolchain = linker.ancestors().find(|it| it.ends_with("lib/rustlib"));
    beside.into_iter().chain(toolchain.and_then(Path::parent).map(Path::to_owned))
}

fn library(name: &str) -> String {
    format!("lib{name}.rlib")
}

fn linker_of(entry: &Path) -> Option<PathBuf> {
    let written = fs::read_to_string(entry.join(LINKER)).ok()?;
    fs::canonicalize(written).ok()
}

/// Removes what was left by processes that were killed while they built.
fn remove_abandoned(root: &Path) {
    let Ok(entries) = fs::read_dir(root) else { return };
    for entry in entries.flatten() {
        let is_building = entry.file_name().to_str().is_some_and(|name| name.starts_with(BUILDING));
        let written = entry.metadata().and_then(|found| found.modified()).ok();
        let age = written.and_then(|written| written.elapsed().ok());
        if is_building && age.is_some_and(|age| age > ABANDONED) {
            // What can't be removed takes room and does no harm.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// A new directory that nobody else is let into, removed when this is dropped.
pub(super) fn private_directory(prefix: &str, root: &Path) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).permissions(fs::Permissions::from_mode(0o700)).tempdir_in(root)
}

/// What an entry depends on.
fn digest(sdk: &Sdk, compiler: &Compiler) -> String {
    let mut digest = Sha256::new();
    let flags = flags::COMMON.iter().chain(flags::LIBRARY).copied();
    let toolchain = compiler.toolchain.iter().map(String::as_str);
    update(&mut digest, sdk.parts().chain(toolchain).chain(flags));
    hex(&digest.finalize()[..16])
}

/// The digests of the libraries in an entry, one a line.
fn digests(entry: &Path) -> io::Result<String> {
    let mut lines = String::new();
    for (_, name, _) in flags::CRATES {
        let library = library(name);
        let digest = hex(&Sha256::digest(fs::read(entry.join(&library))?));
        lines += &format!("{digest} {library}\n");
    }
    Ok(lines)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Takes an entry out of the way, whole or not at all: whoever still reads it goes on with what is open.
fn discard(entry: &Path) {
    let Some(root) = entry.parent() else { return };
    // What can't be moved stays, and then the SDK is compiled into a directory that isn't kept.
    if let Ok(aside) = private_directory(BUILDING, root) {
        let _ = fs::rename(entry, aside.path().join("discarded"));
    }
}

/// `$XDG_CACHE_HOME/retort/sdk`, or the same in the user's home.
fn default_root() -> Option<PathBuf> {
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let caches = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(caches.join("retort/sdk"))
}

/// Compiles the SDK in a directory, where its libraries stay. It is our own source: it is limited as others are, and may read what it
/// likes, since where the linker is becomes known by it.
fn build(
    sdk: &Sdk,
    options: &RustcOptions,
    compiler: &Compiler,
    directory: &Path,
    cancel: &Cancel,
) -> Result<(), RustcError> {
    let failed =
        |error: io::Error| RustcError::ToolchainFailed(format!("a directory for the SDK: {error}"));
    let directory = &fs::canonicalize(directory).map_err(failed)?;
    for (path, text) in sdk.files {
        let file = directory.join(path);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        fs::write(file, text).map_err(failed)?;
    }
    let limits = RustcLimits { time_ms: BUILD_MS, ..RustcLimits::default() };
    let run = |arguments: Vec<String>| -> Result<Done, RustcError> {
        let mut read = compiler.readable();
        read.push(PathBuf::from("/"));
        let job = Job {
            helper: &options.helper,
            program: &compiler.program,
            arguments,
            directory,
            read,
            limits: &limits,
            // It is our own source.
            require_confinement: false,
            confined: &OnceLock::new(),
            cancel,
        };
        // There is no source but ours to blame.
        job.run().map_err(|error| match error {
            error if error.is_of_host() => error,
            error => RustcError::ToolchainFailed(format!("it can't compile the SDK: {error}")),
        })
    };
    let remap = compiler.remap(directory);
    let texts =
        |flags: &[&str]| -> Vec<String> { flags.iter().map(|it| (*it).to_owned()).collect() };
    for (folder, name, _) in flags::CRATES {
        let mut arguments = texts(flags::COMMON);
        arguments.extend(texts(flags::LIBRARY));
        arguments.extend(remap.clone());
        arguments.push(format!("--crate-name={name}"));
        arguments.extend(["-o".to_owned(), library(name), format!("{folder}/src/lib.rs")]);
        run(arguments)?;
    }
    // An empty library, for what the compiler says of how it is linked.
    fs::write(directory.join("empty.rs"), "").map_err(failed)?;
    let mut arguments = texts(flags::COMMON);
    arguments.extend(texts(&[
        "--crate-type=cdylib",
        "--print=link-args",
        "-o",
        "empty.wasm",
        "empty.rs",
    ]));
    let printed = run(arguments)?.printed;
    if let Some(linker) = linker_in(&printed) {
        fs::write(directory.join(LINKER), linker).map_err(failed)?;
    }
    let digests = digests(directory).map_err(failed)?;
    fs::write(directory.join(DIGESTS), digests).map_err(failed)
}

/// The linker's path in what a compiler prints of its call: the first word behind the variables that it sets. One that is found by
/// its name alone is the toolchain's own.
fn linker_in(printed: &str) -> Option<&str> {
    let line = printed.lines().find(|line| line.contains("-flavor") || line.contains(".wasm"))?;
    let word = if line.starts_with('"') {
        line.get(1..)
    } else {
        line.split_once(" \"").map(|(_, it)| it)
    };
    let (path, _) = word?.split_once('"')?;
    Path::new(path).is_absolute().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linker_is_known_by_its_path() {
        let lld = r#"LC_ALL="C" PATH="/a b:/c" VSLANG="1033" "/opt/bin/rust-lld" "-flavor" "wasm" "-o" "x.wasm""#;
        assert_eq!(linker_in(lld), Some("/opt/bin/rust-lld"));
        assert_eq!(linker_in("\"/opt/wasm-ld\" \"-o\" \"x.wasm\""), Some("/opt/wasm-ld"));
        assert_eq!(linker_in("LC_ALL=\"C\" \"rust-lld\" \"-flavor\" \"wasm\""), None);
        assert_eq!(linker_in("warning: nothing"), None);
    }
}
