//! Plans rendered to source: WebAssembly text that a reader can follow.
//!
//! The module that comes out has a fixed form: the declared inputs, one memory that never grows, four constants, the
//! hand-written prelude of [`retort_guest_template`], then the generated functions and the text they copy from. There is no
//! import, no start function and no table, and the only loops go over rows, in functions of one form. Whatever a plan holds
//! (event types, keys, names) ends up in data segments and in the custom section, never as syntax. The same plan gives the
//! same bytes.
//!
//! [`compile`] makes a module of the text. The renderer knows plans and the ABI, and nothing of gates or engines.
//!
//! Nothing survives a call: the code keeps what it knows in locals, reads the input block, constant text and what it has
//! just written itself, and writes from the first byte of the result to the last.

pub(crate) mod compile;
mod declarable;
mod extractor;
mod frame;
mod graph;
mod inputs;
mod items;
mod lower;
mod parts;
mod rust;
mod single;
mod source;
mod text;
mod write;

use thiserror::Error;

use crate::abi::section::{Section, SectionError};
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::diagnose::RenderReport;
use crate::diagnostics::problem::Coded;

pub use compile::{CompileError, Compiled, compile, compile_text};
/// The version of what rendering makes of a plan.
pub use retort_guest_template::VERSION as TEMPLATE_VERSION;
pub use rust::render_rust;
pub use source::{Source, render};

/// Bytes that the input block of a rendered extractor without rows may have: 1 MiB.
pub const INPUT_CAPACITY: u32 = 1 << 20;

/// Bytes that the result of a rendered extractor without rows may have: 1 MiB, counting the constant text of every
/// property, present in the event or not.
pub const OUTPUT_CAPACITY: u32 = 1 << 20;

/// Bytes that the input block of a rendered extractor with rows may have: 4 MiB.
pub const ROWS_INPUT_CAPACITY: u32 = 4 << 20;

/// Bytes that the result of a rendered extractor with rows may have: 8 MiB, counting the constant text of every property
/// of the last node or edge, present in the event or not.
pub const ROWS_OUTPUT_CAPACITY: u32 = 8 << 20;

/// Most bytes of a module: what is rendered, and what the static gate lets pass by default.
pub const MAX_MODULE_BYTES: usize = 1 << 20;

/// Most bytes of a custom section, the declaration among them: likewise.
pub const MAX_SECTION_BYTES: usize = 256 << 10;

/// How much a rendered extractor takes and gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacities {
    /// Bytes of the input block.
    pub input: u32,
    /// Bytes of the result.
    pub output: u32,
}

/// What a rendered extractor with this declaration takes and gives.
#[must_use]
pub fn capacities(section: &Section) -> Capacities {
    if section.rows().is_empty() {
        Capacities { input: INPUT_CAPACITY, output: OUTPUT_CAPACITY }
    } else {
        Capacities { input: ROWS_INPUT_CAPACITY, output: ROWS_OUTPUT_CAPACITY }
    }
}

/// Why a valid plan can't be rendered.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RenderError {
    /// A part of the plan, or the plan as a whole, is more than an extractor can declare.
    #[error("expected at most {allowed} {of}, found {found}")]
    Part {
        /// JSON Pointer (RFC 6901) to it in the plan; empty for the plan as a whole.
        pointer: String,
        /// What is counted.
        of: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        allowed: usize,
    },
    /// The plan's declaration breaks another bound of the ABI.
    #[error("the plan can't be declared: {0}")]
    Declaration(SectionError),
    /// A module that a compiler makes has or calls another function by the name of the plan's.
    #[error(
        "expected a name for the function that compilers have no function of their own by, found \"{name}\""
    )]
    FunctionName {
        /// The name.
        name: String,
    },
    /// The names in the plan are so long that no result could hold them.
    #[error("the plan's own text takes at least {used} bytes of the result, {allowed} are allowed")]
    TooLarge {
        /// Bytes of constant text.
        used: usize,
        /// What a result may have.
        allowed: usize,
    },
    /// What comes out would be more than what compiles and passes the static gate.
    #[error("the plan's {what} would have {used} bytes or more, {allowed} are allowed")]
    Module {
        /// `source`, `module` or `declaration`.
        what: &'static str,
        /// Bytes of it, at least.
        used: usize,
        /// What it may have.
        allowed: usize,
    },
}

impl RenderError {
    /// Refuses what would have more bytes than a part of a module may.
    fn check_module(what: &'static str, used: usize, allowed: usize) -> Result<(), Self> {
        if used > allowed { Err(Self::Module { what, used, allowed }) } else { Ok(()) }
    }

    /// Refuses constant text that no result could hold.
    fn check_result(used: usize, capacity: u32) -> Result<(), Self> {
        let allowed = capacity as usize;
        if used > allowed { Err(Self::TooLarge { used, allowed }) } else { Ok(()) }
    }
}

impl From<&RenderError> for RenderReport {
    fn from(error: &RenderError) -> Self {
        Self { path: error.place().unwrap_or_default(), message: error.message() }
    }
}

impl Coded for RenderError {
    fn entry(&self) -> Code {
        match self {
            Self::Part { .. } | Self::Declaration(_) | Self::FunctionName { .. } => {
                codes::PLAN_NOT_DECLARABLE
            }
            Self::TooLarge { .. } | Self::Module { .. } => codes::PLAN_TOO_LARGE,
        }
    }

    fn place(&self) -> Option<String> {
        match self {
            Self::Part { pointer, .. } => Some(pointer.to_string()),
            Self::FunctionName { .. } => Some("/function_name".to_owned()),
            Self::TooLarge { .. } | Self::Module { .. } | Self::Declaration(_) => None,
        }
    }

    fn usage(&self) -> Option<(u64, u64)> {
        match self {
            Self::Part { found, allowed, .. } => Some((*found as u64, *allowed as u64)),
            Self::TooLarge { used, allowed } | Self::Module { used, allowed, .. } => {
                Some((*used as u64, *allowed as u64))
            }
            Self::Declaration(_) | Self::FunctionName { .. } => None,
        }
    }
}
