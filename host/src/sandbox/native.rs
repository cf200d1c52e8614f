//! From an inspected module to native code. This is the one place where bytes become code that serves events.

use wasmtime::{Engine, Module};

use super::standing::Standing;
use super::{ForeignModules, ModuleLoadError, Sandbox, helper};
use crate::gate::inspect::Inspected;

/// Makes native code of a module: in this process if this host rendered it, and as [`ForeignModules`] says if not. What was
/// compiled before comes from the sandbox's cache, if it has one; a module that nobody may compile doesn't come from there
/// either.
pub(super) fn compile(sandbox: &Sandbox, inspected: &Inspected) -> Result<Module, ModuleLoadError> {
    let (engine, wasm) = (sandbox.engine(), inspected.wasm());
    let compiler = Compiler::of(sandbox, Standing::of(inspected.reset_safety()))?;
    let Some(cache) = sandbox.cache() else {
        return match compiler {
            Compiler::ThisProcess => {
                Module::from_binary(engine, wasm).map_err(ModuleLoadError::module)
            }
            Compiler::Helper(_) => deserialized(engine, &compiler.serialized(sandbox, inspected)?),
        };
    };
    if let Some(module) = cache.get(wasm, |code| deserialized(engine, code).ok()) {
        return Ok(module);
    }
    let code = compiler.serialized(sandbox, inspected)?;
    let module = deserialized(engine, &code)?;
    cache.put(wasm, &code);
    Ok(module)
}

/// The native code that there is in the sandbox's cache for a module of this standing. `None` where there is none, or nobody may
/// compile it.
pub(super) fn kept(sandbox: &Sandbox, wasm: &[u8], standing: Standing) -> Option<Module> {
    Compiler::of(sandbox, standing).ok()?;
    sandbox.cache()?.get_early(wasm, |code| deserialized(sandbox.engine(), code).ok())
}

/// Who compiles a module.
enum Compiler<'a> {
    ThisProcess,
    Helper(&'a std::path::Path),
}

impl<'a> Compiler<'a> {
    fn of(sandbox: &'a Sandbox, standing: Standing) -> Result<Self, ModuleLoadError> {
        match sandbox.foreign() {
            _ if standing == Standing::Rendered => Ok(Self::ThisProcess),
            ForeignModules::InProcess => Ok(Self::ThisProcess),
            ForeignModules::Helper(program) => Ok(Self::Helper(program)),
            ForeignModules::Refuse => Err(ModuleLoadError::Foreign),
        }
    }

    /// The native code of a module, as wasmtime writes it down.
    fn serialized(
        &self,
        sandbox: &Sandbox,
        inspected: &Inspected,
    ) -> Result<Vec<u8>, ModuleLoadError> {
        let (engine, wasm) = (sandbox.engine(), inspected.wasm());
        match self {
            Self::ThisProcess => engine.precompile_module(wasm).map_err(ModuleLoadError::module),
            Self::Helper(program) => {
                let engine = (engine, sandbox.traces());
                helper::compile(program, sandbox.helpers(), engine, wasm, sandbox.limits())
            }
        }
    }
}

/// Native code that this host made, ready to be run. wasmtime refuses what another version of it, or another configuration,
/// wrote.
fn deserialized(engine: &Engine, code: &[u8]) -> Result<Module, ModuleLoadError> {
    #[allow(unsafe_code, reason = "the one way in which wasmtime takes native code")]
    // SAFETY: `code` is what `Engine::precompile_module` wrote, unchanged: in this very call, in this process or in a helper
    // of the same build that handed it back through a pipe of its own; or earlier, and then the cache has found the host's
    // authentication code to be that of these very bytes in memory.
    let module = unsafe { Module::deserialize(engine, code) };
    module.map_err(ModuleLoadError::module)
}
