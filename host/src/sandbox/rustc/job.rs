//! One run of the compiler: started, read, and ended at its deadline.

use std::io::{Read, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Instant;

use rustix::process::Signal;

use super::request::{READY, Request, VERSION};
use super::watch::{LOOK, Watch};
use super::{Confinement, RUSTC_COMMAND, RustcError, RustcLimits, RustcMessage, messages};
use crate::evidence::effort::Cancel;
use crate::sandbox::process::{ProcessGroup, is_of_memory};

/// Bytes of messages that are read. What the compiler says after that is about the same.
const SAID_BYTES: u64 = 1 << 20;

/// Bytes of its output that are read: the helper's line, and what the compiler was asked to print.
const PRINTED_BYTES: u64 = 64 << 10;

/// Threads of each process, on a machine of many processors.
const TASKS_OF_A_PROCESS: u64 = 32;

/// A run of the compiler.
pub(super) struct Job<'a> {
    pub(super) helper: &'a Path,
    pub(super) program: &'a Path,
    pub(super) arguments: Vec<String>,
    /// Where it works.
    pub(super) directory: &'a Path,
    /// What it may read besides.
    pub(super) read: Vec<PathBuf>,
    pub(super) limits: &'a RustcLimits,
    /// Whether it ends where it can't be confined in full; and where it is noted how it was.
    pub(super) require_confinement: bool,
    pub(super) confined: &'a OnceLock<Confinement>,
    /// Who may end it.
    pub(super) cancel: &'a Cancel,
}

/// What came of a run that ended well.
pub(super) struct Done {
    pub(super) confinement: Confinement,
    pub(super) printed: String,
}

/// What a process wrote.
struct Wrote {
    printed: Vec<u8>,
    said: Vec<u8>,
}

impl Job<'_> {
    /// Runs the compiler to its end.
    pub(super) fn run(self) -> Result<Done, RustcError> {
        let broken = |reason: String| RustcError::ToolchainFailed(reason);
        let mut process = self.start().map_err(|error| {
            broken(format!("{} can't be started: {error}", self.helper.display()))
        })?;
        let watch = Watch::new(process.0.id(), self.directory, self.limits, self.cancel);
        let written = self.talk(&mut process)?;
        let wrote = loop {
            match written.recv_timeout(LOOK) {
                Ok(wrote) => break wrote,
                Err(RecvTimeoutError::Timeout) => watch.look()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(broken("what reads its output has ended".to_owned()));
                }
            }
        };
        let status = loop {
            match process.ended(Instant::now(), LOOK) {
                Some(status) => break status,
                None => watch.look()?,
            }
        };
        // What it wrote at last.
        watch.look_at_files()?;
        let printed = String::from_utf8_lossy(&wrote.printed).into_owned();
        let (first, rest) = printed.split_once('\n').unwrap_or((&printed, ""));
        let confinement = first.strip_prefix(READY).and_then(Confinement::named);
        let confinement = confinement
            .ok_or_else(|| broken(format!("the helper said {}", messages::shown(first, &[]))))?;
        if self.require_confinement && !confinement.is_full() {
            return Err(RustcError::Unconfined { found: confinement });
        }
        let _ = self.confined.set(confinement);
        if !rest.is_empty() && !status.success() && rest.starts_with("the compiler can't") {
            return Err(broken(messages::shown(rest, &[])));
        }
        if status.success() {
            return Ok(Done { confinement, printed: rest.to_owned() });
        }
        if status.signal().and_then(Signal::from_named_raw) == Some(Signal::XCPU) {
            return Err(watch.late());
        }
        Err(self.failed(status, &String::from_utf8_lossy(&wrote.said)))
    }

    fn start(&self) -> std::io::Result<ProcessGroup> {
        // Its directory is another one.
        let mut command = Command::new(std::path::absolute(self.helper)?);
        command
            .arg(RUSTC_COMMAND)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        ProcessGroup::start(&mut command)
    }

    /// Hands over the request, and reads what comes back in a thread of its own: where a pipe is held open by somebody else, it is
    /// left behind.
    fn talk(
        &self,
        process: &mut ProcessGroup,
    ) -> Result<std::sync::mpsc::Receiver<Wrote>, RustcError> {
        let child = &mut process.0;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(mut stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(RustcError::ToolchainFailed("the helper has no pipes".to_owned()));
        };
        let request = serde_json::to_vec(&self.request())
            .map_err(|error| RustcError::ToolchainFailed(error.to_string()))?;
        let (send, receive) = channel();
        let (heard, listen) = channel();
        let talk = move || {
            // What fails in here shows in what is missing of the reply.
            let _ = stdin.write_all(&request);
            drop(stdin);
            let printed = read(stdout, PRINTED_BYTES);
            let said = listen.recv().unwrap_or_default();
            // Nobody listens any more when the time was over first.
            let _ = send.send(Wrote { printed, said });
        };
        let listener = move || {
            let _ = heard.send(read(stderr, SAID_BYTES));
        };
        let thread = || std::thread::Builder::new().name("retort-rustc".to_owned());
        let started = thread().spawn(listener).and_then(|_| thread().spawn(talk));
        started
            .map(|_| receive)
            .map_err(|error| RustcError::ToolchainFailed(format!("no thread for it: {error}")))
    }

    fn request(&self) -> Request {
        Request {
            version: VERSION,
            program: self.program.to_owned(),
            arguments: self.arguments.clone(),
            directory: self.directory.to_owned(),
            read: self.read.clone(),
            memory_bytes: self.limits.memory_bytes,
            // For a compiler whose host is gone: the host itself is more exact, and the compiler's threads add up.
            cpu_seconds: (self.limits.time_ms / 1_000).saturating_mul(2).saturating_add(1),
            file_bytes: self.limits.module_bytes,
            require_confinement: self.require_confinement,
            tasks: self.limits.processes.saturating_mul(TASKS_OF_A_PROCESS),
        }
    }

    fn failed(&self, status: ExitStatus, said: &str) -> RustcError {
        let hidden = self.hidden();
        let (messages, omitted) = messages::errors(said, &hidden);
        let is_refused_memory = is_of_memory(said);
        let signal = status.signal().and_then(Signal::from_named_raw);
        if signal == Some(Signal::XFSZ) || said.contains("File too large") {
            return RustcError::ModuleTooLarge { allowed: self.limits.module_bytes };
        }
        // An error of the source ends the compiler with 1; one of its own, with 101 or by a signal.
        let is_of_source = !messages.iter().any(RustcMessage::is_of_toolchain);
        if status.code() == Some(1) && !messages.is_empty() && is_of_source {
            return RustcError::Rejected { messages, omitted };
        }
        if is_refused_memory {
            return RustcError::Memory { allowed: self.limits.memory_bytes };
        }
        // It never does that by itself, nor does any of its limits: processor time that is used up has a signal of its own.
        if signal == Some(Signal::KILL) {
            return RustcError::ToolchainFailed(
                "the compiler was killed from outside, as by a system that has no memory left"
                    .to_owned(),
            );
        }
        let words = messages.first().map(RustcMessage::text).or_else(|| {
            let line = said.lines().map(str::trim).find(|line| !line.is_empty())?;
            Some(messages::shown(line, &hidden))
        });
        let ended = match words {
            Some(words) => format!("it ended with {status}, and said {words}"),
            None => format!("it ended with {status}, without a word"),
        };
        if messages.iter().any(RustcMessage::is_of_library) {
            return RustcError::SdkUnusable(ended);
        }
        RustcError::Crashed(ended)
    }

    /// Directories that messages don't name.
    fn hidden(&self) -> Vec<String> {
        let mut paths = vec![self.directory.to_owned()];
        paths.extend(self.read.iter().cloned());
        let mut hidden: Vec<String> = paths
            .iter()
            .filter(|path| path.components().count() > 2)
            .map(|path| format!("{}/", path.display()))
            .collect();
        // Whole directories before those that they are in.
        hidden.sort_by_key(|path| std::cmp::Reverse(path.len()));
        hidden
    }
}

/// As much as may be; what follows is thrown away, so that whoever writes it doesn't wait.
fn read(mut from: impl Read, most: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = from.by_ref().take(most).read_to_end(&mut bytes);
    let _ = std::io::copy(&mut from, &mut std::io::sink());
    bytes
}
