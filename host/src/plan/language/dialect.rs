//! The two dialects of values and conditions, as far as they differ in names and tables.

use super::section;
use super::table::{ObjectKind, ObjectTable};

/// Where values and conditions are written, which decides how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// In a plan: by people and models.
    Plan,
    /// In the section of a module: by a renderer. It has bounds of its own, and texts may be empty.
    Section,
}

impl Dialect {
    /// What a value of a `coalesce` may have.
    pub(super) fn value(self) -> &'static ObjectTable {
        match self {
            Self::Plan => ObjectKind::Choice.table(),
            Self::Section => &section::VALUE,
        }
    }

    pub(super) fn condition(self) -> &'static ObjectTable {
        match self {
            Self::Plan => ObjectKind::Condition.table(),
            Self::Section => &section::CONDITION,
        }
    }

    /// The field that holds a path.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Plan => "source_path",
            Self::Section => "path",
        }
    }

    /// The field that holds conversions.
    pub(super) fn convert(self) -> &'static str {
        match self {
            Self::Plan => "convert",
            Self::Section => "as",
        }
    }

    /// Whether conditions or values may nest so deep. A section is checked for that once it is read.
    pub(super) fn allows(self, depth: usize, most: usize) -> bool {
        self == Self::Section || depth <= most
    }
}
