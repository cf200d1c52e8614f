//! The graph: what an extractor's result is, and what it has to fit.

pub mod extraction;
pub mod spec;
pub(crate) mod text;
pub mod validate;

pub use extraction::Extraction;
pub use spec::{GraphSpec, GraphSpecError};
pub use validate::{ValidateOptions, ValidationReport, validate};
