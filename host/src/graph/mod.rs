//! The graph: what an extractor's result is, and what it has to fit.
//!
//! It knows documents and codes, and nothing of plans or events.

mod described;
pub(crate) mod extraction;
mod merge;
mod salvage;
pub(crate) mod spec;
pub(crate) mod validate;

pub(crate) use described::described;
pub use extraction::{Edge, Extraction, Node, Property};
pub use merge::{Conflict, Conflicts, merge};
pub use salvage::{Dropped, DroppedProperty, Salvage, salvage};
pub use spec::{
    EndpointColumn, Entity, GraphSpec, GraphSpecError, Properties, PropertySpec, PropertyType,
    Relationship, SpecProblem,
};
pub use validate::{Failure, FailureScope, ValidateOptions, ValidationReport, validate};
