//! The helper's side: limits itself, compiles one module, and ends.

use std::io::{self, Read, Write};
use std::process::ExitCode;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use wasmtime::Engine;

use super::protocol::{CompileReply, CompileRequest, REQUEST_BYTES};
use crate::sandbox::engine::{Traces, compiler};

/// The standard streams: no other file is opened.
const DESCRIPTORS: u64 = 3;

/// Does the work of a helper: reads one request and one module from stdin, and writes the reply to stdout. Nothing else may
/// have been read from stdin or written to stdout before.
///
/// What the static gate doesn't foresee of a module's compilation ends a helper process, and nothing else: the sandbox
/// starts the program that [`ForeignModules::Helper`](crate::sandbox::ForeignModules::Helper) names, with [`COMPILE_COMMAND`](super::COMPILE_COMMAND) as its only
/// argument, an empty environment, `/` as its directory and three pipes. The helper limits itself before it reads the
/// module: its address space to [`Limits::compile_memory_bytes`](crate::sandbox::Limits::compile_memory_bytes), its processor time,
/// and no files, processes or core dumps. (The kernel doesn't hold root to the limit on processes.) It hands back native code, serialised, or why there is none. The sandbox kills
/// it when [`Limits::compile_ms`](crate::sandbox::Limits::compile_ms) are over, reads no more than 64 MiB, and waits for
/// its end in any case. As many run at one time, for one engine, as there are processors; waiting for a place isn't counted.
///
/// For a small module all that takes some 5 ms more than compiling in this process, of which 3 ms are the start of the program.
///
/// The helper has to be of the same build as the host, which both check: `retort` starts itself, and a program that embeds
/// the library can do the same. File descriptors that the host has opened without close-on-exec, which the standard
/// library never does, are the helper's as well.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// use retort::sandbox::{COMPILE_COMMAND, ForeignModules, Options, Sandbox, run_compile_helper};
///
/// fn main() -> ExitCode {
///     if std::env::args().nth(1).as_deref() == Some(COMPILE_COMMAND) {
///         return run_compile_helper();
///     }
///     let mut options = Options::default();
///     options.foreign = std::env::current_exe().map_or(ForeignModules::Refuse, ForeignModules::Helper);
///     let sandbox = Sandbox::with_options(options);
///     if sandbox.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
/// }
/// ```
///
/// The calling process limits itself for good, so it should end with what this returns, which is success when the reply
/// could be written, whatever it says.
#[must_use]
pub fn run_compile_helper() -> ExitCode {
    let reply = answer(&mut io::stdin().lock()).unwrap_or_else(CompileReply::Failed);
    let (head, content) = reply.to_parts();
    let mut out = io::stdout().lock();
    let written = out.write_all(&head).and_then(|()| out.write_all(content));
    match written.and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever asked is gone, or has read enough.
        Err(_) => ExitCode::FAILURE,
    }
}

fn answer(input: &mut impl Read) -> Result<CompileReply, String> {
    let mut head = [0; REQUEST_BYTES];
    input.read_exact(&mut head).map_err(|error| format!("expected a request: {error}"))?;
    let request = CompileRequest::from_bytes(&head)
        .ok_or_else(|| "expected a request of version 3 of the protocol".to_owned())?;
    confine(&request).map_err(|error| format!("could not limit itself: {error}"))?;
    let wasm = module(input, request.module_bytes)?;
    let traces = if request.traces == 0 { Traces::Off } else { Traces::On };
    Ok(compile(&wasm, traces, request.compatibility))
}

/// Reads a module of exactly so many bytes: one that was cut off may be another module, and a valid one.
fn module(input: &mut impl Read, bytes: u64) -> Result<Vec<u8>, String> {
    let mut wasm = Vec::new();
    let read = input.take(bytes.saturating_add(1)).read_to_end(&mut wasm);
    read.map_err(|error| format!("expected a module: {error}"))?;
    match wasm.len() as u64 {
        found if found == bytes => Ok(wasm),
        found if found > bytes => Err(format!("expected a module of {bytes} bytes, found more")),
        found => Err(format!("expected a module of {bytes} bytes, found {found}")),
    }
}

fn compile(wasm: &[u8], traces: Traces, compatibility: u64) -> CompileReply {
    let engine = match Engine::new(&compiler(traces)) {
        Ok(engine) => engine,
        Err(error) => return refusal(&error, CompileReply::Failed),
    };
    if super::host::compatibility(&engine) != compatibility {
        return CompileReply::Failed("it is of another build than the host".to_owned());
    }
    match engine.precompile_module(wasm) {
        Ok(code) => CompileReply::Code(code),
        Err(error) => refusal(&error, CompileReply::Refused),
    }
}

fn refusal(error: &wasmtime::Error, otherwise: fn(String) -> CompileReply) -> CompileReply {
    if error.is::<wasmtime::OutOfMemory>() {
        CompileReply::OutOfMemory
    } else {
        otherwise(format!("{error:#}"))
    }
}

/// Gives up what compiling doesn't need, for good. Where the host has less itself, that stays.
fn confine(request: &CompileRequest) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    }
    for (resource, most) in [
        (Resource::As, request.memory_bytes),
        (Resource::Cpu, request.cpu_seconds),
        (Resource::Nofile, DESCRIPTORS),
        (Resource::Nproc, 0),
        (Resource::Fsize, 0),
        (Resource::Core, 0),
    ] {
        let maximum = getrlimit(resource).maximum;
        let within = |most: u64| Some(maximum.map_or(most, |given| given.min(most)));
        // Where both are the same, no signal of its own says that time is over.
        let above = most.saturating_add(u64::from(resource == Resource::Cpu));
        setrlimit(resource, Rlimit { current: within(most), maximum: within(above) })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_has_as_many_bytes_as_were_announced() {
        assert_eq!(module(&mut &b"abc"[..], 3), Ok(b"abc".to_vec()));
        for (bytes, found) in [(4, "found 3"), (2, "found more"), (0, "found more")] {
            let refused = module(&mut &b"abc"[..], bytes).expect_err("another length");
            assert!(refused.contains(&format!("{bytes} bytes, {found}")), "{refused}");
        }
    }
}
