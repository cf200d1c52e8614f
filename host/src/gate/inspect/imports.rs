//! What a module imports, checked against what the host grants.

use wasmparser::{Import, TypeRef};

use super::problem::{Fault, ModulePlace};
use super::signature::signature_text;
use super::walk::ModuleWalk;
use super::wasi::{Grant, WASI_MODULE, WasiFunction};
use crate::diagnostics::untrusted::escaped;

impl ModuleWalk<'_> {
    /// Checks one import of a module, and notes it if it is granted.
    pub(super) fn import(&mut self, import: &Import<'_>) {
        match granted(self, import, self.grant) {
            Ok(function) => self.granted_imports.push(function.name),
            Err(fault) => {
                let (module, name) = (import.module.to_owned(), import.name.to_owned());
                self.problems.push(ModulePlace::Import { module, name }, fault);
            }
        }
    }
}

fn granted(
    walk: &ModuleWalk<'_>,
    import: &Import<'_>,
    grant: Grant,
) -> Result<&'static WasiFunction, Fault> {
    if import.module != WASI_MODULE {
        return Err(Fault::Import);
    }
    let refused = |reason| Fault::WasiRefused { function: escaped(import.name), reason };
    if grant == Grant::None {
        return Err(refused("this host grants nothing of WASI"));
    }
    let Some(function) = WasiFunction::named(import.name) else {
        return Err(refused("no grant allows it"));
    };
    if !grant.allows(function) {
        return Err(refused("it needs the grant of files"));
    }
    let expected = format!("a function {}", function.signature());
    let found = match import.ty {
        TypeRef::Func(ty) | TypeRef::FuncExact(ty) => match walk.type_at(ty) {
            Some(ty) if ty.params() == function.params && ty.results() == function.results => {
                return Ok(function);
            }
            Some(ty) => format!("a function {}", signature_text(ty)),
            None => format!("a function of type[{ty}]"),
        },
        TypeRef::Table(_) => "a table".to_owned(),
        TypeRef::Memory(_) => "a memory".to_owned(),
        TypeRef::Global(_) => "a global".to_owned(),
        TypeRef::Tag(_) => "a tag".to_owned(),
    };
    Err(Fault::ImportType { expected, found })
}
