//! The gates that a plan and its module have to pass before it becomes a bundle.

pub mod fit;
pub mod inspect;
pub mod policy;
