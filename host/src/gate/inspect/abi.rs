//! Whether a module keeps to the ABI: one declaration, one memory, and exports of the right types.

use wasmparser::{ExternalKind, Parser, Payload, ValType};

use super::problem::{Fault, ModulePlace};
use super::signature::signature_text;
use super::walk::ModuleWalk;
use crate::abi::section::{
    BUFFER_EXPORT, INITIALIZE_EXPORT, MEMORY_EXPORT, MESSAGE_EXPORT, RESERVED_PREFIX, SECTION_NAME,
    Section,
};

/// Reports what isn't there, or isn't as it should be, and gives the declaration.
///
/// In a module that breaks off, nothing can be said to be missing: only what was found is checked.
pub(super) fn check(walk: &mut ModuleWalk<'_>) -> Option<Section> {
    let section = declaration(walk);
    memory(walk);
    let mut faults = Vec::new();
    if let Some(exports) = &walk.exports {
        let check = ExpectedExports { walk, exports };
        check.reserved(&mut faults);
        check.memory(&mut faults);
        check.message(&mut faults);
        check.function(BUFFER_EXPORT, &BUFFER, true, &mut faults);
        check.function(INITIALIZE_EXPORT, &INITIALIZE, false, &mut faults);
        if let Some(section) = &section {
            check.function(section.function(), &EXTRACTOR, true, &mut faults);
        }
    }
    for (name, fault) in faults {
        walk.problems.push(ModulePlace::Export(name), fault);
    }
    section
}

/// The declaration of a module that passed the static gate; of any other, `None` where there is none that can be read.
pub(crate) fn declared_by(wasm: &[u8]) -> Option<Section> {
    let contents = Parser::new(0).parse_all(wasm).find_map(|payload| match payload {
        Ok(Payload::CustomSection(section)) if section.name() == SECTION_NAME => {
            Some(section.data())
        }
        _ => None,
    });
    Section::parse(contents?).ok()
}

fn declaration(walk: &mut ModuleWalk<'_>) -> Option<Section> {
    match walk.declarations.as_slice() {
        [] => {
            if walk.complete {
                walk.problems.push(ModulePlace::Module, Fault::SectionMissing);
            }
            None
        }
        [contents] => match Section::parse((*contents)?) {
            Ok(section) => Some(section),
            Err(error) => {
                let place = ModulePlace::Section(SECTION_NAME.to_owned());
                walk.problems.push(place, Fault::Section(error));
                None
            }
        },
        several => {
            let found = several.len() as u64;
            walk.problems.push(ModulePlace::Module, Fault::SectionDuplicate { found });
            None
        }
    }
}

fn memory(walk: &mut ModuleWalk<'_>) {
    // An imported memory has been refused as an import.
    if walk.complete && walk.memories.is_empty() && walk.imported_memories == 0 {
        walk.problems.push(ModulePlace::Module, Fault::MemoryMissing);
    }
}

/// A function of the ABI.
struct Signature {
    params: &'static [ValType],
    results: &'static [ValType],
    text: &'static str,
}

const BUFFER: Signature = Signature {
    params: &[ValType::I32],
    results: &[ValType::I32],
    text: "a function (i32) -> i32",
};

const EXTRACTOR: Signature = Signature {
    params: &[ValType::I32, ValType::I32],
    results: &[ValType::I64],
    text: "a function (i32, i32) -> i64",
};

const INITIALIZE: Signature = Signature { params: &[], results: &[], text: "a function () -> ()" };

struct ExpectedExports<'s, 'a> {
    walk: &'s ModuleWalk<'a>,
    exports: &'s [wasmparser::Export<'a>],
}

impl ExpectedExports<'_, '_> {
    fn find(&self, name: &str) -> Option<&wasmparser::Export<'_>> {
        self.exports.iter().find(|export| export.name == name)
    }

    fn reserved(&self, faults: &mut Vec<(String, Fault)>) {
        for export in self.exports {
            let is_known = [BUFFER_EXPORT, MESSAGE_EXPORT].contains(&export.name);
            if export.name.starts_with(RESERVED_PREFIX) && !is_known {
                faults.push((export.name.to_owned(), Fault::ExportReserved));
            }
        }
    }

    fn memory(&self, faults: &mut Vec<(String, Fault)>) {
        let expected = "a memory";
        let fault = match self.find(MEMORY_EXPORT) {
            Some(export) if export.kind == ExternalKind::Memory => return,
            Some(export) => Fault::ExportKind { expected, found: kind_name(export.kind) },
            // Without a memory there can't be an export of it.
            None if self.walk.complete && !self.walk.memories.is_empty() => {
                Fault::ExportMissing { expected }
            }
            None => return,
        };
        faults.push((MEMORY_EXPORT.to_owned(), fault));
    }

    fn message(&self, faults: &mut Vec<(String, Fault)>) {
        let Some(export) = self.find(MESSAGE_EXPORT) else { return };
        let global = self.walk.globals.get(export.index as usize);
        let found = match (export.kind, global.map(|global| global.content_type)) {
            (ExternalKind::Global, Some(ValType::I32) | None) => return,
            (ExternalKind::Global, Some(_)) => "global of another type",
            (kind, _) => kind_name(kind),
        };
        let fault = Fault::ExportKind { expected: "a global of type i32", found };
        faults.push((MESSAGE_EXPORT.to_owned(), fault));
    }

    fn function(
        &self,
        name: &str,
        signature: &Signature,
        required: bool,
        faults: &mut Vec<(String, Fault)>,
    ) {
        let expected = signature.text;
        let fault = match self.find(name) {
            Some(export) if export.kind == ExternalKind::Func => {
                let Some(found) = self.walk.function_type(export.index) else { return };
                if found.params() == signature.params && found.results() == signature.results {
                    return;
                }
                Fault::ExportType { expected, found: signature_text(found) }
            }
            Some(export) => Fault::ExportKind { expected, found: kind_name(export.kind) },
            None if required && self.walk.complete => Fault::ExportMissing { expected },
            None => return,
        };
        faults.push((name.to_owned(), fault));
    }
}

/// What an export is.
pub(super) fn kind_name(kind: ExternalKind) -> &'static str {
    match kind {
        ExternalKind::Func | ExternalKind::FuncExact => "function",
        ExternalKind::Table => "table",
        ExternalKind::Memory => "memory",
        ExternalKind::Global => "global",
        ExternalKind::Tag => "tag",
    }
}
