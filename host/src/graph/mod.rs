//! The graph: what an extractor's result is, and what it has to fit.
//!
//! It knows documents and codes, and nothing of plans or events.

mod described;
pub mod extraction;
pub mod spec;
pub mod validate;

pub(crate) use described::described;
pub use extraction::Extraction;
pub use spec::{GraphSpec, GraphSpecError};
pub use validate::{ValidateOptions, ValidationReport, validate};
