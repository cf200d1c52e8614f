//! Paths, and what they start from.

use serde::{Deserialize, Serialize};

/// What a path starts from, counted from the outside.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Level(pub u8);

impl Level {
    /// The root of the event.
    pub const EVENT: Self = Self(0);
    /// The element of a nested iteration: there are no deeper ones.
    pub const DEEPEST: Self = Self(2);

    /// Whether it is the root of the event.
    #[must_use]
    pub fn is_event(&self) -> bool {
        *self == Self::EVENT
    }
}

/// A path from a level on, through objects by literal keys. The empty path is what it starts from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// The keys.
    pub path: Vec<String>,
    /// What they start from: the event unless said otherwise.
    #[serde(default, skip_serializing_if = "Level::is_event")]
    pub level: Level,
}

impl Reference {
    /// A path from the root of the event.
    #[must_use]
    pub fn event(path: &[String]) -> Self {
        Self { path: path.to_vec(), level: Level::EVENT }
    }
}

/// What an iteration goes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// The elements of an array.
    Array,
    /// The entries of an object: each an object with the keys `key` and `value`.
    Entries,
}

impl Over {
    /// The field that holds the path to what is gone over.
    pub(crate) fn field(self) -> &'static str {
        match self {
            Self::Array => "array",
            Self::Entries => "entries",
        }
    }
}

/// One level of iteration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Iteration {
    /// What it goes over.
    pub over: Over,
    /// Where that is: from the event's root, or from the element of the iteration outside.
    pub path: Vec<String>,
}

/// One or two levels of iteration, the outer one first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ForEach {
    outer: Iteration,
    inner: Option<Iteration>,
}

impl ForEach {
    /// An iteration, and the one inside of it.
    #[must_use]
    pub fn new(outer: Iteration, inner: Option<Iteration>) -> Self {
        Self { outer, inner }
    }

    /// The levels, the outer one first.
    pub fn levels(&self) -> impl Iterator<Item = &Iteration> {
        std::iter::once(&self.outer).chain(&self.inner)
    }

    /// The level of its element.
    #[must_use]
    pub fn level(&self) -> Level {
        Level(if self.inner.is_some() { 2 } else { 1 })
    }

    /// The outer iteration alone.
    #[must_use]
    pub fn outer(&self) -> Self {
        Self { outer: self.outer.clone(), inner: None }
    }

    /// The inner iteration, where there is one.
    #[must_use]
    pub fn inner(&self) -> Option<&Iteration> {
        self.inner.as_ref()
    }

    /// Whether each element of `self` is an element of `outer`, or lies in one.
    #[must_use]
    pub fn is_within(&self, outer: &Self) -> bool {
        self == outer || (outer.inner.is_none() && self.outer == outer.outer)
    }
}
