//! What the gate reports: every fault of a module, with its code and place.

use std::fmt;

use super::limits::{Limit, StructuralLimits};
use crate::abi::section::{RESERVED_PREFIX, SectionError};
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::diagnostics::untrusted::{escaped, quoted};

/// Most problems that one rejection lists; the rest are counted.
pub const MAX_PROBLEMS: usize = 100;

/// What is wrong with a module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The header of a core module is missing.
    #[error("expected the header of a core WebAssembly module, got {found}")]
    NotAModule {
        /// What is there.
        found: String,
    },
    /// The binary can't be decoded; it may have been cut off.
    #[error("at offset {offset:#x}: {what}")]
    Malformed {
        /// Byte offset in the module.
        offset: usize,
        /// What the decoder says.
        what: String,
    },
    /// A proposal that guests don't need.
    #[error("at offset {offset:#x}: {what}: guests can't use {feature}")]
    FeatureDisabled {
        /// Byte offset in the module.
        offset: usize,
        /// The proposal.
        feature: String,
        /// What the decoder or validator says.
        what: String,
    },
    /// The binary decodes but isn't valid WebAssembly.
    #[error("at offset {offset:#x}: {what}")]
    Invalid {
        /// Byte offset in the module.
        offset: usize,
        /// What the validator says.
        what: String,
    },
    /// More of something than a [`StructuralLimits`](super::StructuralLimits) allows.
    #[error("{used} {unit}, at most {allowed} are allowed", unit = limit.unit())]
    OverLimit {
        /// Which limit.
        limit: Limit,
        /// How much there is.
        used: u64,
        /// How much is allowed.
        allowed: u64,
    },
    /// An import from anywhere but WASI preview 1.
    #[error("a guest imports nothing but functions of {module}", module = super::WASI_MODULE)]
    Import,
    /// A function of WASI that this host doesn't grant.
    #[error("a guest can't import {function} of WASI: {reason}")]
    WasiRefused {
        /// Its name, escaped.
        function: String,
        /// What is against it.
        reason: &'static str,
    },
    /// An import by the name of a function of WASI that is something else.
    #[error("expected {expected}, got {found}")]
    ImportType {
        /// The type that the function has.
        expected: String,
        /// What the module says it is.
        found: String,
    },
    /// A start function: it would run before the host set anything up.
    #[error("a guest has no start function; use _initialize")]
    StartFunction,
    /// No memory.
    #[error("expected one memory of the module's own, got none")]
    MemoryMissing,
    /// Several memories.
    #[error("expected one memory, got {found}")]
    MemoryCount {
        /// How many.
        found: u64,
    },
    /// A memory that doesn't say how far it may grow.
    #[error("expected a memory with a maximum, at most {allowed} pages of 64 KiB")]
    MemoryUnbounded {
        /// The largest maximum, in pages.
        allowed: u64,
    },
    /// No `retort` section.
    #[error("expected one custom section named retort, got none")]
    SectionMissing,
    /// Several `retort` sections.
    #[error("expected one custom section named retort, got {found}")]
    SectionDuplicate {
        /// How many.
        found: u64,
    },
    /// A `retort` section that can't be read.
    #[error(transparent)]
    Section(#[from] SectionError),
    /// An export of the ABI that isn't there.
    #[error("expected an export of {expected}, got none")]
    ExportMissing {
        /// The kind, and the type of a function.
        expected: &'static str,
    },
    /// An export of the ABI that is something else.
    #[error("expected {expected}, got a {found}")]
    ExportKind {
        /// The kind, and the type of a function.
        expected: &'static str,
        /// The kind found.
        found: &'static str,
    },
    /// A function of the ABI that has another type.
    #[error("expected {expected}, got a function {found}")]
    ExportType {
        /// The kind and the type.
        expected: &'static str,
        /// The type found.
        found: String,
    },
    /// An export whose name belongs to the ABI.
    #[error("names that begin with {RESERVED_PREFIX} belong to the ABI")]
    ExportReserved,
}

impl Coded for Fault {
    fn entry(&self) -> Code {
        match self {
            Self::NotAModule { .. } => codes::NOT_A_MODULE,
            Self::Malformed { .. } => codes::MALFORMED_MODULE,
            Self::FeatureDisabled { .. } => codes::FEATURE_DISABLED,
            Self::Invalid { .. } => codes::INVALID_MODULE,
            Self::OverLimit { limit, .. } => limit.entry(),
            Self::Import => codes::IMPORT_REFUSED,
            Self::WasiRefused { .. } => codes::WASI_REFUSED,
            Self::ImportType { .. } => codes::IMPORT_TYPE,
            Self::StartFunction => codes::START_FUNCTION,
            Self::MemoryMissing => codes::MEMORY_MISSING,
            Self::MemoryCount { .. } => codes::MEMORY_COUNT,
            Self::MemoryUnbounded { .. } => codes::MEMORY_UNBOUNDED,
            Self::SectionMissing => codes::SECTION_MISSING,
            Self::SectionDuplicate { .. } => codes::SECTION_DUPLICATE,
            Self::Section(error) => error.entry(),
            Self::ExportMissing { .. } => codes::EXPORT_MISSING,
            Self::ExportKind { .. } => codes::EXPORT_KIND,
            Self::ExportType { .. } => codes::EXPORT_TYPE,
            Self::ExportReserved => codes::EXPORT_RESERVED,
        }
    }
}

impl Fault {
    /// A decoder's error, or that of a proposal that is off.
    pub(super) fn decoding(error: &wasmparser::Error) -> Self {
        let (offset, what) = (error.offset(), escaped(error.message()));
        match disabled_feature(error) {
            Some(feature) => Self::FeatureDisabled { offset, feature, what },
            None => Self::Malformed { offset, what },
        }
    }

    /// A validator's error, or that of a proposal that is off.
    pub(super) fn validation(error: &wasmparser::Error) -> Self {
        let (offset, what) = (error.offset(), escaped(error.message()));
        match disabled_feature(error) {
            Some(feature) => Self::FeatureDisabled { offset, feature, what },
            None => Self::Invalid { offset, what },
        }
    }
}

fn disabled_feature(error: &wasmparser::Error) -> Option<String> {
    let (name, _) = error.missing_wasm_feature()?.iter_names().next()?;
    Some(name.to_ascii_lowercase().replace('_', "-"))
}

/// One fault and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InspectProblem {
    path: String,
    fault: Fault,
}

impl InspectProblem {
    /// The part of the module: `func[3] $name`, `memory[0]`, `export "memory"`; empty for the module.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is wrong there.
    #[must_use]
    pub fn fault(&self) -> &Fault {
        &self.fault
    }

    /// How much of a limited resource is used, in the limit's unit.
    #[must_use]
    pub fn used(&self) -> Option<u64> {
        self.usage().map(|(used, _)| used)
    }

    /// How much of it is allowed.
    #[must_use]
    pub fn allowed(&self) -> Option<u64> {
        self.usage().map(|(_, allowed)| allowed)
    }
}

impl Coded for InspectProblem {
    fn entry(&self) -> Code {
        self.fault.entry()
    }

    fn place(&self) -> Option<String> {
        Some(self.path.clone())
    }

    fn usage(&self) -> Option<(u64, u64)> {
        match &self.fault {
            Fault::OverLimit { used, allowed, .. } => Some((*used, *allowed)),
            Fault::MemoryCount { found } | Fault::SectionDuplicate { found } => Some((*found, 1)),
            Fault::Section(error) => error.usage(),
            _ => None,
        }
    }

    fn message(&self) -> String {
        self.fault.to_string()
    }
}

impl fmt::Display for InspectProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            write!(f, "{}", self.fault)
        } else {
            write!(f, "{}: {}", self.path, self.fault)
        }
    }
}

/// A module that the gate refuses: everything that is wrong with it, in the order of the binary,
/// then what is wrong with the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    problems: Vec<InspectProblem>,
    omitted: usize,
}

impl Rejected {
    /// The problems: at least one, at most [`MAX_PROBLEMS`].
    #[must_use]
    pub fn problems(&self) -> &[InspectProblem] {
        &self.problems
    }

    /// How many more there are.
    #[must_use]
    pub fn omitted(&self) -> usize {
        self.omitted
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{}: {problem}", problem.code())?;
        }
        match self.omitted {
            0 => Ok(()),
            omitted => write!(f, "; and {omitted} more"),
        }
    }
}

impl std::error::Error for Rejected {}

/// Part of a module that a problem is about, before the names of functions are known.
#[derive(Clone, Debug)]
pub(super) enum ModulePlace {
    Module,
    Section(String),
    Type(usize),
    Import { module: String, name: String },
    Func(u32),
    Table(usize),
    Memory(usize),
    Export(String),
}

impl ModulePlace {
    fn path(&self, function_name: impl Fn(u32) -> Option<String>) -> String {
        match self {
            Self::Module => String::new(),
            Self::Section(name) => format!("section {}", quoted(name)),
            Self::Type(index) => format!("type[{index}]"),
            Self::Import { module, name } => format!("import {}.{}", quoted(module), quoted(name)),
            Self::Func(index) => match function_name(*index) {
                Some(name) => format!("func[{index}] ${}", escaped(&name)),
                None => format!("func[{index}]"),
            },
            Self::Table(index) => format!("table[{index}]"),
            Self::Memory(index) => format!("memory[{index}]"),
            Self::Export(name) => format!("export {}", quoted(name)),
        }
    }
}

/// The problems found so far, and the limits that some of them break.
pub(super) struct Problems<'a> {
    limits: &'a StructuralLimits,
    found: Vec<(ModulePlace, Fault)>,
    omitted: usize,
}

impl<'a> Problems<'a> {
    pub(super) fn new(limits: &'a StructuralLimits) -> Self {
        Self { limits, found: Vec::new(), omitted: 0 }
    }

    pub(super) fn push(&mut self, place: ModulePlace, fault: Fault) {
        if self.found.len() < MAX_PROBLEMS {
            self.found.push((place, fault));
        } else {
            self.omitted += 1;
        }
    }

    /// Reports `used` where it is more than the limit allows; whether it is within.
    pub(super) fn within(&mut self, place: ModulePlace, limit: Limit, used: u64) -> bool {
        let allowed = limit.of(self.limits);
        let within = used <= allowed;
        if !within {
            self.push(place, Fault::OverLimit { limit, used, allowed });
        }
        within
    }

    /// The verdict: nothing when there is no problem.
    pub(super) fn rejection(
        &self,
        function_name: impl Fn(u32) -> Option<String>,
    ) -> Result<(), Rejected> {
        if self.found.is_empty() {
            return Ok(());
        }
        let problem = |(place, fault): &(ModulePlace, Fault)| InspectProblem {
            path: place.path(&function_name),
            fault: fault.clone(),
        };
        let problems = self.found.iter().map(problem).collect();
        Err(Rejected { problems, omitted: self.omitted })
    }
}
