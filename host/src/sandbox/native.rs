//! From an inspected module to native code. This is the one place where bytes become code that runs.

use wasmtime::{Engine, Module};

use super::{ForeignModules, LoadError, Sandbox, helper};
use crate::gate::inspect::{Inspected, Proof, ResetSafety};

/// Compiles a module: in this process if this host rendered it, and as [`ForeignModules`] says if not.
pub(super) fn compile(sandbox: &Sandbox, inspected: &Inspected) -> Result<Module, LoadError> {
    match sandbox.foreign() {
        ForeignModules::Helper(_) if !is_rendered(inspected) => {
            deserialized(sandbox.engine(), &serialized(sandbox, inspected)?)
        }
        ForeignModules::Refuse if !is_rendered(inspected) => Err(LoadError::Foreign),
        _ => Module::from_binary(sandbox.engine(), inspected.wasm()).map_err(LoadError::module),
    }
}

/// The native code of a module as bytes that [`deserialized`] takes.
fn serialized(sandbox: &Sandbox, inspected: &Inspected) -> Result<Vec<u8>, LoadError> {
    match sandbox.foreign() {
        ForeignModules::Helper(program) if !is_rendered(inspected) => {
            helper::compile(program, sandbox.engine(), inspected.wasm(), sandbox.limits())
        }
        ForeignModules::Refuse if !is_rendered(inspected) => Err(LoadError::Foreign),
        _ => sandbox.engine().precompile_module(inspected.wasm()).map_err(LoadError::module),
    }
}

/// Code that `serialized` has made, as a module. Only bytes of which that is certain may come here: what a helper has handed
/// back in this very call.
fn deserialized(engine: &Engine, code: &[u8]) -> Result<Module, LoadError> {
    #[allow(unsafe_code, reason = "wasmtime can't check that native code does what it should")]
    // SAFETY: the caller has the bytes from `serialized`, which had this build's compiler make them; nothing has written
    // to them since.
    let module = unsafe { Module::deserialize(engine, code) };
    module.map_err(LoadError::module)
}

fn is_rendered(inspected: &Inspected) -> bool {
    matches!(inspected.reset_safety(), ResetSafety::Proven { how: Proof::Rendered })
}
