//! What Retort's own command, Python package, tests, benches and fuzz targets look at besides the public interface. Nothing in here is stable.

pub use crate::diagnostics::nearest::nearest;
pub use crate::evidence::redact::redacted;

/// The input block.
pub mod block {
    pub use crate::abi::block::*;
}

/// The reading of events.
pub mod event {
    pub use crate::abi::event::*;
}

/// The checking of results.
pub mod result {
    pub use crate::abi::result::*;
}

/// The declaration in a module.
pub mod section {
    pub use crate::abi::section::*;
}

/// What the loop makes of failures of extractors in Rust.
#[cfg(feature = "author")]
pub mod retry {
    pub use crate::author::retry::rust_rejection;
}

/// The reading of answers.
#[cfg(feature = "author")]
pub mod answer {
    pub use crate::author::answer::*;
}

/// The texts that models are given.
#[cfg(feature = "author")]
pub mod prompt {
    pub use crate::author::prompt::*;
}

/// Bundles in object stores.
#[cfg(feature = "remote")]
pub mod remote {
    pub use crate::remote::*;
}

/// What is repaired without a model.
#[cfg(feature = "author")]
pub mod repair {
    pub use crate::author::repair::mechanical::*;
    pub use crate::author::repair::*;
}

/// The sample run by itself.
pub mod smoke {
    pub use crate::bundle::smoke::*;
}

/// Every code, as a constant.
pub mod codes {
    pub use crate::diagnostics::codes::*;
}

/// Diagnostics by kind of report.
pub mod diagnose {
    pub use crate::diagnostics::diagnose::*;
}

/// What is proven of a module, and how.
pub mod prove {
    pub use crate::gate::inspect::prove::*;
}

/// What the static gate is made of.
pub mod inspect {
    pub use crate::gate::inspect::*;
}

/// Expressions as the oracle evaluates them.
pub mod expression {
    pub use crate::plan::oracle::expression as by_oracle;
}

/// What work costs that the host does for a guest.
pub mod fuel {
    pub use crate::plan::expr::fuel::*;
}

/// An instance without the sandbox around it, to measure what that adds.
#[cfg(feature = "cli")]
pub mod bare {
    pub use crate::sandbox::bare::*;
}

/// The helper that compiles modules.
pub mod helper {
    pub use crate::sandbox::helper::*;
}

/// Events that are packed.
#[cfg(feature = "serve")]
pub mod packing {
    pub use crate::service::packing::*;
}

/// The service over HTTP.
#[cfg(feature = "serve")]
pub mod service {
    pub use crate::service::*;
}

/// Documents, read within bounds.
pub mod document {
    pub use crate::json::document::*;
}

/// A plan's meaning, natively.
pub mod oracle {
    pub use crate::plan::oracle::*;
}

/// Messages of other crates in the words of this one.
pub mod wording {
    pub use crate::diagnostics::wording::*;
}
