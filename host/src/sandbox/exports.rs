//! What a module exports.

use wasmtime::{Module, ModuleExport, Mutability};

use super::ModuleLoadError;
use crate::abi::section::{BUFFER_EXPORT, INITIALIZE_EXPORT, MEMORY_EXPORT, MESSAGE_EXPORT};

/// Where a module's exports are, so that no instance has to look for them by name.
pub(super) struct ExportIndexes {
    pub(super) memory: ModuleExport,
    pub(super) buffer: ModuleExport,
    pub(super) extract: ModuleExport,
    pub(super) initialize: Option<ModuleExport>,
    pub(super) message: Option<ModuleExport>,
    /// Those of its globals that can change.
    pub(super) globals: Box<[ModuleExport]>,
}

impl ExportIndexes {
    /// The exports of a module whose extractor is named `function`.
    pub(super) fn of(module: &Module, function: &str) -> Result<Self, ModuleLoadError> {
        let export = |name: &str| {
            // The static gate has checked that they are there and of the right types.
            let missing = || ModuleLoadError::Link(format!("no `{name}` is exported"));
            module.get_export_index(name).ok_or_else(missing)
        };
        let is_mutable = |ty: &wasmtime::ExternType| {
            ty.global().is_some_and(|global| global.mutability() == Mutability::Var)
        };
        let globals = module.exports().filter(|export| is_mutable(&export.ty()));
        Ok(Self {
            globals: globals.filter_map(|global| module.get_export_index(global.name())).collect(),
            memory: export(MEMORY_EXPORT)?,
            buffer: export(BUFFER_EXPORT)?,
            extract: export(function)?,
            initialize: module.get_export_index(INITIALIZE_EXPORT),
            message: module.get_export_index(MESSAGE_EXPORT),
        })
    }
}
