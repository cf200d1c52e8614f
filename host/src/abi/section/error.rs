//! Why a section is rejected.

use super::{
    ABI_VERSION, MAX_ENTRIES, MAX_EVENT_TYPES, MAX_INPUTS, MAX_LEVELS, MAX_PATH_KEYS,
    MAX_PATH_SEGMENTS, MAX_ROWS,
};
use crate::abi::event::MAX_EVENT_TYPE_BYTES;
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::diagnostics::untrusted::{bounded, escaped};
use crate::plan::PlanParseError;
use crate::plan::expr::{ForEach, Level};
use crate::plan::language::ReadContext;

/// Why a `retort` section is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SectionError {
    /// The bytes aren't one JSON value.
    #[error("not JSON: {message}")]
    NotJson {
        /// What the parser says, with line and column.
        message: String,
    },
    /// JSON, but not an object with exactly the section's keys and their types.
    #[error("{message}")]
    WrongShape {
        /// Where, what was expected and what was found.
        message: String,
    },
    /// Another version of the ABI.
    #[error("abi: expected {ABI_VERSION}, got {found}")]
    Version {
        /// The version stated.
        found: u64,
    },
    /// The extractor's name.
    #[error("function: expected {expected}, got {found}")]
    Function {
        /// The name, quoted.
        found: String,
        /// What it should be.
        expected: &'static str,
    },
    /// An empty list of event types.
    #[error("event_types: expected at least one event type, got none")]
    NoEventTypes,
    /// An empty event type.
    #[error("event_types[{index}]: expected a non-empty string")]
    EmptyEventType {
        /// Position in the list.
        index: usize,
    },
    /// Too many event types.
    #[error("event_types: {found} event types, at most {MAX_EVENT_TYPES} are allowed")]
    TooManyEventTypes {
        /// How many there are.
        found: usize,
    },
    /// An event type that is too long.
    #[error("event_types[{index}]: {found} bytes, at most {MAX_EVENT_TYPE_BYTES} are allowed")]
    LongEventType {
        /// Position in the list.
        index: usize,
        /// How long it is.
        found: usize,
    },
    /// An event type that the list holds already.
    #[error("event_types[{index}]: {found} is listed twice")]
    RepeatedEventType {
        /// Position of the second one.
        index: usize,
        /// The event type, quoted.
        found: String,
    },
    /// Too many inputs.
    #[error("inputs: {found} inputs, at most {MAX_INPUTS} are allowed")]
    TooManyInputs {
        /// How many there are.
        found: usize,
    },
    /// Too many keys in all paths together.
    #[error("inputs: paths of {found} keys together, at most {MAX_PATH_KEYS} are allowed")]
    TooManyKeys {
        /// How many there are, iterations included.
        found: usize,
    },
    /// A path that no accepted event can hold.
    #[error("inputs[{index}].path: {found} segments, at most {MAX_PATH_SEGMENTS} are allowed")]
    PathTooDeep {
        /// Position in the list of inputs.
        index: usize,
        /// How many segments the path has.
        found: usize,
    },
    /// An input of rows that there aren't.
    #[error("inputs[{index}].rows: expected the place of an iteration, below {rows}, got {found}")]
    UnknownRows {
        /// Position in the list of inputs.
        index: usize,
        /// The place that it names.
        found: usize,
        /// How many iterations there are.
        rows: usize,
    },
    /// A path that starts at an element that the input isn't in.
    #[error(
        "inputs[{index}]: a path from level {found}, deeper than its rows, which are at level {allowed}"
    )]
    LevelTooDeep {
        /// Position in the list of inputs.
        index: usize,
        /// The level of the path.
        found: u8,
        /// The level of the input's rows; 0 without rows.
        allowed: u8,
    },
    /// An input that depends on what it can't depend on.
    #[error(
        "inputs[{index}].if: expected an earlier input that is a test, of the same rows or of none, got {found}"
    )]
    Guard {
        /// Position in the list of inputs.
        index: usize,
        /// The place that it names.
        found: usize,
    },
    /// A list inside an input with too many entries.
    #[error(
        "inputs[{index}]: a list of {found} {of}, at least 1 and at most {MAX_ENTRIES} are allowed"
    )]
    Entries {
        /// Position in the list of inputs.
        index: usize,
        /// Entries of what.
        of: &'static str,
        /// How many entries there are.
        found: usize,
    },
    /// Conditions or values that nest too deep.
    #[error("inputs[{index}]: {of} nest more than {MAX_LEVELS} levels")]
    Nesting {
        /// Position in the list of inputs.
        index: usize,
        /// What nests.
        of: &'static str,
    },
    /// Too many iterations.
    #[error("rows: {found} iterations, at most {MAX_ROWS} are allowed")]
    TooManyRows {
        /// How many there are.
        found: usize,
    },
    /// A path of an iteration that no accepted event can hold.
    #[error("rows[{index}]: a path of {found} segments, at most {MAX_PATH_SEGMENTS} are allowed")]
    RowsPathTooDeep {
        /// Position in the list of iterations.
        index: usize,
        /// How many segments the path has.
        found: usize,
    },
    /// An iteration in one that it can't be in.
    #[error(
        "rows[{index}].within: expected an earlier iteration, within at most {} others, got {found}",
        Level::DEEPEST.0 - 2
    )]
    Within {
        /// Position in the list of iterations.
        index: usize,
        /// The place that it names.
        found: usize,
    },
    /// Elements that may be in too many places.
    #[error(
        "rows[{index}].first_of: {found} places by the paths of all levels together, at most {} are allowed",
        ForEach::MAX_PLACES
    )]
    Places {
        /// Position in the list of iterations.
        index: usize,
        /// How many places there are.
        found: usize,
    },
    /// A path of a condition, or of an expression, that starts at an element that it isn't in.
    #[error(
        "rows[{index}].{part}: a path from level {found}, deeper than the elements, which are at level {allowed}"
    )]
    RowsLevelTooDeep {
        /// Position in the list of iterations.
        index: usize,
        /// Which part of it.
        part: &'static str,
        /// The level of the path.
        found: u8,
        /// The level of the elements.
        allowed: u8,
    },
    /// A list inside the condition of an iteration with too many entries.
    #[error(
        "rows[{index}].where: a list of {found} {of}, at least 1 and at most {MAX_ENTRIES} are allowed"
    )]
    RowsEntries {
        /// Position in the list of iterations.
        index: usize,
        /// Entries of what.
        of: &'static str,
        /// How many entries there are.
        found: usize,
    },
    /// A condition of an iteration that nests too deep.
    #[error("rows[{index}].where: {of} nest more than {MAX_LEVELS} levels")]
    RowsNesting {
        /// Position in the list of iterations.
        index: usize,
        /// What nests.
        of: &'static str,
    },
    /// An iteration that depends on what it can't depend on.
    #[error("rows[{index}].if: expected an input that is a test and has no rows, got {found}")]
    RowsGuard {
        /// Position in the list of iterations.
        index: usize,
        /// The place that it names.
        found: usize,
    },
}

/// How much of a path a message repeats, in characters: an unknown key is part of it, and may be anything.
const PATH_CHARS: usize = 200;

impl SectionError {
    /// The first problem that was noted while reading.
    pub(super) fn wrong_shape(context: ReadContext) -> Self {
        let problem = context.into_problems().into_iter().next();
        let message =
            problem.map_or_else(String::new, |PlanParseError { path, message, .. }| {
                let colon = if path.is_empty() { "" } else { ": " };
                bounded(&path, PATH_CHARS) + colon + &message
            });
        Self::WrongShape { message }
    }
}

impl Coded for SectionError {
    fn entry(&self) -> Code {
        match self {
            Self::NotJson { .. } => codes::SECTION_NOT_JSON,
            Self::WrongShape { .. } => codes::SECTION_WRONG_SHAPE,
            Self::Version { .. } => codes::SECTION_ABI_VERSION,
            Self::Function { .. } => codes::SECTION_FUNCTION,
            Self::NoEventTypes
            | Self::EmptyEventType { .. }
            | Self::TooManyEventTypes { .. }
            | Self::LongEventType { .. }
            | Self::RepeatedEventType { .. } => codes::SECTION_EVENT_TYPES,
            Self::TooManyInputs { .. }
            | Self::TooManyKeys { .. }
            | Self::PathTooDeep { .. }
            | Self::UnknownRows { .. }
            | Self::LevelTooDeep { .. }
            | Self::Guard { .. }
            | Self::Entries { .. }
            | Self::Nesting { .. } => codes::SECTION_INPUTS,
            Self::TooManyRows { .. }
            | Self::RowsPathTooDeep { .. }
            | Self::Within { .. }
            | Self::Places { .. }
            | Self::RowsLevelTooDeep { .. }
            | Self::RowsEntries { .. }
            | Self::RowsNesting { .. }
            | Self::RowsGuard { .. } => codes::SECTION_ROWS,
        }
    }

    fn usage(&self) -> Option<(u64, u64)> {
        let (used, allowed) = match self {
            Self::TooManyEventTypes { found } => (*found, MAX_EVENT_TYPES),
            Self::LongEventType { found, .. } => (*found, MAX_EVENT_TYPE_BYTES),
            Self::TooManyInputs { found } => (*found, MAX_INPUTS),
            Self::TooManyKeys { found } => (*found, MAX_PATH_KEYS),
            Self::PathTooDeep { found, .. } | Self::RowsPathTooDeep { found, .. } => {
                (*found, MAX_PATH_SEGMENTS)
            }
            Self::Entries { found, .. } | Self::RowsEntries { found, .. } if *found > 0 => {
                (*found, MAX_ENTRIES)
            }
            // It isn't gone further into.
            Self::Nesting { .. } | Self::RowsNesting { .. } => (MAX_LEVELS + 1, MAX_LEVELS),
            Self::Places { found, .. } => (*found, ForEach::MAX_PLACES),
            Self::TooManyRows { found } => (*found, MAX_ROWS),
            _ => return None,
        };
        Some((used as u64, allowed as u64))
    }
}

impl From<serde_json::Error> for SectionError {
    fn from(error: serde_json::Error) -> Self {
        let message = escaped(&error.to_string());
        if error.is_data() { Self::WrongShape { message } } else { Self::NotJson { message } }
    }
}
