//! One walk over the module's sections: structure first, validation where the structure is sound.

use wasmparser::{
    CompositeInnerType, ElementItems, Export, FuncType, FuncValidatorAllocations, FunctionBody,
    GlobalType, MemoryType, NameSectionReader, Parser, Payload, Result, TypeRef, Validator,
};

use super::body::{self, BodyShape, Code};
use super::cost::OPERATOR_COST;
use super::facts::SectionFact;
use super::limits::{Limit, StructuralLimits};
use super::problem::{Fault, ModulePlace, Problems};
use super::wasi::Grant;
use crate::abi::section::SECTION_NAME;

/// Bytes of a page of memory.
pub(super) const PAGE_BYTES: u64 = 64 << 10;

/// What the walk gathered. What a limit or a defect kept from being read is `None` or left out; then there
/// is a problem that says so.
pub(super) struct ModuleWalk<'a> {
    limits: &'a StructuralLimits,
    pub(super) grant: Grant,
    /// Gone once the module is known to be invalid: what comes after would be follow-on errors.
    validator: Option<Validator>,
    allocations: FuncValidatorAllocations,
    pub(super) problems: Problems<'a>,
    /// Whether the walk came to the module's end.
    pub(super) complete: bool,
    pub(super) sections: Vec<SectionFact>,
    custom_sections: u64,
    /// Contents of the `retort` sections; of one that is too large, `None`.
    pub(super) declarations: Vec<Option<&'a [u8]>>,
    names: Option<NameSectionReader<'a>>,
    types: Vec<Option<FuncType>>,
    /// The type index of each function, imported ones first.
    function_types: Vec<u32>,
    imported_functions: usize,
    pub(super) imported_memories: usize,
    /// Names of the functions of WASI that it imports and may import.
    pub(super) granted_imports: Vec<&'static str>,
    /// Bodies by function index, imported functions first.
    pub(super) functions: Vec<Option<Code>>,
    pub(super) memories: Vec<MemoryType>,
    /// The types of the globals that it defines: none may be imported.
    pub(super) globals: Vec<GlobalType>,
    pub(super) tables: u64,
    pub(super) table_entries: u64,
    pub(super) exports: Option<Vec<Export<'a>>>,
    pub(super) data_segments: u64,
    pub(super) data_bytes: u64,
}

impl<'a> ModuleWalk<'a> {
    /// Walks over `wasm`, whose size has been checked.
    pub(super) fn of(wasm: &'a [u8], limits: &'a StructuralLimits, grant: Grant) -> Self {
        let mut walk = Self {
            limits,
            grant,
            validator: Some(Validator::new_with_features(super::features::features())),
            allocations: FuncValidatorAllocations::default(),
            problems: Problems::new(limits),
            complete: false,
            sections: Vec::new(),
            custom_sections: 0,
            declarations: Vec::new(),
            names: None,
            types: Vec::new(),
            function_types: Vec::new(),
            imported_functions: 0,
            imported_memories: 0,
            granted_imports: Vec::new(),
            functions: Vec::new(),
            memories: Vec::new(),
            globals: Vec::new(),
            tables: 0,
            table_entries: 0,
            exports: Some(Vec::new()),
            data_segments: 0,
            data_bytes: 0,
        };
        walk.walk(wasm);
        walk
    }

    fn walk(&mut self, wasm: &'a [u8]) {
        let mut parser = Parser::new(0);
        parser.set_features(super::features::features());
        for payload in parser.parse_all(wasm) {
            let payload = match payload {
                Ok(payload) => payload,
                Err(error) => {
                    self.problems.push(ModulePlace::Module, Fault::decoding(&error));
                    return;
                }
            };
            if let Payload::CodeSectionEntry(body) = &payload {
                self.body(body);
                continue;
            }
            self.note_size(&payload);
            match self.section(&payload) {
                Ok(true) => self.validate(&payload),
                Ok(false) => self.validator = None,
                Err(error) => {
                    self.problems.push(place(&payload), Fault::decoding(&error));
                    return;
                }
            }
        }
        self.complete = true;
    }

    fn note_size(&mut self, payload: &Payload<'a>) {
        if let Some((id, range)) = payload.as_section()
            && let Some(name) = section_name(id)
        {
            let bytes = range.len() as u64;
            self.sections.push(SectionFact { name: name.to_owned(), custom: false, bytes });
        }
    }

    /// Reads a section; whether the validator may see it and what comes after.
    fn section(&mut self, payload: &Payload<'a>) -> Result<bool> {
        match payload {
            Payload::TypeSection(section) => self.types(section),
            Payload::ImportSection(section) => self.imports(section),
            Payload::FunctionSection(section) => {
                let count = u64::from(section.count());
                if !self.within(payload, Limit::Functions, count) {
                    return Ok(false);
                }
                for index in section.clone() {
                    self.function_types.push(index?);
                }
                Ok(true)
            }
            Payload::TableSection(section) => {
                for (index, table) in section.clone().into_iter().enumerate() {
                    let entries = table?.ty.initial;
                    self.tables += 1;
                    self.table_entries = self.table_entries.saturating_add(entries);
                    self.problems.within(ModulePlace::Table(index), Limit::TableEntries, entries);
                }
                Ok(true)
            }
            Payload::MemorySection(section) => self.memories(section),
            Payload::GlobalSection(section) => {
                let count = u64::from(section.count());
                let within = self.within(payload, Limit::Globals, count);
                if within {
                    self.globals(section)?;
                }
                Ok(within)
            }
            Payload::ExportSection(section) => {
                let count = u64::from(section.count());
                if !self.within(payload, Limit::Exports, count) {
                    self.exports = None;
                    return Ok(false);
                }
                self.exports = Some(section.clone().into_iter().collect::<Result<_>>()?);
                Ok(true)
            }
            Payload::StartSection { func, .. } => {
                self.problems.push(ModulePlace::Func(*func), Fault::StartFunction);
                Ok(true)
            }
            Payload::ElementSection(section) => {
                let count = u64::from(section.count());
                if !self.within(payload, Limit::ElementSegments, count) {
                    return Ok(false);
                }
                let mut elements = 0;
                for segment in section.clone() {
                    elements += u64::from(match segment?.items {
                        ElementItems::Functions(items) => items.count(),
                        ElementItems::Expressions(_, items) => items.count(),
                    });
                }
                Ok(self.within(payload, Limit::Elements, elements))
            }
            Payload::DataSection(section) => {
                let count = u64::from(section.count());
                if !self.within(payload, Limit::DataSegments, count) {
                    return Ok(false);
                }
                for segment in section.clone() {
                    self.data_segments += 1;
                    self.data_bytes += segment?.data.len() as u64;
                }
                Ok(true)
            }
            Payload::CustomSection(section) => {
                self.custom(section);
                Ok(true)
            }
            _ => Ok(true),
        }
    }

    fn within(&mut self, payload: &Payload<'a>, limit: Limit, used: u64) -> bool {
        self.problems.within(place(payload), limit, used)
    }

    fn types(&mut self, section: &wasmparser::TypeSectionReader<'a>) -> Result<bool> {
        let place = ModulePlace::Section("type".to_owned());
        let count = u64::from(section.count());
        if !self.problems.within(place, Limit::Types, count) {
            return Ok(false);
        }
        let mut clean = true;
        for group in section.clone() {
            for ty in group?.into_types() {
                let index = self.types.len();
                // The validator refuses the other kinds.
                let CompositeInnerType::Func(ty) = ty.composite_type.inner else {
                    self.types.push(None);
                    continue;
                };
                for (limit, types) in [(Limit::Params, ty.params()), (Limit::Results, ty.results())]
                {
                    let place = ModulePlace::Type(index);
                    clean &= self.problems.within(place, limit, types.len() as u64);
                }
                self.types.push(Some(ty));
            }
        }
        Ok(clean)
    }

    fn imports(&mut self, section: &wasmparser::ImportSectionReader<'a>) -> Result<bool> {
        let (place, count) =
            (ModulePlace::Section("import".to_owned()), u64::from(section.count()));
        let within = self.problems.within(place, Limit::Imports, count);
        for import in section.clone().into_imports() {
            let import = import?;
            self.import(&import);
            match import.ty {
                TypeRef::Func(ty) | TypeRef::FuncExact(ty) => {
                    self.imported_functions += 1;
                    self.function_types.push(ty);
                    self.functions.push(None);
                }
                TypeRef::Memory(_) => self.imported_memories += 1,
                TypeRef::Table(_) | TypeRef::Global(_) | TypeRef::Tag(_) => {}
            }
        }
        Ok(within)
    }

    fn globals(&mut self, section: &wasmparser::GlobalSectionReader<'a>) -> Result<()> {
        for global in section.clone() {
            self.globals.push(global?.ty);
        }
        Ok(())
    }

    fn memories(&mut self, section: &wasmparser::MemorySectionReader<'a>) -> Result<bool> {
        for memory in section.clone() {
            let memory = memory?;
            let place = ModulePlace::Memory(self.imported_memories + self.memories.len());
            match memory.maximum {
                Some(pages) => {
                    let bytes = pages.saturating_mul(PAGE_BYTES);
                    self.problems.within(place, Limit::MemoryBytes, bytes);
                }
                None => {
                    let allowed = self.limits.memory_bytes / PAGE_BYTES;
                    self.problems.push(place, Fault::MemoryUnbounded { allowed });
                }
            }
            self.memories.push(memory);
        }
        let found = self.memories.len() as u64;
        if found > 1 {
            let place = ModulePlace::Section("memory".to_owned());
            self.problems.push(place, Fault::MemoryCount { found });
        }
        Ok(found <= 1)
    }

    fn custom(&mut self, section: &wasmparser::CustomSectionReader<'a>) {
        self.custom_sections += 1;
        let bytes = section.data().len() as u64;
        let place = ModulePlace::Section(section.name().to_owned());
        let small = self.problems.within(place, Limit::CustomSectionBytes, bytes);
        if section.name() == SECTION_NAME {
            self.declarations.push(small.then(|| section.data()));
        }
        if !small {
            return;
        }
        if let wasmparser::KnownCustom::Name(names) = section.as_known() {
            self.names = Some(names);
        }
        // The count is reported at the end; sections beyond it aren't kept.
        if self.custom_sections <= self.limits.custom_sections {
            let name = section.name().to_owned();
            self.sections.push(SectionFact { name, custom: true, bytes });
        }
    }

    fn body(&mut self, body: &FunctionBody<'a>) {
        let function = u32::try_from(self.functions.len()).unwrap_or(u32::MAX);
        let code = body::read(body, function, &OPERATOR_COST, &mut self.problems);
        self.functions.push(code);
        let Some(validator) = &mut self.validator else { return };
        let to_validate = match validator.code_section_entry(body) {
            Ok(to_validate) => to_validate,
            Err(error) => {
                self.problems.push(ModulePlace::Func(function), Fault::validation(&error));
                self.validator = None;
                return;
            }
        };
        // Only a body whose structure is sound is worth the work.
        if let Some(Some(code)) = self.functions.last_mut() {
            let mut of_body = to_validate.into_validator(std::mem::take(&mut self.allocations));
            match body::validate(body, &mut of_body) {
                Ok(operands) => code.shape.operands = operands,
                Err(error) => {
                    self.problems.push(ModulePlace::Func(function), Fault::validation(&error));
                }
            }
            self.allocations = of_body.into_allocations();
        }
        let used = self.branch_values(function);
        self.problems.within(ModulePlace::Func(function), Limit::BranchValues, used);
    }

    fn validate(&mut self, payload: &Payload<'a>) {
        if let Some(validator) = &mut self.validator
            && let Err(error) = validator.payload(payload)
        {
            self.problems.push(place(payload), Fault::validation(&error));
            self.validator = None;
        }
    }

    /// Reports what can only be counted over the whole module.
    pub(super) fn totals(&mut self) {
        for (limit, used) in [
            (Limit::CustomSections, self.custom_sections),
            (Limit::LoopLocals, self.loop_locals()),
            (Limit::ModuleBranchValues, self.module_branch_values()),
        ] {
            self.problems.within(ModulePlace::Module, limit, used);
        }
    }

    /// The sum over functions of loops times parameters and locals.
    pub(super) fn loop_locals(&self) -> u64 {
        self.sum(|shape, params| shape.loops.saturating_mul(shape.locals + params))
    }

    /// The sum over functions of branches times the values that may live across them.
    pub(super) fn module_branch_values(&self) -> u64 {
        self.sum(branch_values)
    }

    fn branch_values(&self, function: u32) -> u64 {
        self.shape(function).map_or(0, |(shape, params)| branch_values(shape, params))
    }

    fn sum(&self, measure: impl Fn(&BodyShape, u64) -> u64) -> u64 {
        (0_u32..)
            .take(self.functions.len())
            .filter_map(|function| self.shape(function))
            .fold(0, |sum, (shape, params)| sum.saturating_add(measure(shape, params)))
    }

    /// The shape and the number of parameters of a function whose body could be read.
    fn shape(&self, function: u32) -> Option<(&BodyShape, u64)> {
        let code = self.functions.get(function as usize)?.as_ref()?;
        let params = self.function_type(function).map_or(0, |ty| ty.params().len());
        Some((&code.shape, params as u64))
    }

    /// The type of a function by index, where it is known.
    pub(super) fn function_type(&self, function: u32) -> Option<&FuncType> {
        self.type_at(*self.function_types.get(function as usize)?)
    }

    /// The function type at an index, where it is known.
    pub(super) fn type_at(&self, ty: u32) -> Option<&FuncType> {
        self.types.get(ty as usize)?.as_ref()
    }

    /// The bodies defined in the module.
    pub(super) fn defined(&self) -> impl Iterator<Item = &Code> {
        self.functions.iter().skip(self.imported_functions).flatten()
    }

    /// The name that the name section gives to a function.
    pub(super) fn function_name(&self, function: u32) -> Option<String> {
        function_name(self.names.clone(), function)
    }
}

/// The name that a name section gives to a function. Names are for people: a section that can't be read gives none.
pub(super) fn function_name(names: Option<NameSectionReader<'_>>, function: u32) -> Option<String> {
    for subsection in names? {
        if let Ok(wasmparser::Name::Function(names)) = subsection {
            let mut names = names.into_iter().filter_map(Result::ok);
            return names
                .find(|naming| naming.index == function)
                .map(|naming| naming.name.to_owned());
        }
    }
    None
}

fn branch_values(shape: &BodyShape, params: u64) -> u64 {
    shape.branches.saturating_mul(params + shape.locals + shape.operands)
}

/// The section that a payload is.
fn place(payload: &Payload<'_>) -> ModulePlace {
    payload
        .as_section()
        .and_then(|(id, _)| section_name(id))
        .map_or(ModulePlace::Module, |name| ModulePlace::Section(name.to_owned()))
}

/// The specification's name for a section's id; none for custom and unknown sections.
fn section_name(id: u8) -> Option<&'static str> {
    const NAMES: [&str; 13] = [
        "type",
        "import",
        "function",
        "table",
        "memory",
        "global",
        "export",
        "start",
        "element",
        "code",
        "data",
        "data count",
        "tag",
    ];
    NAMES.get(usize::from(id).checked_sub(1)?).copied()
}
