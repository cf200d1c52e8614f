//! What is done about a plan that was turned down.

pub mod mechanical;
