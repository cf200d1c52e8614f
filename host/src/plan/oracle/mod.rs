//! What a plan means: a native evaluator, simple and slow.
//!
//! It is the oracle that rendered extractors are checked against, and never serves events. It knows nothing of declared
//! inputs, and of how the host evaluates them only the conversions themselves. docs/plan.md says what it does.
//!
//! Values appear in ids like this:
//!
//! | value | key | session id | span id |
//! |---|---|---|---|
//! | string | its content | its content | its content; no claim if empty |
//! | number | its text in the event | its text in the event | its text; no claim if zero |
//! | `true` | `true` | `true` | `true` |
//! | `false` | `false` | `false` | no claim |
//! | null, array, object, absent | no node | empty | no claim |
//!
//! How many conversions have failed isn't part of the meaning: a run counts what it evaluates, and evaluates once what
//! is the same.

mod alternatives;
mod graph;
mod json;
mod query;
mod row;
mod span;
mod value;

use super::error::kind;
use super::model::Plan;
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::problem::Coded;
use crate::diagnostics::wording::json_in_line;
use crate::graph::extraction::Extraction;
use crate::plan::expr::Empty;
pub(crate) use alternatives::Alternatives;
use graph::Graph;
use json::EventJson;
use row::Row;

/// Why there is no result for an event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OracleError {
    /// The event is not JSON, holds a lone surrogate or a number that is out of range, or is
    /// nested more than 127 deep.
    #[error("the event is not JSON: {detail}")]
    EventNotJson {
        /// What is wrong, with line and column.
        detail: String,
    },
    /// The event is JSON, but not an object.
    #[error("expected the event to be an object, found {found}")]
    EventNotObject {
        /// The kind of value that it is.
        found: &'static str,
    },
    /// A conversion has failed, and the plan rejects such events.
    #[error("a conversion of {property} has failed, for which the plan rejects events")]
    ConversionFailed {
        /// The name of the property.
        property: String,
    },
    /// Two nodes or edges have the same id, and the plan rejects such events.
    #[error("two {what} have the same id, for which the plan rejects events")]
    DuplicateId {
        /// `nodes` or `edges`.
        what: &'static str,
    },
}

impl Coded for OracleError {
    fn entry(&self) -> Code {
        match self {
            Self::EventNotJson { .. } => codes::EVENT_NOT_JSON,
            Self::EventNotObject { .. } => codes::EVENT_NOT_OBJECT,
            Self::ConversionFailed { .. } => codes::CONVERSION_FAILED,
            Self::DuplicateId { .. } => codes::DUPLICATE_ID,
        }
    }
}

/// Applies a plan to the text of one event.
///
/// # Errors
/// [`OracleError`] where the text is not a JSON object, or the plan rejects the event. All of the text is validated,
/// whatever part of it the plan reads. An event that the plan doesn't apply to is no error; its result is empty.
///
/// # Example
///
/// ```
/// # let plan = retort::plan::parse(r#"{
/// #     "event_type": "order_placed", "target_entity_name": "Order", "function_name": "read_order",
/// #     "key_field": {"property_name": "order_id", "source_path": ["id"]}
/// # }"#)?;
/// let result = retort::plan::eval(&plan, r#"{"event_type": "order_placed", "id": 1.50}"#)?;
/// assert_eq!(result.nodes[0].node_id, ":Order:order_id=1.50");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn eval(plan: &Plan, event: &str) -> Result<Extraction, OracleError> {
    let event = Row::event(read(event)?, plan.empty());
    if !is_for(plan, &event) {
        return Ok(Extraction::default());
    }
    let graph = Graph::of(plan, &event)?;
    if graph.nodes.is_empty() && graph.edges.is_empty() {
        return Ok(Extraction::default());
    }
    let claims = span::claims(plan, &event);
    Ok(Extraction {
        nodes: graph.nodes,
        edges: graph.edges,
        fully_handled_span_ids: claims.full,
        partially_handled_span_ids: claims.partial,
    })
}

/// What an expression gives for a value of JSON, as JSON; none where it fails.
#[must_use]
pub fn expression(query: &super::Query, json: &str) -> Option<String> {
    let value = EventJson::read(json.trim()).ok()?;
    Row::event(value, Empty::Value).query(query).ok().map(|value| value.to_json())
}

fn read(text: &str) -> Result<EventJson<'_>, OracleError> {
    let not_json =
        |error: &serde_json::Error| OracleError::EventNotJson { detail: json_in_line(text, error) };
    // A raw value isn't checked as one that is read is: surrogates and the range of numbers are passed over.
    let value: serde_json::Value = serde_json::from_str(text).map_err(|error| not_json(&error))?;
    if !value.is_object() {
        return Err(OracleError::EventNotObject { found: kind(&value) });
    }
    EventJson::read(text.trim()).map_err(|error| not_json(&error))
}

fn is_for(plan: &Plan, event: &Row<'_>) -> bool {
    event.event_type().is_some_and(|event_type| plan.event_types().matches(event_type))
        && plan.when().is_none_or(|condition| event.holds(condition))
}
