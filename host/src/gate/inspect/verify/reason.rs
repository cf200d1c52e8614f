//! Why a module couldn't be proven.

use std::fmt;

use serde::Serialize;

use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;

/// Which part of the proof a module fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Obligation {
    /// It has nothing but types, functions, one memory, constants, exports, code and data.
    Sections,
    /// Its memory can't grow.
    Memory,
    /// It has the four constants of a template.
    Globals,
    /// It exports what the ABI asks for, and nothing else.
    Exports,
    /// The areas lie one after another, and are as large as this host's.
    Areas,
    /// Data lies before the areas, no two segments over each other.
    Data,
    /// It begins with the hand-written functions of a known template.
    Template,
    /// Its other functions have the types of generated ones.
    Signature,
    /// They use known operators alone.
    Operator,
    /// They read what the module or the host wrote for this event.
    Load,
    /// They write after what is written already.
    Store,
    /// They call functions before them, with arguments that these can deal with.
    Call,
    /// Their loops go over rows.
    Loop,
    /// Branches agree on how far the result is written.
    Join,
    /// They return what was written, and all of it.
    Returned,
    /// What is copied in bulk becomes part of the result.
    Bulk,
}

impl Obligation {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::Sections,
        Self::Memory,
        Self::Globals,
        Self::Exports,
        Self::Areas,
        Self::Data,
        Self::Template,
        Self::Signature,
        Self::Operator,
        Self::Load,
        Self::Store,
        Self::Call,
        Self::Loop,
        Self::Join,
        Self::Returned,
        Self::Bulk,
    ];

    /// The stable code of a module that fails it.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.entry().name
    }

    /// Fails it.
    pub(super) fn unmet<T>(self, message: impl Into<String>) -> Result<T, Unproven> {
        Err(Unproven::new(self, message))
    }

    /// Its entry in the registry.
    fn entry(self) -> Code {
        match self {
            Self::Sections => codes::UNPROVEN_SECTIONS,
            Self::Memory => codes::UNPROVEN_MEMORY,
            Self::Globals => codes::UNPROVEN_GLOBALS,
            Self::Exports => codes::UNPROVEN_EXPORTS,
            Self::Areas => codes::UNPROVEN_AREAS,
            Self::Data => codes::UNPROVEN_DATA,
            Self::Template => codes::UNPROVEN_TEMPLATE,
            Self::Signature => codes::UNPROVEN_SIGNATURE,
            Self::Operator => codes::UNPROVEN_OPERATOR,
            Self::Load => codes::UNPROVEN_LOAD,
            Self::Store => codes::UNPROVEN_STORE,
            Self::Call => codes::UNPROVEN_CALL,
            Self::Loop => codes::UNPROVEN_LOOP,
            Self::Join => codes::UNPROVEN_JOIN,
            Self::Returned => codes::UNPROVEN_RESULT,
            Self::Bulk => codes::UNPROVEN_BULK,
        }
    }
}

/// The first thing that the verifier could not prove, and where it is. It makes a module slower, not wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unproven {
    code: Code,
    #[serde(skip_serializing_if = "String::is_empty")]
    place: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<usize>,
    message: String,
    #[serde(skip)]
    obligation: Obligation,
}

impl Unproven {
    pub(super) fn new(obligation: Obligation, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code: obligation.entry(), place: String::new(), offset: None, message, obligation }
    }

    /// The same, in a part of the module.
    pub(super) fn in_place(self, place: impl Into<String>) -> Self {
        Self { place: place.into(), ..self }
    }

    /// The same, at a byte of the module.
    pub(super) fn at(self, offset: usize) -> Self {
        Self { offset: Some(offset), ..self }
    }

    /// What could not be proven.
    #[must_use]
    pub fn obligation(&self) -> Obligation {
        self.obligation
    }

    /// The part of the module: `func[5] $node_1`, `data[2]`; empty for the module.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The byte of the module at which the operator is, where it is about one.
    #[must_use]
    pub fn offset(&self) -> Option<usize> {
        self.offset
    }

    /// What was expected and what was found.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl Coded for Unproven {
    fn entry(&self) -> Code {
        self.code
    }
}

impl fmt::Display for Unproven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        if let Some(offset) = self.offset {
            write!(f, "at offset {offset:#x}: ")?;
        }
        f.write_str(&self.message)
    }
}
