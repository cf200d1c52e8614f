//! The helper's side: gives up what a compiler doesn't need, and becomes the compiler.

use std::io::{self, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::request::{READY, Request, VERSION};
use super::{Confinement, group};

/// Files that a compiler and its linker have open at a time, and many more.
const DESCRIPTORS: u64 = 256;

/// Most bytes of a request.
const REQUEST_BYTES: u64 = 1 << 20;

/// Does the work of a helper that compiles Rust: reads one request from stdin, limits this process, and becomes the compiler.
///
/// The [toolchain](super::Toolchain) starts the program that [`RustcOptions::helper`](super::RustcOptions::helper) names with
/// [`RUSTC_COMMAND`](super::RUSTC_COMMAND) as its only argument and an empty environment. It limits its address space, its
/// processor time, the size of files and their number, and has no core dumps; where the kernel has Landlock, it gives up every
/// file but the toolchain's, the system's libraries and one directory to work in, and, from Linux 6.7 on, every TCP connection. What it gave up stays given
/// up in the compiler, and in the linker that this starts. `retort` starts itself, and a program that embeds the library can do the same.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// use retort::sandbox::{RUSTC_COMMAND, run_rustc_helper};
///
/// fn main() -> ExitCode {
///     if std::env::args().nth(1).as_deref() == Some(RUSTC_COMMAND) {
///         return run_rustc_helper();
///     }
///     ExitCode::SUCCESS
/// }
/// ```
///
/// It returns only where it couldn't do that; the reason is on stdout.
#[must_use]
pub fn run_rustc_helper() -> ExitCode {
    let reason = become_compiler();
    // Whoever asked may be gone.
    let _ = writeln!(io::stdout(), "{reason}");
    ExitCode::FAILURE
}

/// Why this process didn't become the compiler.
fn become_compiler() -> String {
    match prepared() {
        Ok(mut command) => format!("the compiler can't be started: {}", command.exec()),
        Err(reason) => reason,
    }
}

fn prepared() -> Result<Command, String> {
    let mut text = Vec::new();
    let read = io::stdin().lock().take(REQUEST_BYTES).read_to_end(&mut text);
    read.map_err(|error| format!("expected a request: {error}"))?;
    let request: Request =
        serde_json::from_slice(&text).map_err(|error| format!("expected a request: {error}"))?;
    if request.version != VERSION {
        return Err(format!("expected a request of version {VERSION}, found {}", request.version));
    }
    limit(&request).map_err(|error| format!("could not limit itself: {error}"))?;
    let confinement =
        confine(&request).map_err(|error| format!("could not confine itself: {error}"))?;
    let mut out = io::stdout().lock();
    let told = writeln!(out, "{READY}{}", confinement.as_str()).and_then(|()| out.flush());
    told.map_err(|error| format!("could not say so: {error}"))?;
    drop(out);
    if request.require_confinement && !confinement.is_full() {
        return Err("it isn't confined as it has to be".to_owned());
    }
    let mut command = Command::new(&request.program);
    command
        .args(&request.arguments)
        .env_clear()
        // Where a linker is looked for that isn't the toolchain's own.
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("TMPDIR", &request.directory)
        .env("LC_ALL", "C")
        // No file about a crash, and no long text about it.
        .env("RUSTC_ICE", "0")
        .env("RUST_BACKTRACE", "0")
        .current_dir(&request.directory)
        .stdin(Stdio::null());
    Ok(command)
}

/// Limits this process for good. Where the host has less itself, that stays.
fn limit(request: &Request) -> io::Result<()> {
    for (resource, most) in [
        (Resource::As, request.memory_bytes),
        (Resource::Cpu, request.cpu_seconds),
        (Resource::Fsize, request.file_bytes),
        (Resource::Nofile, DESCRIPTORS),
        (Resource::Core, 0),
    ] {
        let maximum = getrlimit(resource).maximum;
        let within = |most: u64| Some(maximum.map_or(most, |given| given.min(most)));
        // Where both are the same, no signal of its own says that time is over.
        let above = most.saturating_add(u64::from(resource == Resource::Cpu));
        setrlimit(resource, Rlimit { current: within(most), maximum: within(above) })?;
    }
    limit_tasks(request.tasks)
}

/// Limits how many processes and threads this user may have, as far as the system counts them: it doesn't for root. The host counts the
/// compiler's own besides, but only every now and then.
fn limit_tasks(more: u64) -> io::Result<()> {
    let before = getrlimit(Resource::Nproc);
    let most = group::tasks_of_this_user().saturating_add(more);
    let maximum = before.maximum.map_or(most, |given| given.min(most));
    let within = before.current.map_or(maximum, |given| given.min(maximum));
    let limit = Rlimit { current: Some(within), maximum: before.maximum };
    setrlimit(Resource::Nproc, limit)?;
    // Tasks of this user may be where this process can't see them, in other containers: then it has too few left.
    let started = std::thread::Builder::new().spawn(|| {});
    let limit = match started.map(std::thread::JoinHandle::join) {
        Ok(_) => Rlimit { maximum: Some(maximum), ..limit },
        Err(_) => before,
    };
    setrlimit(Resource::Nproc, limit)?;
    Ok(())
}

/// Gives up files and connections, as far as this kernel can take them.
#[cfg(target_os = "linux")]
fn confine(request: &Request) -> Result<Confinement, landlock::RulesetError> {
    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset,
        RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus, Scope, path_beneath_rules,
    };
    // The newest one that this was tried on; what an older kernel doesn't know is left out.
    let known = ABI::V6;
    let write = AccessFs::from_all(known) & !AccessFs::Execute;
    let devices = ["/dev/null", "/dev/zero", "/dev/urandom"];
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(known))?
        .handle_access(AccessNet::from_all(known))?
        .scope(Scope::from_all(known))?
        .create()?
        .add_rules(path_beneath_rules(&request.read, AccessFs::from_read(known)))?
        .add_rules(path_beneath_rules(devices, AccessFs::ReadFile | AccessFs::WriteFile))?
        .add_rules(path_beneath_rules([&request.directory], write))?
        .restrict_self()?;
    Ok(match status.ruleset {
        RulesetStatus::FullyEnforced => Confinement::Landlock,
        RulesetStatus::PartiallyEnforced => Confinement::Partial,
        RulesetStatus::NotEnforced => Confinement::None,
    })
}

#[cfg(not(target_os = "linux"))]
fn confine(_: &Request) -> io::Result<Confinement> {
    Ok(Confinement::None)
}
