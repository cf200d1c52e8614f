//! Values and conditions.

use serde_json::{Number, Value};

use super::EvalError;
use super::json::{Data, Json};
use super::row::Row;
use crate::graph::extraction::Property;
use crate::plan::expr::conversion::MAX_TEXT_BYTES;
use crate::plan::expr::{
    Chain, Condition, Conversion, Converted, Expression, JsonType, OnError, Piece, Source,
    Template, Test,
};
use crate::plan::model::{FieldMapping, Nulls};

/// What a value comes to.
pub(super) enum Outcome {
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
        }
    }

    /// A property, where it has a value.
    pub(super) fn property(&self, mapping: &FieldMapping) -> Result<Option<Property>, EvalError> {
        let json = match self.value(mapping.value()) {
            Outcome::There(json) => json,
            Outcome::Null if mapping.nulls() == Nulls::Keep => "null".to_owned(),
            Outcome::Failed if mapping.on_error() == OnError::Reject => {
                let property = mapping.property_name().to_owned();
                return Err(EvalError::ConversionFailed { property });
            }
            Outcome::Null | Outcome::Absent | Outcome::Failed => return Ok(None),
        };
        let name = mapping.property_name().to_owned();
        Ok(serde_json::from_str(&json).ok().map(|value| Property { name, value }))
    }

    /// What stands for a value in an id, where it is a scalar.
    pub(super) fn scalar(&self, expression: &Expression) -> Option<String> {
        match self.value(expression) {
            Outcome::There(json) => Json::read(&json).ok()?.scalar(),
            Outcome::Null | Outcome::Absent | Outcome::Failed => None,
        }
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

    fn value(&self, expression: &Expression) -> Outcome {
        let convert = &expression.convert;
        match &expression.source {
            Source::Path(reference) => match self.find(reference) {
                None => Outcome::Absent,
                Some(value) if value.is_null() => Outcome::Null,
                Some(value) => converted(value.text.to_string(), convert),
            },
            Source::Constant(constant) => converted(constant.to_string(), convert),
            Source::Template(template) => match self.text(template) {
                None => Outcome::Absent,
                Some(text) if text.len() > MAX_TEXT_BYTES => Outcome::Failed,
                Some(text) => converted(Value::from(text).to_string(), convert),
            },
            Source::Coalesce(values) => match self.first(values) {
                Outcome::There(json) => converted(json, convert),
                other => other,
            },
        }
    }

    /// The first value that is there. No deeper than values nest.
    fn first(&self, values: &[Expression]) -> Outcome {
        let mut otherwise = Outcome::Absent;
        for value in values {
            match self.value(value) {
                there @ Outcome::There(_) => return there,
                Outcome::Failed => otherwise = Outcome::Failed,
                Outcome::Null | Outcome::Absent => {}
            }
        }
        otherwise
    }
}

fn converted(json: String, steps: &[Conversion]) -> Outcome {
    if steps.is_empty() {
        return Outcome::There(json);
    }
    // What an event costs isn't part of what a plan means.
    match Chain::new(steps).apply(&json, &mut u64::MAX.clone()) {
        Ok(Converted::Value(json)) => Outcome::There(json),
        Ok(Converted::Absent) => Outcome::Absent,
        Ok(Converted::Failed) | Err(_) => Outcome::Failed,
    }
}

fn passes(value: &Json<'_>, test: &Test) -> bool {
    match test {
        Test::Exists => !value.is_null(),
        Test::Truthy => value.is_truthy(),
        Test::Equals(wanted) => is(value, wanted),
        Test::OneOf(all) => all.iter().any(|wanted| is(value, wanted)),
        Test::StartsWith(prefix) => {
            matches!(&value.data, Data::String(text) if text.starts_with(prefix))
        }
        Test::IsType(wanted) => {
            *wanted
                == match value.data {
                    Data::Null => JsonType::Null,
                    Data::Boolean(_) => JsonType::Boolean,
                    Data::Number => JsonType::Number,
                    Data::String(_) => JsonType::String,
                    Data::Array(_) => JsonType::Array,
                    Data::Object(_) => JsonType::Object,
                }
        }
    }
}

fn is(value: &Json<'_>, wanted: &Value) -> bool {
    match (&value.data, wanted) {
        (Data::String(text), Value::String(wanted)) => text == wanted,
        (Data::Boolean(truth), Value::Bool(wanted)) => truth == wanted,
        (Data::Number, Value::Number(wanted)) => {
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
