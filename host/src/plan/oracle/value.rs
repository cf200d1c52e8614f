//! Values and conditions.

use serde_json::{Number, Value};

use super::OracleError;
use super::json::{EventData, EventJson};
use super::query::Tree;
use super::row::Row;
use crate::graph::extraction::Property;
use crate::plan::expr::conversion::MAX_TEXT_BYTES;
use crate::plan::expr::{
    Chain, Condition, Conversion, Converted, Empty, Expression, JsonType, OnError, Piece, Source,
    Template, Test,
};
use crate::plan::model::{FieldMapping, Nulls};

/// What a value comes to.
pub(super) enum ValueOutcome {
    /// It is there: its JSON.
    There(String),
    /// The event has null there.
    Null,
    Absent,
    /// A conversion has failed.
    Failed,
}

impl Row<'_> {
    pub(super) fn holds(&self, condition: &Condition) -> bool {
        // No deeper than conditions nest.
        match condition {
            Condition::Test(reference, test) => {
                self.find(reference).is_some_and(|value| passes(value, test))
            }
            Condition::All(all) => all.iter().all(|condition| self.holds(condition)),
            Condition::Any(any) => any.iter().any(|condition| self.holds(condition)),
            Condition::Not(inner) => !self.holds(inner),
            // What has no value isn't true.
            Condition::Query(query) => self.query(query).is_ok_and(|value| value.is_true()),
        }
    }

    /// A property, where it has a value.
    pub(super) fn property(&self, mapping: &FieldMapping) -> Result<Option<Property>, OracleError> {
        let json = match self.value(mapping.value()) {
            ValueOutcome::There(json) => json,
            ValueOutcome::Null if mapping.nulls() == Nulls::Keep => "null".to_owned(),
            ValueOutcome::Failed if mapping.on_error() == OnError::Reject => {
                let property = mapping.property_name().to_owned();
                return Err(OracleError::ConversionFailed { property });
            }
            ValueOutcome::Null | ValueOutcome::Absent | ValueOutcome::Failed => return Ok(None),
        };
        let name = mapping.property_name().to_owned();
        Ok(serde_json::from_str(&json).ok().map(|value| Property { name, value }))
    }

    /// What represents a value in an id, where it is a scalar.
    pub(super) fn scalar(&self, expression: &Expression) -> Option<String> {
        match self.value(expression) {
            ValueOutcome::There(json) => EventJson::read(&json).ok()?.scalar(),
            ValueOutcome::Null | ValueOutcome::Absent | ValueOutcome::Failed => None,
        }
    }

    /// Whether there is a value.
    pub(super) fn has(&self, expression: &Expression) -> bool {
        matches!(self.value(expression), ValueOutcome::There(_))
    }

    /// The text that a template gives.
    pub(super) fn text(&self, template: &Template) -> Option<String> {
        template
            .pieces()
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => Some(text.clone()),
                Piece::Value(reference) => self.find(reference)?.scalar(),
            })
            .collect()
    }

    fn value(&self, expression: &Expression) -> ValueOutcome {
        let convert = &expression.convert;
        match &expression.source {
            Source::Path(reference) => match self.find(reference) {
                None => ValueOutcome::Absent,
                Some(value) if value.is_null() => ValueOutcome::Null,
                Some(value) => converted(value.text.to_string(), convert),
            },
            Source::Constant(constant) => converted(constant.to_string(), convert),
            Source::Template(template) => match self.text(template) {
                None => ValueOutcome::Absent,
                Some(text) if text.len() > MAX_TEXT_BYTES => ValueOutcome::Failed,
                Some(text) => converted(Value::from(text).to_string(), convert),
            },
            Source::Query(query) => match self.query(query) {
                Err(_) => ValueOutcome::Failed,
                Ok(Tree::Null) => ValueOutcome::Absent,
                Ok(Tree::Text(text)) if text.is_empty() && self.empty() == Empty::Absent => {
                    ValueOutcome::Absent
                }
                Ok(value) => converted(value.to_json(), convert),
            },
            Source::Coalesce(values) => match self.first(values) {
                ValueOutcome::There(json) => converted(json, convert),
                other => other,
            },
        }
    }

    /// The first value that is there. No deeper than values nest.
    fn first(&self, values: &[Expression]) -> ValueOutcome {
        let mut otherwise = ValueOutcome::Absent;
        for value in values {
            match self.value(value) {
                there @ ValueOutcome::There(_) => return there,
                ValueOutcome::Failed => otherwise = ValueOutcome::Failed,
                ValueOutcome::Null | ValueOutcome::Absent => {}
            }
        }
        otherwise
    }
}

fn converted(json: String, steps: &[Conversion]) -> ValueOutcome {
    if steps.is_empty() {
        return ValueOutcome::There(json);
    }
    // What an event costs isn't part of what a plan means.
    match Chain::new(steps).apply(&json, &mut u64::MAX.clone()) {
        Ok(Converted::Value(json)) => ValueOutcome::There(json),
        Ok(Converted::Absent) => ValueOutcome::Absent,
        Ok(Converted::Failed) | Err(_) => ValueOutcome::Failed,
    }
}

fn passes(value: &EventJson<'_>, test: &Test) -> bool {
    match test {
        Test::Exists => !value.is_null(),
        Test::Truthy => value.is_truthy(),
        Test::Equals(wanted) => is(value, wanted),
        Test::OneOf(all) => all.iter().any(|wanted| is(value, wanted)),
        Test::StartsWith(prefix) => {
            matches!(&value.data, EventData::String(text) if text.starts_with(prefix))
        }
        Test::IsType(wanted) => {
            *wanted
                == match value.data {
                    EventData::Null => JsonType::Null,
                    EventData::Boolean(_) => JsonType::Boolean,
                    EventData::Number => JsonType::Number,
                    EventData::String(_) => JsonType::String,
                    EventData::Array(_) => JsonType::Array,
                    EventData::Object(_) => JsonType::Object,
                }
        }
    }
}

fn is(value: &EventJson<'_>, wanted: &Value) -> bool {
    match (&value.data, wanted) {
        (EventData::String(text), Value::String(wanted)) => text == wanted,
        (EventData::Boolean(truth), Value::Bool(wanted)) => truth == wanted,
        (EventData::Number, Value::Number(wanted)) => {
            serde_json::from_str(&value.text).is_ok_and(|number: Number| is_number(&number, wanted))
        }
        _ => false,
    }
}

/// Integers of 64 bits are compared exactly, other numbers as doubles.
fn is_number(one: &Number, other: &Number) -> bool {
    match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => one == other,
        _ => one.as_f64() == other.as_f64(),
    }
}
