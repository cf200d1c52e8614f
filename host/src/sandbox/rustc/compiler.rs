//! The compiler of this machine: where it is, and whether it can compile extractors.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant, UNIX_EPOCH};

use super::{RUSTC_VARIABLE, RustcError, RustcOptions, TARGET};
use crate::diagnostics::untrusted::escaped;
use crate::sandbox::process::ProcessGroup;

/// The oldest compiler that knows the edition of extractors.
const OLDEST: (u32, u32) = (1, 85);

/// How long a compiler may take to say what it is. One that `rustup` stands in for may be set up first.
const ANSWER_TIME: Duration = Duration::from_secs(60);

/// Bytes of such an answer.
const ANSWER_BYTES: u64 = 64 << 10;

/// Files and directories that compilers and linkers read whatever toolchain they are of: the loader, the system's libraries, and
/// what runs a compiler that is a script.
const SYSTEM: &[&str] = &[
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/local/lib",
    "/nix/store",
    "/etc/ld.so.cache",
    "/bin/sh",
    "/bin/bash",
    "/usr/bin/env",
];

/// A compiler that can compile for the target of extractors.
#[derive(Debug)]
pub(super) struct Compiler {
    pub(super) program: PathBuf,
    /// All that it says of itself: version, commit, host.
    pub(super) identity: String,
    pub(super) version: String,
    /// What tells it from any other, and its target's libraries from others that the same compiler may have later.
    pub(super) toolchain: Vec<String>,
    sysroot: PathBuf,
}

impl Compiler {
    pub(super) fn find(options: &RustcOptions) -> Result<Self, RustcError> {
        let missing = |reason: String| RustcError::ToolchainMissing { reason };
        let named = named(options)?;
        let identity = ask(&named, &["-vV"], true).map_err(missing)?;
        let version = version(&identity).map_err(missing)?;
        let sysroot = ask(&named, &["--print", "sysroot"], true).map_err(missing)?;
        let sysroot = fs::canonicalize(&sysroot)
            .map_err(|error| missing(format!("its sysroot {}: {error}", escaped(&sysroot))))?;
        let program = itself(named, &sysroot, &identity);
        let target = format!("--target={TARGET}");
        let libraries = ask(&program, &["--print", "target-libdir", &target], true);
        let Some(libraries) = libraries.ok().and_then(|it| libraries_in(Path::new(&it))) else {
            return Err(RustcError::TargetMissing { rustc: program });
        };
        let places = [&program, &sysroot].map(|path| path.to_string_lossy().into_owned());
        let toolchain = places.into_iter().chain([identity.clone()]).chain(libraries).collect();
        Ok(Self { program, identity, version, toolchain, sysroot })
    }

    /// What it says of itself in one line.
    pub(super) fn name(&self) -> String {
        escaped(self.identity.lines().next().unwrap_or_default())
    }

    /// What it and its linker may read.
    pub(super) fn readable(&self) -> Vec<PathBuf> {
        let mut read: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
        let own = ["bin", "lib"].map(|folder| self.sysroot.join(folder));
        read.extend(own.into_iter().chain([self.program.clone()]));
        read
    }

    /// The flags by which no name of a directory gets into a module: neither that of its sources, nor that of the standard
    /// library's, which some toolchains have, and which have the same name in all of them then.
    pub(super) fn remap(&self, sources: &Path) -> [String; 2] {
        let commit = self.identity.lines().find_map(|line| line.strip_prefix("commit-hash: "));
        let library = self.sysroot.join("lib/rustlib/src/rust");
        [
            format!("--remap-path-prefix={}=/", sources.display()),
            format!("--remap-path-prefix={}=/rustc/{}", library.display(), commit.unwrap_or("")),
        ]
    }
}

/// The compiler that is named, by its whole path.
fn named(options: &RustcOptions) -> Result<PathBuf, RustcError> {
    let variable = || std::env::var_os(RUSTC_VARIABLE).filter(|name| !name.is_empty());
    let (name, by) = match (&options.rustc, variable()) {
        (Some(program), _) => (program.clone(), "options"),
        (None, Some(name)) => (PathBuf::from(name), RUSTC_VARIABLE),
        (None, None) => (PathBuf::from("rustc"), "PATH"),
    };
    let missing = |reason: String| RustcError::ToolchainMissing { reason };
    let is_path = name.components().count() > 1 || name.is_absolute();
    if is_path {
        return std::path::absolute(&name)
            .ok()
            .filter(|path| path.is_file())
            .ok_or_else(|| missing(format!("{by} names {}, which isn't there", name.display())));
    }
    let directories = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&directories)
        .map(|directory| directory.join(&name))
        .find(|path| path.is_file())
        .and_then(|path| std::path::absolute(path).ok())
        .ok_or_else(|| missing(format!("there is no {} on the path", name.display())))
}

/// The compiler itself, where the program that is named finds it first, as `rustup` does: that reads the user's settings. A script
/// may set up what the compiler needs, and stays.
fn itself(named: PathBuf, sysroot: &Path, identity: &str) -> PathBuf {
    let mut first = [0; 2];
    let is_script = fs::File::open(&named)
        .and_then(|mut file| file.read_exact(&mut first))
        .is_ok_and(|()| first == *b"#!");
    let program = sysroot.join("bin/rustc");
    let is_same = || ask(&program, &["-vV"], false).is_ok_and(|found| found == identity);
    if !is_script && program.is_file() && is_same() { program } else { named }
}

/// The libraries of a target, with what changes when they are installed anew; `None` where `core` isn't among them.
fn libraries_in(directory: &Path) -> Option<Vec<String>> {
    let mut libraries = Vec::new();
    for entry in fs::read_dir(directory).ok()?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.ends_with(".rlib") {
            continue;
        }
        let Ok(found) = fs::metadata(entry.path()) else { continue };
        let written = found.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        libraries.push(format!("{name} {} {}", found.len(), written.as_nanos()));
    }
    libraries.sort();
    libraries.iter().any(|it| it.starts_with("libcore-")).then_some(libraries)
}

/// The version in what a compiler says of itself.
fn version(identity: &str) -> Result<String, String> {
    let release = identity.lines().find_map(|line| line.strip_prefix("release: "));
    let release =
        release.ok_or_else(|| format!("it isn't rustc: it says {}", escaped(identity)))?;
    let mut numbers = release.split('.').map_while(|part| part.parse::<u32>().ok());
    let found = numbers.next().zip(numbers.next());
    match found {
        Some(found) if found >= OLDEST => Ok(escaped(release)),
        _ => Err(format!(
            "expected rustc {}.{} or later, found {}",
            OLDEST.0,
            OLDEST.1,
            escaped(release)
        )),
    }
}

/// What a compiler answers, without the line end.
fn ask(program: &Path, arguments: &[&str], with_environment: bool) -> Result<String, String> {
    let failed = |reason: String| format!("{}: {reason}", program.display());
    let started = Instant::now();
    let mut command = Command::new(program);
    command
        .args(arguments)
        // A directory of its own could say which toolchain is meant.
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    if !with_environment {
        command.env_clear();
    }
    let mut process =
        ProcessGroup::start(&mut command).map_err(|error| failed(error.to_string()))?;
    let stdout = process.0.stdout.take().ok_or_else(|| failed("it has no output".to_owned()))?;
    let (send, receive) = channel();
    let read = move || {
        let mut answer = Vec::new();
        let read = stdout.take(ANSWER_BYTES).read_to_end(&mut answer);
        // Nobody listens any more when the time was over first.
        let _ = send.send(read.map(|_| answer));
    };
    std::thread::Builder::new()
        .name("retort-rustc".to_owned())
        .spawn(read)
        .map_err(|error| failed(error.to_string()))?;
    let answer =
        receive.recv_timeout(ANSWER_TIME).map_err(|_| failed("it doesn't answer".to_owned()))?;
    let answer = answer.map_err(|error| failed(error.to_string()))?;
    let status = process.ended(started, ANSWER_TIME);
    if !status.is_some_and(|status| status.success()) {
        return Err(failed(format!("it doesn't answer {}", arguments.join(" "))));
    }
    Ok(String::from_utf8_lossy(&answer).trim_end().to_owned())
}
