//! What the gate found out about a module that it passes.

use serde::Serialize;

use super::fuel::FuelBound;

/// A section and its size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SectionFact {
    /// The standard name, such as `code`; of a custom section its own name.
    pub name: String,
    /// Whether it is a custom section.
    pub custom: bool,
    /// Bytes of its contents.
    pub bytes: u64,
}

/// An export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExportFact {
    /// The name.
    pub name: String,
    /// `function`, `memory`, `table` or `global`.
    pub kind: &'static str,
    /// Of a function, its type: `(i32, i32) -> i64`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// What can be read off a module without running it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Facts {
    /// Bytes of the module.
    pub module_bytes: u64,
    /// The sections, in the order of the binary.
    pub sections: Vec<SectionFact>,
    /// The functions of WASI preview 1 that it imports, in the order of the binary. Left out where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub imports: Vec<&'static str>,
    /// The exports, in the order of the binary.
    pub exports: Vec<ExportFact>,
    /// Pages of 64 KiB that the memory begins with.
    pub memory_min_pages: u64,
    /// Pages of 64 KiB that the memory may grow to.
    pub memory_max_pages: u64,
    /// Data segments.
    pub data_segments: u64,
    /// Bytes of all data segments.
    pub data_bytes: u64,
    /// Entries of the table; 0 without one.
    pub table_entries: u64,
    /// Functions defined.
    pub functions: u64,
    /// Bytes of the largest body.
    pub largest_body_bytes: u64,
    /// Locals, besides parameters, of the function that has most.
    pub max_locals: u64,
    /// Depth of the deepest nesting of blocks.
    pub max_nesting: u64,
    /// Depth of the deepest nesting of loops.
    pub max_nested_loops: u64,
    /// Targets of the largest `br_table`.
    pub max_br_table_targets: u64,
    /// Loops in all functions.
    pub loops: u64,
    /// The sum over functions of loops times parameters and locals.
    pub loop_locals: u64,
    /// Height of the highest operand stack.
    pub max_operands: u64,
    /// The sum over functions of branches times the values that may live across them.
    pub branch_values: u64,
    /// Whether any code asks for more memory.
    pub grows_memory: bool,
    /// Whether there is a table.
    pub has_table: bool,
    /// Whether any code calls through a table.
    pub calls_indirectly: bool,
    /// Whether direct calls form a cycle.
    pub recursive: bool,
    /// Whether floating point occurs anywhere, in code or types.
    pub uses_floats: bool,
    /// The most fuel that an event can cost, where it is known. Of a module with loops it can't, unless it is proven
    /// that they go over rows.
    pub fuel_bound: Option<FuelBound>,
}
