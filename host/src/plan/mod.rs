//! The plan: what a model writes, and the first thing that is checked.
//!
//! A plan says in JSON which events become which nodes and edges of the graph, and which spans are
//! handled with that. Only [`parse()`] and [`from_value`] make a [`Plan`], so whoever holds one
//! holds a valid one. [`problems`] gives all that is wrong with a text, [`schema()`] the part of the
//! rules that JSON Schema can say, and [`eval`] what a plan means. docs/plan.md is the manual.
//!
//! `expr` is what plans and modules have in common: paths, values, conversions, conditions. The plan knows the graph's
//! result, which is what it means, and nothing of samples or modules.
//!
//! # Example
//!
//! ```
//! let plan = retort::plan::parse(
//!     r#"{
//!         "event_type": "order_placed",
//!         "target_entity_name": "Order",
//!         "function_name": "read_order",
//!         "key_field": {"property_name": "order_id", "source_path": ["content", "id"]}
//!     }"#,
//! )?;
//! assert_eq!(plan.session_id_path(), ["session_id"]);
//!
//! let event = r#"{"event_type": "order_placed", "session_id": "s1", "content": {"id": 7}}"#;
//! let result = retort::plan::eval(&plan, event)?;
//! assert_eq!(result.nodes[0].node_id, "s1:Order:order_id=7");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
pub(crate) mod expr;
pub(crate) mod language;
mod model;
mod names;
mod normal;
pub(crate) mod oracle;
mod parse;
mod place;
mod reads;
mod schema;

pub use error::PlanParseError;
#[cfg(feature = "author")]
pub(crate) use error::is_beyond_schema;
pub use expr::conversion::{Conversion, ConversionError, Group, Pattern};
pub use expr::{
    Condition, Empty, Expression, ForEach, Iteration, JsonType, Level, Listed, OnDuplicate,
    OnError, Over, Piece, Query, QueryError, QueryFailure, Reference, Source, Template,
    TemplateError, Test, Zone,
};
pub use model::{
    EdgeRule, Endpoint, EventPattern, EventTypes, FieldMapping, Form, NodeRule, Nulls, Partial,
    Plan, SpanRule, innermost,
};
pub(crate) use names::RESERVED_EXPORTS;
pub use names::{RESERVED_FUNCTION_PREFIX, is_identifier, is_reserved, reserved_function_names};
pub use oracle::{OracleError, eval};
pub use parse::{from_value, parse, problems, problems_of_value};
pub(crate) use reads::default_ids;
pub use reads::{Read, Role};
pub use schema::{schema, schema_text};

/// The top-level key under which an event states its type.
pub const EVENT_TYPE: &str = "event_type";

/// Bytes of the longest event type, or of the longest beginning of one, that a plan, a module or a bundle may be for. Those of
/// known sources have less than 100.
pub const MAX_EVENT_TYPE_BYTES: usize = 1024;
