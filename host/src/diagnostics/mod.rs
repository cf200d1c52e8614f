//! What is wrong, reported to people, programs and models.
//!
//! The ground floor: it knows nothing of the stages that fail. Each stage has an error type of its own, and every error
//! carries a stable code ([`problem::Coded`]); [`codes`] is the registry of what each code means.

pub mod codes;
pub mod diagnose;
pub(crate) mod fence;
pub mod finding;
pub(crate) mod listing;
pub mod nearest;
pub mod problem;
mod stage;
pub(crate) mod untrusted;
pub mod wording;
