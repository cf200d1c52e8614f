//! Conditions.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Query, Reference};

/// What has to hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// A test of what is at a path.
    Test(Reference, Test),
    /// All of these.
    All(Vec<Condition>),
    /// One of these.
    Any(Vec<Condition>),
    /// Not this.
    Not(Box<Condition>),
    /// That an expression gives something true. One that fails doesn't.
    Query(Query),
}

/// A test of a value. None holds where there isn't any.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    /// It isn't null.
    Exists,
    /// It is neither null nor `false`, zero or empty.
    Truthy,
    /// It is this string, number or boolean.
    Equals(Value),
    /// It is one of these.
    OneOf(Vec<Value>),
    /// It is a string that begins so.
    StartsWith(String),
    /// It is of this type.
    IsType(JsonType),
}

/// The types of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JsonType {
    /// A string.
    String,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// An object.
    Object,
    /// An array.
    Array,
    /// `null`.
    Null,
}

impl JsonType {
    /// The type whose discriminant this is; null where there is none.
    pub(crate) const fn numbered(number: u8) -> Self {
        match number {
            0 => Self::String,
            1 => Self::Number,
            2 => Self::Boolean,
            3 => Self::Object,
            4 => Self::Array,
            _ => Self::Null,
        }
    }
}

impl Condition {
    /// Levels that conditions nest at most.
    pub const MAX_DEPTH: usize = 8;

    /// Every path that it reads, in the order in which they are written.
    #[must_use]
    pub fn references(&self) -> Vec<&Reference> {
        // No deeper than MAX_DEPTH, which readers hold to.
        match self {
            Self::Test(reference, _) => vec![reference],
            Self::All(all) | Self::Any(all) => all.iter().flat_map(Self::references).collect(),
            Self::Not(inner) => inner.references(),
            Self::Query(query) => query.references().collect(),
        }
    }
}
