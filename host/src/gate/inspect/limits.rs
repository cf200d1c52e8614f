//! How large and how tangled a module may be.

use crate::diagnostics::codes::{self, Code};
use crate::render::{MAX_MODULE_BYTES, MAX_SECTION_BYTES};
use serde::{Deserialize, Serialize};

/// Bounds on a module's structure, checked before anything compiles it.
///
/// What a compiler makes of a module isn't proportional to its size: a few kilobytes of nested loops
/// over many locals took gigabytes. Each figure here bounds one of the dimensions that multiply, and
/// [`branch_values`](Self::branch_values) bounds their product.
/// The defaults leave room for what Rust guests need (they peaked at 35 locals, a nesting depth of
/// 43, 3 nested loops and bodies of 7 KB) and are far above what the renderer writes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct StructuralLimits {
    /// Bytes of the whole module. Default 1 MiB.
    pub module_bytes: u64,
    /// Custom sections. Default 64.
    pub custom_sections: u64,
    /// Bytes of one custom section. Default 256 KiB.
    pub custom_section_bytes: u64,
    /// Function types. Default 512.
    pub types: u64,
    /// Parameters of a function type. Default 32.
    pub params: u64,
    /// Results of a function type. Default 1; the multi-value proposal is off, so that more than one
    /// is refused whatever this says.
    pub results: u64,
    /// Imports, of functions that the host grants. Default 32: every function that some grant allows, and some of them twice.
    pub imports: u64,
    /// Functions defined in the module. Default 4096.
    pub functions: u64,
    /// Entries that a table starts with; it can't grow, for want of an instruction. Default 4096.
    pub table_entries: u64,
    /// Most bytes that the memory may grow to, by the maximum that it has to state. Default 16 MiB.
    pub memory_bytes: u64,
    /// Globals. Default 256.
    pub globals: u64,
    /// Exports. Default 128.
    pub exports: u64,
    /// Element segments. Default 64.
    pub element_segments: u64,
    /// Elements of all element segments together. Default 4096.
    pub elements: u64,
    /// Data segments. Default 1024.
    pub data_segments: u64,
    /// Bytes of one function's body, its local declarations included. Default 64 KiB.
    pub body_bytes: u64,
    /// Locals of one function, besides its parameters. Default 128.
    pub locals: u64,
    /// Blocks, loops and ifs that are nested. Default 256.
    pub nesting: u64,
    /// Loops that are nested. Default 32.
    pub nested_loops: u64,
    /// Targets of one `br_table`, besides the default one. Default 1024.
    pub br_table_targets: u64,
    /// The sum, over the module's functions, of loops times parameters and locals. Default 16,384.
    ///
    /// A compiler merges the values of the locals at the head of each loop, so that its work and memory
    /// grow with this product.
    pub loop_locals: u64,
    /// Branches of one function times the values that may live across them. Default 131,072.
    ///
    /// Branches are blocks, loops, ifs, elses, `br`, `br_if` and each target of a `br_table`; values are
    /// parameters, locals, and the operand stack where it is highest. Measured with the code generator of
    /// wasmtime 48, the worst shapes cost some 1.1 KB and 12 microseconds for each unit of this product: a body
    /// of 46 KB with 5,000 nested ifs over 128 locals took 750 MB, one of 63 KB with branch tables in a loop
    /// 990 MB. The default keeps one function to some 150 MB.
    pub branch_values: u64,
    /// The sum of these products over the module's functions. Default 1,048,576: the
    /// worst module found at that size took 11 seconds and 160 MB to compile.
    pub module_branch_values: u64,
}

impl Default for StructuralLimits {
    fn default() -> Self {
        Self {
            module_bytes: MAX_MODULE_BYTES as u64,
            custom_sections: 64,
            custom_section_bytes: MAX_SECTION_BYTES as u64,
            types: 512,
            params: 32,
            results: 1,
            imports: 32,
            functions: 4096,
            table_entries: 4096,
            memory_bytes: 16 << 20,
            globals: 256,
            exports: 128,
            element_segments: 64,
            elements: 4096,
            data_segments: 1024,
            body_bytes: 64 << 10,
            locals: 128,
            nesting: 256,
            nested_loops: 32,
            br_table_targets: 1024,
            loop_locals: 16_384,
            branch_values: 1 << 17,
            module_branch_values: 1 << 20,
        }
    }
}

/// Which of the [`StructuralLimits`] a module breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is the field of StructuralLimits of the same name")]
pub enum Limit {
    ModuleBytes,
    CustomSections,
    CustomSectionBytes,
    Types,
    Params,
    Results,
    Imports,
    Functions,
    TableEntries,
    MemoryBytes,
    Globals,
    Exports,
    ElementSegments,
    Elements,
    DataSegments,
    BodyBytes,
    Locals,
    Nesting,
    NestedLoops,
    BrTableTargets,
    LoopLocals,
    BranchValues,
    ModuleBranchValues,
}

impl Limit {
    /// The figure allowed.
    #[must_use]
    pub fn of(self, limits: &StructuralLimits) -> u64 {
        let (figure, _) = self.row();
        figure(limits)
    }

    /// The stable code of a module that breaks it.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.entry().name
    }

    /// Its entry in the registry.
    pub(super) fn entry(self) -> Code {
        self.row().1
    }

    /// What is counted.
    pub(super) fn unit(self) -> &'static str {
        self.entry().limit.map_or("", |limit| limit.unit)
    }

    /// The figure and the code.
    fn row(self) -> (fn(&StructuralLimits) -> u64, Code) {
        match self {
            Self::ModuleBytes => (|it| it.module_bytes, codes::MODULE_TOO_LARGE),
            Self::CustomSections => (|it| it.custom_sections, codes::TOO_MANY_CUSTOM_SECTIONS),
            Self::CustomSectionBytes => {
                (|it| it.custom_section_bytes, codes::CUSTOM_SECTION_TOO_LARGE)
            }
            Self::Types => (|it| it.types, codes::TOO_MANY_TYPES),
            Self::Params => (|it| it.params, codes::TOO_MANY_PARAMS),
            Self::Results => (|it| it.results, codes::TOO_MANY_RESULTS),
            Self::Imports => (|it| it.imports, codes::TOO_MANY_IMPORTS),
            Self::Functions => (|it| it.functions, codes::TOO_MANY_FUNCTIONS),
            Self::TableEntries => (|it| it.table_entries, codes::TABLE_TOO_LARGE),
            Self::MemoryBytes => (|it| it.memory_bytes, codes::MEMORY_TOO_LARGE),
            Self::Globals => (|it| it.globals, codes::TOO_MANY_GLOBALS),
            Self::Exports => (|it| it.exports, codes::TOO_MANY_EXPORTS),
            Self::ElementSegments => (|it| it.element_segments, codes::TOO_MANY_ELEMENT_SEGMENTS),
            Self::Elements => (|it| it.elements, codes::TOO_MANY_ELEMENTS),
            Self::DataSegments => (|it| it.data_segments, codes::TOO_MANY_DATA_SEGMENTS),
            Self::BodyBytes => (|it| it.body_bytes, codes::BODY_TOO_LARGE),
            Self::Locals => (|it| it.locals, codes::TOO_MANY_LOCALS),
            Self::Nesting => (|it| it.nesting, codes::NESTING_TOO_DEEP),
            Self::NestedLoops => (|it| it.nested_loops, codes::LOOPS_TOO_DEEP),
            Self::BrTableTargets => (|it| it.br_table_targets, codes::BR_TABLE_TOO_LARGE),
            Self::LoopLocals => (|it| it.loop_locals, codes::TOO_MANY_LOOP_LOCALS),
            Self::BranchValues => (|it| it.branch_values, codes::TOO_MANY_BRANCH_VALUES),
            Self::ModuleBranchValues => {
                (|it| it.module_branch_values, codes::TOO_MANY_MODULE_BRANCH_VALUES)
            }
        }
    }
}
