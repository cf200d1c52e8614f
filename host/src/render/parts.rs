//! A result as a template: constant text with values between.

use serde_json::Value as Json;

use super::inputs::InputSlot;
use super::lower::{LoweredProperty, LoweredValue, NodeId};
use super::text::{comment, path};
use crate::plan::Nulls;
use crate::plan::expr::{Expression, Reference, Source};

/// A part of the template.
pub(super) enum ResultPart {
    /// A comment, above what follows.
    About(String),
    /// Constant text.
    Constant(String),
    /// The text of a scalar inside a JSON string.
    Text(InputSlot),
    /// The value as JSON.
    Json(InputSlot),
    /// A property that is left out when its value is.
    Optional(Optional),
}

/// A property that is left out when its value is.
pub(super) struct Optional {
    /// What it is, for a comment.
    pub(super) about: String,
    /// What is before the value.
    pub(super) head: String,
    pub(super) value: InputSlot,
    pub(super) nulls: Nulls,
    /// What is after the value.
    pub(super) tail: &'static str,
}

/// Parts in a row; constant text beside constant text is one.
#[derive(Default)]
pub(super) struct ResultParts(Vec<ResultPart>);

impl ResultParts {
    pub(super) fn about(&mut self, text: String) {
        self.0.push(ResultPart::About(text));
    }

    pub(super) fn constant(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(ResultPart::Constant(before)) => before.push_str(text),
            _ => self.0.push(ResultPart::Constant(text.to_owned())),
        }
    }

    /// A value inside a JSON string.
    pub(super) fn text(&mut self, value: &LoweredValue<'_>) {
        match value {
            LoweredValue::Slot(slot) => self.0.push(ResultPart::Text(*slot)),
            LoweredValue::Constant(Json::String(text)) => {
                let quoted = Json::from(text.as_str()).to_string();
                self.constant(quoted.get(1..quoted.len() - 1).unwrap_or_default());
            }
            LoweredValue::Constant(scalar) => self.constant(&scalar.to_string()),
        }
    }

    /// A value as JSON.
    pub(super) fn json(&mut self, value: &LoweredValue<'_>) {
        match value {
            LoweredValue::Slot(slot) => self.0.push(ResultPart::Json(*slot)),
            LoweredValue::Constant(constant) => self.constant(&constant.to_string()),
        }
    }

    /// The id of a node, inside a JSON string.
    pub(super) fn node_id(&mut self, session: InputSlot, id: &NodeId<'_>) {
        self.text(&LoweredValue::Slot(session));
        let mut before = format!(":{}:", id.entity);
        for (name, value) in &id.keys {
            self.constant(&format!("{before}{name}="));
            self.text(value);
            ",".clone_into(&mut before);
        }
    }

    /// A property, between what is before its name and after its value.
    pub(super) fn property(
        &mut self,
        before: &str,
        property: &LoweredProperty<'_>,
        tail: &'static str,
    ) {
        let head = format!("{before}{{\"name\":\"{}\",\"value\":", property.field.property_name());
        match &property.value {
            LoweredValue::Constant(constant) => self.constant(&format!("{head}{constant}{tail}")),
            LoweredValue::Slot(value) => self.0.push(ResultPart::Optional(Optional {
                about: format!(
                    "{}: \"{}\" from {}",
                    property.at,
                    comment(property.field.property_name()),
                    described(property.field.value())
                ),
                head,
                value: *value,
                nulls: property.field.nulls(),
                tail,
            })),
        }
    }

    pub(super) fn as_slice(&self) -> &[ResultPart] {
        &self.0
    }
}

/// What is before the name of a property of a node, after the value of the one before.
pub(super) const NEXT_PROPERTY: &str = "},";

/// Where a value comes from, for a comment.
pub(super) fn described(expression: &Expression) -> String {
    let mut text = match &expression.source {
        Source::Path(reference) => place(reference),
        Source::Constant(constant) => comment(&constant.to_string()),
        Source::Template(template) => format!("\"{}\"", comment(template.text())),
        Source::Coalesce(values) => format!("the first of {} values", values.len()),
        Source::Query(query) => format!("expression {}", comment(query.text())),
    };
    for conversion in &expression.convert {
        text.push_str(", ");
        text.push_str(conversion.name());
    }
    text
}

/// A path for a comment, with the level that it starts at.
pub(super) fn place(reference: &Reference) -> String {
    match reference.level.0 {
        0 => path(&reference.path),
        level => format!("{} of element {level}", path(&reference.path)),
    }
}
