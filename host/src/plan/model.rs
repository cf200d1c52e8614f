//! What a valid plan holds.

use serde::Serialize;

/// How one event type becomes one node. Made by [`parse`](super::parse()) alone.
///
/// Serialises to the normalised form: every field in this order, defaults filled in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Plan {
    pub(super) event_type: String,
    pub(super) target_entity_name: String,
    pub(super) function_name: String,
    pub(super) key_field: FieldMapping,
    pub(super) property_fields: Vec<FieldMapping>,
    pub(super) session_id_path: Vec<String>,
    pub(super) span_handling: Option<SpanHandling>,
}

impl Plan {
    /// The `event_type` of the events that this plan reads; compared byte for byte.
    /// Any non-empty text.
    #[must_use]
    pub fn event_type(&self) -> &str {
        &self.event_type
    }

    /// The entity of the graph spec that the node is one of; an identifier.
    #[must_use]
    pub fn target_entity_name(&self) -> &str {
        &self.target_entity_name
    }

    /// The name under which the rendered module exports the extractor; an identifier that is not
    /// [reserved](super::is_reserved).
    #[must_use]
    pub fn function_name(&self) -> &str {
        &self.function_name
    }

    /// The property that makes the node's id. An event without a scalar there is declined.
    /// Its [`nulls`](FieldMapping::nulls) is always [`Nulls::Omit`].
    #[must_use]
    pub fn key_field(&self) -> &FieldMapping {
        &self.key_field
    }

    /// The other properties, in the order in which they are written. Their names and the key's
    /// are distinct.
    #[must_use]
    pub fn property_fields(&self) -> &[FieldMapping] {
        &self.property_fields
    }

    /// Where the session id is; `["session_id"]` unless the plan says otherwise.
    #[must_use]
    pub fn session_id_path(&self) -> &[String] {
        &self.session_id_path
    }

    /// Which span the plan claims to have handled; none by default.
    #[must_use]
    pub fn span_handling(&self) -> Option<&SpanHandling> {
        self.span_handling.as_ref()
    }
}

/// A property and the place in the event where its value is found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldMapping {
    pub(super) property_name: String,
    pub(super) source_path: Vec<String>,
    #[serde(skip_serializing_if = "Nulls::is_omit")]
    pub(super) nulls: Nulls,
}

impl FieldMapping {
    /// The name of the property; an identifier.
    #[must_use]
    pub fn property_name(&self) -> &str {
        &self.property_name
    }

    /// The object keys to follow from the event's root, at least one, none empty. Every segment
    /// is a literal key: `"0"` isn't an index, and a dot isn't a separator.
    #[must_use]
    pub fn source_path(&self) -> &[String] {
        &self.source_path
    }

    /// What becomes of a value that is JSON null.
    #[must_use]
    pub fn nulls(&self) -> Nulls {
        self.nulls
    }
}

/// What becomes of a property whose value is JSON null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Nulls {
    /// The property is left out, as if it were absent. The default: graph types don't admit null.
    #[default]
    Omit,
    /// The property is written with the value null.
    Keep,
}

impl Nulls {
    fn is_omit(&self) -> bool {
        *self == Self::Omit
    }
}

/// Which span an event belongs to, and whether extraction leaves something in it for a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SpanHandling {
    pub(super) span_id_path: Vec<String>,
    pub(super) partial_when_path: Option<Vec<String>>,
}

impl SpanHandling {
    /// Where the span id is; `["span_id"]` unless the plan says otherwise.
    #[must_use]
    pub fn span_id_path(&self) -> &[String] {
        &self.span_id_path
    }

    /// Where the free text is that only a model can read: a truthy value there makes the span
    /// partially handled. `None`: the span is always fully handled.
    #[must_use]
    pub fn partial_when_path(&self) -> Option<&[String]> {
        self.partial_when_path.as_deref()
    }
}
