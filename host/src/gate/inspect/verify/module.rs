//! What a module is made of, checked against what a rendered one is: everything but the bodies of its functions.

use wasmparser::{
    ConstExpr, Data, DataKind, Export, ExternalKind, FuncType, FunctionBody, Global, MemoryType,
    NameSectionReader, Operator, Parser, Payload, ValType,
};

use super::super::walk::{PAGE_BYTES, function_name};
use super::reason::{Obligation, Unproven};
use super::value::MOST;
use crate::abi::section::{BUFFER_EXPORT, MEMORY_EXPORT, Section};
use crate::diagnostics::untrusted::{escaped, quoted};
use crate::render::{Capacities, capacities};

/// What globals a template has, in this order.
const GLOBALS: [&str; 4] = ["input", "input_cap", "output", "output_cap"];

/// The places of [`GLOBALS`].
pub(super) const OUTPUT_GLOBAL: u32 = 2;

/// A module that keeps to the form of rendered ones, as far as that can be seen without looking into its functions.
pub(super) struct Module<'a> {
    types: Vec<FuncType>,
    functions: Vec<u32>,
    pub(super) bodies: Vec<FunctionBody<'a>>,
    memories: Vec<MemoryType>,
    globals: Vec<Global<'a>>,
    exports: Vec<Export<'a>>,
    data: Vec<Data<'a>>,
    names: Option<NameSectionReader<'a>>,
    /// What data segments fill, in ascending order, none touching the next.
    filled: Vec<(u32, u32)>,
    /// The extractor, by its index.
    pub(super) extractor: u32,
}

impl<'a> Module<'a> {
    /// Reads a valid module.
    pub(super) fn of(wasm: &'a [u8], section: &Section) -> Result<Self, Unproven> {
        let mut module = Self {
            types: Vec::new(),
            functions: Vec::new(),
            bodies: Vec::new(),
            memories: Vec::new(),
            globals: Vec::new(),
            exports: Vec::new(),
            data: Vec::new(),
            names: None,
            filled: Vec::new(),
            extractor: 0,
        };
        let mut parser = Parser::new(0);
        parser.set_features(super::super::features());
        for payload in parser.parse_all(wasm) {
            module.read(payload.map_err(|error| unreadable(&error))?)?;
        }
        module.check_exports(section)?;
        let areas = module.areas(section)?;
        module.filled = module.check_data(areas.input)?;
        Ok(module)
    }

    fn read(&mut self, payload: Payload<'a>) -> Result<(), Unproven> {
        let read = |error: wasmparser::Error| unreadable(&error);
        let found = match payload {
            Payload::Version { .. }
            | Payload::CodeSectionStart { .. }
            | Payload::DataCountSection { .. }
            | Payload::End(_) => return Ok(()),
            Payload::TypeSection(section) => {
                for ty in section.into_iter_err_on_gc_types() {
                    self.types.push(ty.map_err(read)?);
                }
                return Ok(());
            }
            Payload::FunctionSection(section) => {
                return collect(section.into_iter(), &mut self.functions);
            }
            Payload::MemorySection(section) => {
                return collect(section.into_iter(), &mut self.memories);
            }
            Payload::GlobalSection(section) => {
                return collect(section.into_iter(), &mut self.globals);
            }
            Payload::ExportSection(section) => {
                return collect(section.into_iter(), &mut self.exports);
            }
            Payload::CodeSectionEntry(body) => {
                self.bodies.push(body);
                return Ok(());
            }
            Payload::DataSection(section) => return collect(section.into_iter(), &mut self.data),
            Payload::CustomSection(section) => {
                if let wasmparser::KnownCustom::Name(names) = section.as_known() {
                    self.names = Some(names);
                }
                return Ok(());
            }
            Payload::ImportSection(_) => "imports",
            Payload::TableSection(_) => "tables",
            Payload::StartSection { .. } => "a start function",
            Payload::ElementSection(_) => "element segments",
            _ => "a section that is none of a rendered module's",
        };
        Obligation::Sections.unmet(format!(
            "expected types, functions, a memory, constants, exports, code and data, got {found}"
        ))
    }

    /// A function's type.
    pub(super) fn ty(&self, function: u32) -> Option<&FuncType> {
        self.types.get(*self.functions.get(function as usize)? as usize)
    }

    /// What a function is called in reports.
    pub(super) fn func(&self, function: usize) -> String {
        let index = u32::try_from(function).unwrap_or(u32::MAX);
        match function_name(self.names.clone(), index) {
            Some(name) => format!("func[{index}] ${}", escaped(&name)),
            None => format!("func[{index}]"),
        }
    }

    fn check_exports(&mut self, section: &Section) -> Result<(), Unproven> {
        let expected = [MEMORY_EXPORT, BUFFER_EXPORT, section.function()];
        for export in &self.exports {
            let fits = match (export.name, export.kind) {
                (MEMORY_EXPORT, ExternalKind::Memory) => true,
                (BUFFER_EXPORT, ExternalKind::Func) => export.index == 0,
                (name, ExternalKind::Func) if name == section.function() => {
                    self.extractor = export.index;
                    true
                }
                _ => false,
            };
            if !fits {
                let message =
                    format!("expected the exports {expected:?}, the second one of func[0]");
                let place = format!("export {}", quoted(export.name));
                return Err(Unproven::new(Obligation::Exports, message).in_place(place));
            }
        }
        Ok(())
    }

    /// Where input and output lie.
    fn areas(&self, section: &Section) -> Result<Areas, Unproven> {
        let constants = self.constants()?;
        let [input, input_cap, output, output_cap] = constants.map(u64::from);
        let memory = self.memory_bytes()?;
        let Capacities { input: takes, output: gives } = capacities(section);
        if (input_cap, output_cap) != (u64::from(takes), u64::from(gives)) {
            return Obligation::Areas.unmet(format!(
                "expected room for {takes} bytes of input and {gives} of output, as this host has it, got {input_cap} and {output_cap}"
            ));
        }
        if input == 0 || input + input_cap > output || output + output_cap > memory {
            return Obligation::Areas.unmet(format!(
                "expected input, output and the memory's end one after another, got {input_cap} bytes at {input}, {output_cap} at {output} and {memory} of memory"
            ));
        }
        Ok(Areas { input: constants[0] })
    }

    fn memory_bytes(&self) -> Result<u64, Unproven> {
        let fault = |message| Unproven::new(Obligation::Memory, message).in_place("memory[0]");
        let [memory] = self.memories.as_slice() else {
            return Err(fault("expected one memory".to_owned()));
        };
        if memory.maximum != Some(memory.initial) || memory.memory64 || memory.shared {
            let message = format!(
                "expected a memory that begins as large as it may get, got {} pages, at most {:?}",
                memory.initial, memory.maximum
            );
            return Err(fault(message));
        }
        let bytes = memory.initial.saturating_mul(PAGE_BYTES);
        if bytes > u64::from(MOST) {
            return Err(fault(format!("expected at most {MOST} bytes of memory, got {bytes}")));
        }
        Ok(bytes)
    }

    fn constants(&self) -> Result<[u32; 4], Unproven> {
        let fault = |place: String, message: &str| {
            Unproven::new(Obligation::Globals, message).in_place(place)
        };
        let expected = format!("expected the constants {GLOBALS:?} and no other globals");
        let mut constants = [0; 4];
        if self.globals.len() != constants.len() {
            return Err(fault(String::new(), &expected));
        }
        for (index, (global, constant)) in self.globals.iter().zip(&mut constants).enumerate() {
            let place = format!("global[{index}]");
            if global.ty.mutable || global.ty.content_type != ValType::I32 {
                return Err(fault(place, "expected a constant of 32 bits"));
            }
            *constant = constant_of(&global.init_expr)
                .ok_or_else(|| fault(place, "expected a plain constant"))?;
        }
        Ok(constants)
    }

    /// What data segments fill.
    fn check_data(&self, before: u32) -> Result<Vec<(u32, u32)>, Unproven> {
        let fault = |index: usize, message: String| {
            Unproven::new(Obligation::Data, message).in_place(format!("data[{index}]"))
        };
        let mut ranges = Vec::with_capacity(self.data.len());
        for (index, data) in self.data.iter().enumerate() {
            let DataKind::Active { memory_index: 0, offset_expr } = &data.kind else {
                return Err(fault(
                    index,
                    "expected a segment that is copied at the start".to_owned(),
                ));
            };
            let Some(start) = constant_of(offset_expr) else {
                return Err(fault(index, "expected a plain constant as its address".to_owned()));
            };
            let end = u64::from(start) + data.data.len() as u64;
            if end > u64::from(before) {
                let message = format!(
                    "expected data before the input area at {before}, got {start} to {end}"
                );
                return Err(fault(index, message));
            }
            // It is at most `before`, which has 32 bits.
            ranges.push((start, end as u32, index));
        }
        ranges.sort_unstable();
        let mut filled: Vec<(u32, u32)> = Vec::new();
        for (start, end, index) in ranges {
            match filled.last_mut() {
                Some((_, last)) if start < *last => {
                    let message =
                        format!("it begins at {start}, before where another one ends, {last}");
                    return Err(fault(index, message));
                }
                Some((_, last)) if start == *last => *last = end,
                _ => filled.push((start, end)),
            }
        }
        Ok(filled)
    }

    /// How many bytes from an address on are constant text.
    pub(super) fn filled_from(&self, address: u64) -> u32 {
        let Ok(address) = u32::try_from(address) else { return 0 };
        let behind = self.filled.partition_point(|(start, _)| *start <= address);
        match behind.checked_sub(1).and_then(|index| self.filled.get(index)) {
            Some((_, end)) => end.saturating_sub(address),
            None => 0,
        }
    }
}

/// What of the areas data has to keep clear of.
struct Areas {
    input: u32,
}

/// The value of a constant expression that is one constant of 32 bits.
fn constant_of(expression: &ConstExpr<'_>) -> Option<u32> {
    let mut operators = expression.get_operators_reader();
    match (operators.read().ok()?, operators.read().ok()?) {
        (Operator::I32Const { value }, Operator::End) if operators.eof() => {
            Some(value.cast_unsigned())
        }
        _ => None,
    }
}

fn collect<T>(
    items: impl Iterator<Item = wasmparser::Result<T>>,
    into: &mut Vec<T>,
) -> Result<(), Unproven> {
    for item in items {
        into.push(item.map_err(|error| unreadable(&error))?);
    }
    Ok(())
}

/// An inspected module can be read; this is for the case that it couldn't.
fn unreadable(error: &wasmparser::Error) -> Unproven {
    Unproven::new(Obligation::Sections, escaped(error.message())).at(error.offset())
}
