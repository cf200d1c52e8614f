//! What is wrong with a result where it doesn't fit its tables.

use thiserror::Error;

/// What is wrong with a part of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum FaultKind {
    /// The result isn't one.
    #[error("a result")]
    WrongShape,
    /// An entity for which there is no table.
    #[error("an entity of the graph")]
    UnknownEntity,
    /// A relationship for which there is no table.
    #[error("a relationship of the graph")]
    UnknownRelationship,
    /// A property for which there is no column.
    #[error("a property of the graph")]
    UnknownProperty,
    /// A second value of a property.
    #[error("each property once")]
    PropertyTwice,
    /// A node without a value of its key.
    #[error("a value of the key")]
    MissingKey,
    /// An edge from or to a node that was left out.
    #[error("an edge between nodes that are written")]
    EndpointLeftOut,
    /// A value of another type.
    #[error("a value of the type")]
    TypeMismatch,
    /// An integer beyond 64 bits, a number beyond a double, or a time outside the years 1 to 9999 of UTC.
    #[error("a value that the column can hold")]
    OutOfRange,
    /// An integer of which a double would hold other digits.
    #[error("an integer that a double holds to its last digit")]
    Inexact,
    /// An event whose rows are too large to be held.
    #[error("rows that can be held")]
    TooLarge,
}

impl FaultKind {
    /// All there are.
    pub const ALL: [Self; 11] = [
        Self::WrongShape,
        Self::UnknownEntity,
        Self::UnknownRelationship,
        Self::UnknownProperty,
        Self::PropertyTwice,
        Self::MissingKey,
        Self::EndpointLeftOut,
        Self::TypeMismatch,
        Self::OutOfRange,
        Self::Inexact,
        Self::TooLarge,
    ];

    /// The stable code.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::WrongShape => "result_wrong_shape",
            Self::UnknownEntity => "unknown_entity",
            Self::UnknownRelationship => "unknown_relationship",
            Self::UnknownProperty => "unknown_property",
            Self::PropertyTwice => "property_twice",
            Self::MissingKey => "missing_key",
            Self::EndpointLeftOut => "endpoint_left_out",
            Self::TypeMismatch => "type_mismatch",
            Self::OutOfRange => "value_out_of_range",
            Self::Inexact => "value_inexact",
            Self::TooLarge => "rows_too_large",
        }
    }
}

/// How many faults there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultCounts([u64; FaultKind::ALL.len()]);

impl FaultCounts {
    pub(crate) fn add(&mut self, kind: FaultKind) {
        for (known, count) in FaultKind::ALL.iter().zip(&mut self.0) {
            *count += u64::from(*known == kind);
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }

    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Those of kinds of which there are any.
    pub fn iter(&self) -> impl Iterator<Item = (FaultKind, u64)> {
        FaultKind::ALL.into_iter().zip(self.0).filter(|(_, count)| *count > 0)
    }
}

/// Something of a result that isn't in its tables.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{path}: {message}")]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// Where in the result: `nodes[0].properties[1].value`. Empty for all of it.
    pub path: String,
    /// What was expected and what was found, without what personal values say.
    pub message: String,
}
