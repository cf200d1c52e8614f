//! What readers of plans of the first version ask for. Goes as soon as none of them is left.

use std::sync::LazyLock;

use super::model::{EventPattern, FieldMapping, Nulls, Partial, Plan, SpanRule};
use crate::expr::{Expression, OnError, Reference};

static NONE: LazyLock<FieldMapping> = LazyLock::new(|| FieldMapping {
    property_name: String::new(),
    value: Expression::path(Reference::event(&[])),
    nulls: Nulls::Omit,
    on_error: OnError::Omit,
});

impl Plan {
    /// The first event type.
    #[must_use]
    pub fn event_type(&self) -> &str {
        match self.event_types.patterns.first() {
            Some(EventPattern::Exact(text) | EventPattern::Prefix(text)) => text,
            None => "",
        }
    }

    /// The entity of the first node.
    #[must_use]
    pub fn target_entity_name(&self) -> &str {
        self.nodes.first().map_or("", |node| node.entity_name())
    }

    /// The key of the first node.
    #[must_use]
    pub fn key_field(&self) -> &FieldMapping {
        self.nodes.first().and_then(|node| node.key_fields.first()).unwrap_or(&NONE)
    }

    /// The properties of the first node.
    #[must_use]
    pub fn property_fields(&self) -> &[FieldMapping] {
        self.nodes.first().map_or(&[], |node| node.property_fields())
    }

    /// The first span rule.
    #[must_use]
    pub fn span_handling(&self) -> Option<&SpanRule> {
        self.span_rules().first()
    }
}

impl FieldMapping {
    /// The path; empty where the value isn't one.
    #[must_use]
    pub fn source_path(&self) -> &[String] {
        self.reference().map_or(&[], |reference| &reference.path)
    }
}

impl SpanRule {
    /// The path of the id.
    #[must_use]
    pub fn span_id_path(&self) -> &[String] {
        &self.span_id.path
    }

    /// The path of the text that makes it partial.
    #[must_use]
    pub fn partial_when_path(&self) -> Option<&[String]> {
        match &self.partial {
            Some(Partial::Truthy(reference)) => Some(&reference.path),
            _ => None,
        }
    }
}
