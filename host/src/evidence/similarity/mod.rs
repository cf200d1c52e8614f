//! How alike names and paths are: in their words, letter by letter, and which of several is meant.
//!
//! Every search for what was meant by a name goes through here. [`words`] splits names into words and compares those by
//! meaning; [`spelling`] compares names and paths letter by letter; [`ranking`] takes the best of what was scored, with how far
//! it is ahead of the second best; [`slip`] says when a name can only be another one written wrongly. Names of this project's own outside of plans,
//! of limits, codes and keys of files, need no budget of steps and no words: see [`crate::diagnostics::nearest`].

pub(crate) mod letters;
pub(crate) mod ranking;
pub(crate) mod slip;
pub(crate) mod spelling;
pub(crate) mod vocabulary;
pub(crate) mod words;

/// How alike two names, or two paths, have to be for one to be the other misspelt.
///
/// One threshold for all that is compared letter by letter: of a name of nine letters, two may be wrong; a short form of a name
/// (`qty`) is just as alike. [`ranking::Best`] tests it.
pub(crate) const TYPO_THRESHOLD: f64 = 0.75;

/// How far ahead of the second best one has to be for nothing else to be meant.
pub(crate) const TYPO_MARGIN: f64 = 0.05;

/// How alike two names, or two paths, have to be for one to be suggested in place of the other.
pub(crate) const SUGGESTION_THRESHOLD: f64 = 0.6;
