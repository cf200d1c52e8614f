//! What a module exports.

use wasmtime::{Module, ModuleExport};

use super::ModuleLoadError;
use crate::abi::section::{BUFFER_EXPORT, INITIALIZE_EXPORT, MEMORY_EXPORT, MESSAGE_EXPORT};

/// Where a module's exports are, so that no instance has to look for them by name.
pub(super) struct ExportIndexes {
    pub(super) memory: ModuleExport,
    pub(super) buffer: ModuleExport,
    pub(super) extract: ModuleExport,
    pub(super) initialize: Option<ModuleExport>,
    pub(super) message: Option<ModuleExport>,
}

impl ExportIndexes {
    /// The exports of a module whose extractor is named `function`.
    pub(super) fn of(module: &Module, function: &str) -> Result<Self, ModuleLoadError> {
        let export = |name: &str| {
            // The static gate has checked that they are there and of the right types.
            let missing = || ModuleLoadError::Link(format!("no `{name}` is exported"));
            module.get_export_index(name).ok_or_else(missing)
        };
        Ok(Self {
            memory: export(MEMORY_EXPORT)?,
            buffer: export(BUFFER_EXPORT)?,
            extract: export(function)?,
            initialize: module.get_export_index(INITIALIZE_EXPORT),
            message: module.get_export_index(MESSAGE_EXPORT),
        })
    }
}
