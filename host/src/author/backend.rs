//! In which language a model says what an extractor does.

use serde::{Deserialize, Serialize};

/// What a model is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// A plan.
    #[default]
    Plan,
    /// The source of an extractor in Rust.
    Rust,
    /// A plan first, and Rust where the model says that no plan can say all that is asked for, or where plans keep failing. Plans
    /// have half of the attempts, one at least.
    Auto,
}

impl Backend {
    /// What is asked for first.
    pub(crate) const fn first(self) -> Language {
        match self {
            Self::Plan | Self::Auto => Language::Plan,
            Self::Rust => Language::Rust,
        }
    }

    /// How many of so many answers may be plans.
    pub(crate) const fn plans(self, max_attempts: usize) -> usize {
        match self {
            Self::Plan => max_attempts,
            Self::Auto if max_attempts > 1 => max_attempts / 2,
            Self::Auto => 1,
            Self::Rust => 0,
        }
    }

    pub(crate) const fn is_plan(&self) -> bool {
        matches!(self, Self::Plan)
    }
}

/// What one answer is asked to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// A plan, which Retort renders.
    #[default]
    Plan,
    /// The source of an extractor in Rust.
    Rust,
}

impl Language {
    pub(crate) const fn is_plan(&self) -> bool {
        matches!(self, Self::Plan)
    }

    /// What the whole of an answer is called.
    pub(crate) const fn whole(self) -> &'static str {
        match self {
            Self::Plan => "the plan",
            Self::Rust => "the source",
        }
    }
}

/// What passed every gate, as it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Candidate<'a> {
    /// A plan.
    Plan(&'a crate::plan::Plan),
    /// The source of an extractor in Rust.
    Rust(&'a str),
}
