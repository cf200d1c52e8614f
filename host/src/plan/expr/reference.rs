//! Paths, and what they start from.

use serde::{Deserialize, Serialize};

use super::{Condition, Query};

/// What a path starts from, counted from the outside.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Level(pub u8);

impl Level {
    /// The root of the event.
    pub const EVENT: Self = Self(0);
    /// The element of the innermost of nested iterations: there are no deeper ones.
    pub const DEEPEST: Self = Self(4);

    /// The level of the elements of an iteration within this one.
    #[must_use]
    pub fn inside(self) -> Self {
        Self(self.0.saturating_add(1))
    }

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

/// What there is at a path to go over.
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

/// What an iteration goes over. Paths start, and an expression stands, at the event's root, or at the element of the iteration
/// outside.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Listed {
    /// What is at one of these paths, one at least: the first at which there is such a thing.
    At(Over, Vec<Vec<String>>),
    /// The elements of the array that an expression gives. They need not be anywhere in the event.
    By(Query),
}

/// One level of iteration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Iteration {
    /// What it goes over.
    pub list: Listed,
    /// What has to hold of an element, or it is passed over.
    pub condition: Option<Condition>,
}

impl Iteration {
    /// Paths that it may have at most.
    pub const MAX_PATHS: usize = 8;

    /// An iteration over all of what is at one path.
    #[must_use]
    pub fn new(over: Over, path: Vec<String>) -> Self {
        Self { list: Listed::At(over, vec![path]), condition: None }
    }

    /// Whether its elements are those of an array, or the entries of an object.
    #[must_use]
    pub fn over(&self) -> Over {
        match &self.list {
            Listed::At(over, _) => *over,
            Listed::By(_) => Over::Array,
        }
    }

    /// Where what it goes over may be; none where an expression gives it.
    #[must_use]
    pub fn paths(&self) -> &[Vec<String>] {
        match &self.list {
            Listed::At(_, paths) => paths,
            Listed::By(_) => &[],
        }
    }

    /// Where what it goes over is, or is first looked for; empty where an expression gives it.
    #[must_use]
    pub fn path(&self) -> &[String] {
        self.paths().first().map(Vec::as_slice).unwrap_or_default()
    }

    /// The expression that gives what it goes over, where one does.
    #[must_use]
    pub fn query(&self) -> Option<&Query> {
        match &self.list {
            Listed::At(..) => None,
            Listed::By(query) => Some(query),
        }
    }

    /// The field that says what is gone over.
    pub(crate) fn field(&self) -> &'static str {
        match &self.list {
            Listed::At(_, paths) if paths.len() > 1 => FIRST_OF,
            Listed::At(over, _) => over.field(),
            Listed::By(_) => "expression",
        }
    }
}

/// The field that holds several paths.
pub(crate) const FIRST_OF: &str = "first_of";

/// Iterations, each but the first one over what is in the elements of the one before.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ForEach {
    outer: Option<Box<ForEach>>,
    iteration: Iteration,
}

impl ForEach {
    /// Different places that the elements of one may be in at most, where iterations have several paths.
    pub const MAX_PLACES: usize = 64;

    /// An iteration by itself.
    #[must_use]
    pub fn new(iteration: Iteration) -> Self {
        Self { outer: None, iteration }
    }

    /// An iteration within this one.
    #[must_use]
    pub fn around(self, inner: Iteration) -> Self {
        Self { outer: Some(Box::new(self)), iteration: inner }
    }

    /// Iterations from the outside in; `None` of none.
    #[must_use]
    pub fn of(levels: impl IntoIterator<Item = Iteration>) -> Option<Self> {
        levels
            .into_iter()
            .fold(None, |outer, iteration| Some(Self { outer: outer.map(Box::new), iteration }))
    }

    /// The innermost iteration.
    #[must_use]
    pub fn innermost(&self) -> &Iteration {
        &self.iteration
    }

    /// All but the innermost iteration, where there are others.
    #[must_use]
    pub fn outer(&self) -> Option<&Self> {
        self.outer.as_deref()
    }

    /// It, and all that it is within, from the inside out.
    fn outwards(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |it| it.outer())
    }

    /// The levels, the outer one first.
    #[must_use]
    pub fn levels(&self) -> Vec<&Iteration> {
        let mut levels: Vec<&Iteration> = self.outwards().map(Self::innermost).collect();
        levels.reverse();
        levels
    }

    /// The level of its element.
    #[must_use]
    pub fn level(&self) -> Level {
        Level(u8::try_from(self.outwards().count()).unwrap_or(u8::MAX))
    }

    /// The iterations down to those whose elements are at a level; `None` for the event's, and for deeper ones.
    #[must_use]
    pub fn at(&self, level: Level) -> Option<&Self> {
        self.outwards().find(|it| it.level() == level)
    }

    /// Whether each element of `self` is an element of `outer`, or lies in one.
    #[must_use]
    pub fn is_within(&self, outer: &Self) -> bool {
        self.outwards().any(|it| it == outer)
    }

    /// The same without conditions.
    pub(crate) fn unconditional(&self) -> Self {
        let outer = self.outer().map(|outer| Box::new(outer.unconditional()));
        Self { outer, iteration: Iteration { condition: None, ..self.iteration.clone() } }
    }

    /// Whether both go over the same, whatever has to hold of the elements.
    pub(crate) fn goes_over_what(&self, other: &Self) -> bool {
        let pairs = self.outwards().zip(other.outwards());
        let mut pairs = pairs.map(|(one, other)| (&one.iteration, &other.iteration));
        self.level() == other.level() && pairs.all(|(one, other)| one.list == other.list)
    }

    /// All levels of these, each once and the outer ones first, without conditions.
    pub(crate) fn all_levels<'f>(all: impl IntoIterator<Item = &'f Self>) -> Vec<Self> {
        let mut levels: Vec<Self> = Vec::new();
        for for_each in all {
            let outwards: Vec<&Self> = for_each.outwards().collect();
            for level in outwards.into_iter().rev() {
                if !levels.iter().any(|known| known.goes_over_what(level)) {
                    levels.push(level.unconditional());
                }
            }
        }
        levels
    }

    /// What has to hold of an element and of those around it for it not to be passed over, from the outside in.
    pub(crate) fn conditions(&self) -> Vec<&Condition> {
        self.levels().into_iter().filter_map(|it| it.condition.as_ref()).collect()
    }

    /// In how many places its elements may be.
    pub(crate) fn places(&self) -> usize {
        self.outwards()
            .fold(1, |places, it| places.saturating_mul(it.iteration.paths().len().max(1)))
    }
}
