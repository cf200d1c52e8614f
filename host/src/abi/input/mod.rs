//! What a module declares that it is to be given, and the JSON for it.

mod read;
mod strict;
mod write;

pub(in crate::abi) use read::{input, rows, whole_number};
pub(in crate::abi) use strict::Strict;

use crate::plan::expr::{
    Condition, Expression, ForEach, Iteration, OnError, Query, Reference, Source,
};

/// One value that the extractor is given. Without `rows` it is one slot, with them one for each row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Input {
    /// What it is.
    pub what: InputKind,
    /// The iteration that there is a value for each row of, by its place in [`Section::rows`](super::section::Section::rows).
    pub rows: Option<usize>,
    /// An earlier input, of the same rows or of none, that has to be true; where it isn't, this one is absent and isn't
    /// evaluated.
    pub only_if: Option<usize>,
    /// What becomes of the event where a conversion fails.
    pub on_error: OnError,
}

/// What an input is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum InputKind {
    /// A value, as JSON.
    Value(Expression),
    /// `true` or `false`: whether the value is truthy. An absent value stays absent.
    Truthy(Reference),
    /// `true` or `false`: whether this holds.
    When(Condition),
}

/// An iteration: rows, one for each element.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rows {
    /// What it goes over.
    pub iteration: Iteration,
    /// The iteration outside, by its place in [`Section::rows`](super::section::Section::rows): an earlier one.
    pub within: Option<usize>,
    /// An input without rows that has to be true; where it isn't, there are no rows.
    pub only_if: Option<usize>,
}

impl Rows {
    /// The iterations down to one of these, from the outside in. Each is within an earlier one, if it is within any.
    pub(crate) fn around(rows: &[Self], index: usize) -> Vec<usize> {
        let within = |at: &usize| rows.get(*at)?.within.filter(|outer| outer < at);
        let mut around: Vec<usize> = std::iter::successors(Some(index), within).collect();
        around.reverse();
        around
    }

    /// One of these iterations with those around it.
    pub(crate) fn for_each(rows: &[Self], index: usize) -> Option<ForEach> {
        let around = Self::around(rows, index).into_iter();
        let iterations: Option<Vec<Iteration>> =
            around.map(|at| Some(rows.get(at)?.iteration.clone())).collect();
        ForEach::of(iterations?)
    }

    /// Every path that the expression reads which gives what it goes over.
    pub(crate) fn made_of(&self) -> Vec<&Reference> {
        self.iteration.query().into_iter().flat_map(Query::references).collect()
    }

    /// Every path that its condition reads.
    pub(crate) fn references(&self) -> Vec<&Reference> {
        self.iteration.condition.as_ref().map(Condition::references).unwrap_or_default()
    }
}

impl Input {
    /// What is at a path of the event, as JSON.
    #[must_use]
    pub fn json(path: &[String]) -> Self {
        Self::of(InputKind::Value(Expression::path(Reference::event(path))))
    }

    /// Whether what is at a path of the event is truthy.
    #[must_use]
    pub fn truthy(path: &[String]) -> Self {
        Self::of(InputKind::Truthy(Reference::event(path)))
    }

    /// An input without rows and conditions.
    #[must_use]
    pub fn of(what: InputKind) -> Self {
        Self { what, rows: None, only_if: None, on_error: OnError::Omit }
    }

    /// Every path that it reads.
    #[must_use]
    pub fn references(&self) -> Vec<&Reference> {
        match &self.what {
            InputKind::Value(value) => value.references(),
            InputKind::Truthy(reference) => vec![reference],
            InputKind::When(condition) => condition.references(),
        }
    }

    /// Whether it is `true` or `false`, so that other inputs can depend on it.
    #[must_use]
    pub fn is_test(&self) -> bool {
        matches!(self.what, InputKind::Truthy(_) | InputKind::When(_))
    }

    /// Whether it is a value without conversions.
    #[must_use]
    pub fn is_as_it_is(&self) -> bool {
        matches!(&self.what, InputKind::Value(value) if value.convert.is_empty())
    }

    /// The path, where it is what is at a path of the event, as it is.
    #[must_use]
    pub fn plain_path(&self) -> Option<&[String]> {
        match &self.what {
            InputKind::Value(Expression { source: Source::Path(reference), convert })
                if convert.is_empty() && reference.level.is_event() && self.rows.is_none() =>
            {
                Some(&reference.path)
            }
            _ => None,
        }
    }
}
