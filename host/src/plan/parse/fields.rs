//! What the objects of a plan may hold.

use crate::diagnostics::nearest::nearest;
use crate::diagnostics::untrusted::quoted;

/// What a field of an object may be called, and whether it has to be there.
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(super) required: bool,
}

const fn required(name: &'static str) -> Field {
    Field { name, required: true }
}

const fn optional(name: &'static str) -> Field {
    Field { name, required: false }
}

/// A plan in the short form.
pub(crate) const PLAN_FIELDS: &[Field] = &[
    required("event_type"),
    optional("when"),
    required("target_entity_name"),
    required("function_name"),
    required("key_field"),
    optional("property_fields"),
    optional("nodes"),
    optional("edges"),
    optional("on_duplicate"),
    optional("session_id_path"),
    optional("span_handling"),
];

/// A plan in the long form: one that has `nodes`.
pub(super) const LONG_PLAN_FIELDS: &[Field] = &[
    required("event_type"),
    optional("when"),
    required("function_name"),
    required("nodes"),
    optional("edges"),
    optional("on_duplicate"),
    optional("session_id_path"),
    optional("span_handling"),
];

/// A property of a key. It has no `nulls`: a key that is null gives no node, whatever a plan says.
pub(crate) const KEY_FIELDS: &[Field] = &[
    required("property_name"),
    optional("source_path"),
    optional("from"),
    optional("constant"),
    optional("template"),
    optional("coalesce"),
    optional("convert"),
    optional("on_error"),
];

/// Any other property.
pub(crate) const PROPERTY_FIELDS: &[Field] = &[
    required("property_name"),
    optional("source_path"),
    optional("from"),
    optional("constant"),
    optional("template"),
    optional("coalesce"),
    optional("convert"),
    optional("nulls"),
    optional("on_error"),
];

/// A value of a `coalesce`.
pub(super) const VALUE_FIELDS: &[Field] = &[
    optional("source_path"),
    optional("from"),
    optional("constant"),
    optional("template"),
    optional("coalesce"),
    optional("convert"),
];

/// A condition.
pub(super) const CONDITION_FIELDS: &[Field] = &[
    optional("source_path"),
    optional("from"),
    optional("exists"),
    optional("truthy"),
    optional("equals"),
    optional("one_of"),
    optional("starts_with"),
    optional("is_type"),
    optional("all"),
    optional("any"),
    optional("not"),
];

/// A node.
pub(super) const NODE_FIELDS: &[Field] = &[
    required("entity_name"),
    optional("name"),
    optional("for_each"),
    optional("when"),
    required("key_fields"),
    optional("property_fields"),
];

/// What a node, an edge or a span rule goes over.
pub(super) const FOR_EACH_FIELDS: &[Field] =
    &[optional("array"), optional("entries"), optional("for_each")];

/// An edge.
pub(super) const EDGE_FIELDS: &[Field] = &[
    required("relationship_name"),
    required("from"),
    required("to"),
    optional("for_each"),
    optional("when"),
    optional("edge_id"),
    optional("property_fields"),
];

/// An end of an edge that isn't a node of the plan.
pub(super) const ENDPOINT_FIELDS: &[Field] = &[required("entity_name"), required("key_fields")];

/// A span rule.
pub(crate) const SPAN_FIELDS: &[Field] = &[
    optional("span_id_path"),
    optional("from"),
    optional("for_each"),
    optional("when"),
    optional("partial_when_path"),
    optional("partial_when"),
];

pub(super) fn unknown_field(name: &str, known: &[Field]) -> String {
    let found = format!("found an unknown field {}", quoted(name));
    if let Some(nearest) = nearest(name, known.iter().map(|field| field.name)) {
        return format!("{found}; did you mean \"{nearest}\"?");
    }
    let names: Vec<&str> = known.iter().map(|field| field.name).collect();
    format!("{found}; expected one of {}", names.join(", "))
}
