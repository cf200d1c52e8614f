//! Repair without a model: findings with patches, and their application.
//!
//! The gate of [`fit`](crate::gate::fit) says what doesn't fit and what would mend it. Here the same is worked out for what
//! the [plan parser](crate::plan) and the [sample run](crate::bundle::smoke) turn down, and [`mend`] applies everything that
//! is certain. What comes out is a text like any other: it has to pass all gates.
//!
//! # Example
//!
//! ```
//! use retort::diagnostics::finding::Finding;
//! use retort::author::repair::mechanical::mend;
//!
//! let patch = serde_json::from_str(r#"[{"op": "remove", "path": "/notes"}]"#)?;
//! let finding = Finding::new(retort::diagnostics::problem::Stage::Plan, "unknown_field", "/notes", "a field of plans", "`notes`");
//! let mended = mend(r#"{"event_type": "a", "notes": []}"#, &[finding.with_fix(patch)]);
//! assert_eq!(mended.map(|it| it.text).as_deref(), Some("{\n  \"event_type\": \"a\"\n}"));
//! # Ok::<(), serde_json::Error>(())
//! ```

mod cause;
mod conflicts;
mod context;
mod conversions;
mod duplicates;
mod edges;
mod fields;
mod grammar;
mod levels;
mod mend;
mod owner;
mod place;
mod plan;
mod scope;
mod shape;
mod smoke;
mod template;
mod values;

pub use cause::likely_cause;
pub use mend::{Mended, mend};
pub use plan::plan_findings;
pub(crate) use plan::plan_findings_within;
pub use smoke::smoke_findings;
pub(crate) use smoke::smoke_findings_within;

#[cfg(test)]
mod tests;
