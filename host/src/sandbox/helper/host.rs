//! The host's side: starts a helper, gives it a module, and waits no longer than it may take.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use wasmtime::Engine;

use super::protocol::{CompileReply, CompileRequest, REPLY_HEAD_BYTES};
use super::{COMPILE_COMMAND, MAX_CODE_BYTES, Slots};
use crate::diagnostics::untrusted::escaped;
use crate::sandbox::engine::Traces;
use crate::sandbox::process::{ProcessGroup, is_of_memory};
use crate::sandbox::{Limits, ModuleLoadError};

/// Bytes of a helper's stderr that are read.
const SAID_BYTES: u64 = 4096;

/// A number that engines have in common whose code is compatible, within one build of this library.
pub(super) fn compatibility(engine: &Engine) -> u64 {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.finish()
}

/// Has `program` compile a module, once there is a place for it: native code, serialised, that `engine` takes.
pub(in crate::sandbox) fn compile(
    program: &Path,
    slots: &Slots,
    (engine, traces): (&Engine, Traces),
    wasm: &Arc<[u8]>,
    limits: &Limits,
) -> Result<Vec<u8>, ModuleLoadError> {
    // Dropped after the helper, which has ended by then.
    let _slot = slots.take();
    let started = Instant::now();
    let allowed = Duration::from_millis(limits.compile_ms);
    let request = CompileRequest {
        traces: u64::from(traces == Traces::On),
        compatibility: compatibility(engine),
        memory_bytes: limits.compile_memory_bytes as u64,
        // For a helper whose host is gone: the host itself is more exact.
        cpu_seconds: allowed.as_secs().saturating_add(1),
        module_bytes: wasm.len() as u64,
    };
    let mut helper = Helper::start(program)?;
    let talk = helper.talk(request, Arc::clone(wasm))?;
    let late = || {
        let used = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let allowed_ms = limits.compile_ms;
        ModuleLoadError::CompileDeadline { used_ms: used.max(allowed_ms), allowed_ms }
    };
    let Talk { reply, said } = match talk.recv_timeout(allowed.saturating_sub(started.elapsed())) {
        Ok(talk) => talk,
        Err(RecvTimeoutError::Timeout) => return Err(late()),
        Err(RecvTimeoutError::Disconnected) => return Err(failed("its pipes broke")),
    };
    if reply.len() > REPLY_HEAD_BYTES + MAX_CODE_BYTES {
        return Err(failed(format!("it gave more than {MAX_CODE_BYTES} bytes of code")));
    }
    let out_of_memory = || ModuleLoadError::CompileMemory { allowed: limits.compile_memory_bytes };
    match CompileReply::from_bytes(reply) {
        Some(CompileReply::Code(code)) => Ok(code),
        Some(CompileReply::Refused(message)) => Err(ModuleLoadError::Module(escaped(&message))),
        Some(CompileReply::OutOfMemory) => Err(out_of_memory()),
        Some(CompileReply::Failed(message)) => Err(failed(message)),
        None => {
            let status = helper.0.ended(started, allowed).ok_or_else(late)?;
            let said = String::from_utf8_lossy(&said);
            match status.signal().and_then(Signal::from_named_raw) {
                Some(Signal::XCPU) => Err(late()),
                _ if is_of_memory(&said) => Err(out_of_memory()),
                _ => Err(failed(ending(status, &said))),
            }
        }
    }
}

fn failed(message: impl AsRef<str>) -> ModuleLoadError {
    ModuleLoadError::Helper(escaped(message.as_ref()))
}

fn ending(status: ExitStatus, said: &str) -> String {
    match said.lines().map(str::trim).find(|line| !line.is_empty()) {
        Some(line) => format!("it ended with {status}, and said {line}"),
        None => format!("it ended with {status}, without a reply"),
    }
}

/// What came out of a helper.
struct Talk {
    reply: Vec<u8>,
    said: Vec<u8>,
}

/// A helper that works for as long as this lives.
struct Helper(ProcessGroup);

impl Helper {
    fn start(program: &Path) -> Result<Self, ModuleLoadError> {
        let unable = |error: std::io::Error| {
            failed(format!("could not start {}: {error}", program.display()))
        };
        // Its directory is another one.
        let program = std::path::absolute(program).map_err(unable)?;
        let mut command = Command::new(program);
        command
            .arg(COMPILE_COMMAND)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        ProcessGroup::start(&mut command).map(Self).map_err(unable)
    }

    /// Begins to write to the helper and to read from it. That goes on in a thread of its own: where the pipes are held
    /// open by somebody else, it is left behind.
    fn talk(
        &mut self,
        request: CompileRequest,
        wasm: Arc<[u8]>,
    ) -> Result<Receiver<Talk>, ModuleLoadError> {
        let child = &mut self.0.0;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(failed("it has no pipes"));
        };
        let (send, receive) = channel();
        let talk = move || {
            // Nobody listens any more when the time was over first.
            let _ = send.send(talk(&request, &wasm, stdin, stdout, stderr));
        };
        std::thread::Builder::new()
            .name("retort-helper".to_owned())
            .spawn(talk)
            .map_err(|error| failed(format!("no thread for it: {error}")))?;
        Ok(receive)
    }
}

/// What fails in here shows in what is missing of the reply.
fn talk(
    request: &CompileRequest,
    wasm: &[u8],
    mut stdin: ChildStdin,
    stdout: ChildStdout,
    stderr: ChildStderr,
) -> Talk {
    let _ = stdin.write_all(&request.to_bytes()).and_then(|()| stdin.write_all(wasm));
    drop(stdin);
    let (mut reply, mut said) = (Vec::new(), Vec::new());
    let most = (REPLY_HEAD_BYTES + MAX_CODE_BYTES) as u64 + 1;
    let _ = stdout.take(most).read_to_end(&mut reply);
    let _ = stderr.take(SAID_BYTES).read_to_end(&mut said);
    Talk { reply, said }
}
