//! The gates that judge a candidate without running it.
//!
//! [`fit()`] checks a plan against what is known of its events and its graph, a [`FieldPolicy`] against what a tenant lets extractors
//! read, and [`inspect()`] says what a module is before anything compiles it,
//! and [`vet_source`] what Rust source may say. They are siblings: none needs another's verdict, though a source that was vetted tells
//! the first one where it declares what. The one
//! gate that runs a module, the sample run, comes after the sandbox, of which the gates know nothing.

pub(crate) mod fit;
pub(crate) mod inspect;
pub(crate) mod policy;
pub(crate) mod source;

pub use fit::{Fitted, Unfit, fit};
pub use inspect::{
    ExportFact, Facts, Fault, FuelBound, Grant, InspectProblem, Inspected, Limit, Obligation,
    Proof, Rejected, ResetSafety, SectionFact, StructuralLimits, Unproven, Unrestorable, Verified,
    VerifiedCounts, inspect, inspect_granting, verify,
};
pub use policy::{Denied, FieldPolicy, PolicyError, Restriction};
pub use source::{
    MAX_SOURCE_PROBLEMS, SourceFault, SourceLimits, SourceProblem, SourceRefused, VettedSource,
    vet as vet_source,
};
