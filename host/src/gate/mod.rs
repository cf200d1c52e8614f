//! The gates that a module has to pass before it becomes a bundle.

pub mod inspect;
pub mod smoke;
