//! From an inspected module to native code.

use wasmtime::Module;

use super::{ForeignModules, LoadError, Sandbox};
use crate::gate::inspect::{Inspected, Proof, ResetSafety};

/// Compiles a module: in this process if this host rendered it, and as [`ForeignModules`] says if not.
pub(super) fn compile(sandbox: &Sandbox, inspected: &Inspected) -> Result<Module, LoadError> {
    let is_rendered =
        matches!(inspected.reset_safety(), ResetSafety::Proven { how: Proof::Rendered });
    match sandbox.foreign() {
        _ if is_rendered => in_process(sandbox, inspected),
        ForeignModules::InProcess => in_process(sandbox, inspected),
        ForeignModules::Refuse | ForeignModules::Helper(_) => Err(LoadError::Foreign),
    }
}

fn in_process(sandbox: &Sandbox, inspected: &Inspected) -> Result<Module, LoadError> {
    Module::from_binary(sandbox.engine(), inspected.wasm()).map_err(LoadError::module)
}
