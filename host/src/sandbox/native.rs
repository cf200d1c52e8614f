//! From an inspected module to native code.

use wasmtime::{Engine, Module};

use super::{ForeignModules, LoadError, Sandbox};
use crate::gate::inspect::{Inspected, Proof, ResetSafety};

/// Makes native code of a module: in this process if this host rendered it, and as [`ForeignModules`] says if not. What was
/// compiled before comes from the sandbox's cache, if it has one; a module that nobody may compile doesn't come from there
/// either.
pub(super) fn compile(sandbox: &Sandbox, inspected: &Inspected) -> Result<Module, LoadError> {
    admit(sandbox, inspected)?;
    let (engine, wasm) = (sandbox.engine(), inspected.wasm());
    let Some(cache) = sandbox.cache() else {
        return Module::from_binary(engine, wasm).map_err(LoadError::module);
    };
    if let Some(module) = cache.get(wasm, |code| deserialized(engine, code).ok()) {
        return Ok(module);
    }
    let code = serialized(engine, wasm)?;
    let module = deserialized(engine, &code)?;
    cache.put(wasm, &code);
    Ok(module)
}

/// Whether anybody is there who compiles this module.
fn admit(sandbox: &Sandbox, inspected: &Inspected) -> Result<(), LoadError> {
    let is_rendered =
        matches!(inspected.reset_safety(), ResetSafety::Proven { how: Proof::Rendered });
    match sandbox.foreign() {
        _ if is_rendered => Ok(()),
        ForeignModules::InProcess => Ok(()),
        ForeignModules::Refuse | ForeignModules::Helper(_) => Err(LoadError::Foreign),
    }
}

/// The native code of a module, as wasmtime writes it down.
fn serialized(engine: &Engine, wasm: &[u8]) -> Result<Vec<u8>, LoadError> {
    engine.precompile_module(wasm).map_err(LoadError::module)
}

/// Native code that this host made, ready to be run. wasmtime refuses what another version of it, or another configuration,
/// wrote.
fn deserialized(engine: &Engine, code: &[u8]) -> Result<Module, LoadError> {
    #[allow(unsafe_code, reason = "the one way in which wasmtime takes native code")]
    // SAFETY: `code` is what `Engine::precompile_module` wrote, unchanged: either in this very call, or earlier and then the
    // cache has found the host's authentication code to be that of these very bytes in memory.
    let module = unsafe { Module::deserialize(engine, code) };
    module.map_err(LoadError::module)
}
