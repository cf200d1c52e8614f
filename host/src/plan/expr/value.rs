//! Values: where they come from, and what is made of them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Conversion, Query, Reference, Template};

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// What is at a path.
    Path(Reference),
    /// A string, a number or a boolean.
    Constant(Value),
    /// Text with values in it.
    Template(Template),
    /// The first of these that is there.
    Coalesce(Vec<Expression>),
    /// What an expression gives.
    Query(Query),
}

/// A value, and the conversions that are applied to it, the first one first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Expression {
    /// Where it comes from.
    pub source: Source,
    /// What is made of it.
    pub convert: Vec<Conversion>,
}

impl Expression {
    /// What is at a path, as it is.
    #[must_use]
    pub fn path(reference: Reference) -> Self {
        Self { source: Source::Path(reference), convert: Vec::new() }
    }

    /// Every path that it reads, in the order in which they are written.
    #[must_use]
    pub fn references(&self) -> Vec<&Reference> {
        match &self.source {
            Source::Path(reference) => vec![reference],
            Source::Constant(_) => Vec::new(),
            Source::Template(template) => template.references().collect(),
            // As deep as the plan's reader lets values nest.
            Source::Coalesce(values) => values.iter().flat_map(Self::references).collect(),
            Source::Query(query) => query.references().collect(),
        }
    }
}

/// What becomes of a value of which a conversion has failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// It is left out. The default.
    #[default]
    Omit,
    /// The event is rejected.
    Reject,
}

impl OnError {
    /// Whether it is the default.
    #[must_use]
    pub fn is_omit(&self) -> bool {
        *self == Self::Omit
    }
}

/// What a string that is empty counts as where it is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Empty {
    /// A value like any other. The default.
    #[default]
    Value,
    /// Nothing, as if it weren't there.
    Absent,
}

impl Empty {
    /// Whether it is the default.
    #[must_use]
    pub fn is_value(&self) -> bool {
        *self == Self::Value
    }
}

/// What becomes of nodes, or edges, of the same id in the result of one event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnDuplicate {
    /// The last one counts. The default.
    #[default]
    Last,
    /// The event is rejected.
    Reject,
}
