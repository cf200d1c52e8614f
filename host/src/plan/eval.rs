//! What a plan means: a native evaluator, simple and slow.
//!
//! It is the oracle that rendered extractors are held to, and never serves events.
//!
//! An event of another type, or without a usable key, is *declined*: the result is empty.
//! Otherwise there is one node, with the id `{session}:{entity}:{key name}={key}`, unescaped.
//! Values stand in ids like this:
//!
//! | value | key | session id | span id |
//! |---|---|---|---|
//! | string | its content | its content | its content; no claim if empty |
//! | number | its text in the event | its text in the event | its text; no claim if zero |
//! | `true` | `true` | `true` | `true` |
//! | `false` | `false` | `false` | no claim |
//! | null, array, object, absent | declined | empty | no claim |
//!
//! A path leads through objects alone, by literal keys. Of two equal keys the last one counts, at
//! every level.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

use super::error::kind;
use super::model::{FieldMapping, Nulls, Plan};
use crate::graph::extraction::{Extraction, Node, Property};
use crate::problem::{Coded, json_fault};

/// Why there is no result for an event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
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
}

impl EvalError {
    /// Every code there is.
    pub const CODES: &[&str] = &["event_not_json", "event_not_object"];
}

impl Coded for EvalError {
    fn code(&self) -> &'static str {
        match self {
            Self::EventNotJson { .. } => "event_not_json",
            Self::EventNotObject { .. } => "event_not_object",
        }
    }
}

/// Applies a plan to the text of one event.
///
/// # Errors
/// [`EvalError`] where the text is not a JSON object. All of it is validated, whatever part of it
/// the plan reads. An event that the plan doesn't apply to is no error; its result is empty.
///
/// # Example
///
/// ```
/// # let plan = retort::plan::parse(r#"{
/// #     "event_type": "order_placed", "target_entity_name": "Order", "function_name": "read_order",
/// #     "key_field": {"property_name": "order_id", "source_path": ["id"]}
/// # }"#)?;
/// let result = retort::plan::eval::eval(&plan, r#"{"event_type": "order_placed", "id": 1.50}"#)?;
/// assert_eq!(result.nodes[0].node_id, ":Order:order_id=1.50");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn eval(plan: &Plan, event: &str) -> Result<Extraction, EvalError> {
    let event = Event::read(event)?;
    let declined = Ok(Extraction::default());
    let event_type = event.root.get("event_type").and_then(Value::as_str);
    if event_type != Some(plan.event_type()) {
        return declined;
    }
    let Some(key) = event.scalar(plan.key_field().source_path()) else {
        return declined;
    };
    let session = event.scalar(plan.session_id_path()).unwrap_or_default();
    let entity = plan.target_entity_name();
    let key_name = plan.key_field().property_name();
    let mappings = std::iter::once(plan.key_field()).chain(plan.property_fields());
    let mut result = Extraction {
        nodes: vec![Node {
            node_id: format!("{session}:{entity}:{key_name}={key}"),
            entity_name: entity.to_owned(),
            labels: vec![entity.to_owned()],
            properties: mappings.filter_map(|mapping| event.property(mapping)).collect(),
        }],
        ..Extraction::default()
    };
    if let Some(rule) = plan.span_handling()
        && event.is_truthy(rule.span_id_path())
        && let Some(span_id) = event.scalar(rule.span_id_path())
    {
        let partial = rule.partial_when_path().is_some_and(|path| event.is_truthy(path));
        if partial {
            result.partially_handled_span_ids.push(span_id);
        } else {
            result.fully_handled_span_ids.push(span_id);
        }
    }
    Ok(result)
}

/// An event, parsed, beside the text that it was parsed from: numbers in ids are text.
struct Event<'e> {
    root: Value,
    text: &'e str,
}

impl<'e> Event<'e> {
    fn read(text: &'e str) -> Result<Self, EvalError> {
        let root: Value = serde_json::from_str(text)
            .map_err(|error| EvalError::EventNotJson { detail: json_fault(text, &error) })?;
        if !root.is_object() {
            return Err(EvalError::EventNotObject { found: kind(&root) });
        }
        Ok(Self { root, text })
    }

    fn value(&self, path: &[String]) -> Option<&Value> {
        path.iter().try_fold(&self.root, |value, key| value.as_object()?.get(key))
    }

    /// The text of the value as it stands in the event.
    fn raw(&self, path: &[String]) -> Option<&'e str> {
        path.iter().try_fold(self.text, |text, key| {
            let fields: BTreeMap<String, &'e RawValue> = serde_json::from_str(text).ok()?;
            Some(fields.get(key)?.get())
        })
    }

    /// What stands for the value in an id; `None` where there is no scalar.
    fn scalar(&self, path: &[String]) -> Option<String> {
        match self.value(path)? {
            Value::String(text) => Some(text.clone()),
            Value::Bool(truth) => Some(truth.to_string()),
            Value::Number(_) => self.raw(path).map(str::to_owned),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    fn property(&self, mapping: &FieldMapping) -> Option<Property> {
        let value = self.value(mapping.source_path())?;
        if value.is_null() && mapping.nulls() == Nulls::Omit {
            return None;
        }
        Some(Property { name: mapping.property_name().to_owned(), value: value.clone() })
    }

    /// Whether there is something other than null, `false`, zero, and an empty string, array or
    /// object.
    fn is_truthy(&self, path: &[String]) -> bool {
        match self.value(path) {
            None | Some(Value::Null) => false,
            Some(Value::Bool(truth)) => *truth,
            Some(Value::String(text)) => !text.is_empty(),
            Some(Value::Array(items)) => !items.is_empty(),
            Some(Value::Object(fields)) => !fields.is_empty(),
            Some(Value::Number(_)) => self.raw(path).is_some_and(|number| !is_zero(number)),
        }
    }
}

/// Whether a JSON number is zero. Exactly: `1e-400`, which a double can't tell from zero, isn't.
fn is_zero(number: &str) -> bool {
    let mantissa = number.split(['e', 'E']).next().unwrap_or(number);
    !mantissa.bytes().any(|byte| (b'1'..=b'9').contains(&byte))
}
