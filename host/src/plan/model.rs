//! What a valid plan holds.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::plan::expr::{
    Condition, Empty, Expression, ForEach, Level, OnDuplicate, OnError, Reference, Source,
    Template, Zone,
};

/// Which events become which nodes, edges and claims on spans. Made by [`parse`](super::parse()) alone.
///
/// Serialises to the normalised form: every field in one order, and none that is at its default save for `property_fields` of
/// the short form, `session_id_path` and `span_handling` with its paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub(super) event_types: EventTypes,
    pub(super) when: Option<Condition>,
    pub(super) function_name: String,
    pub(super) form: Form,
    pub(super) nodes: Vec<NodeRule>,
    pub(super) edges: Vec<EdgeRule>,
    pub(super) on_duplicate: OnDuplicate,
    pub(super) empty: Empty,
    pub(super) time_zone: Option<Zone>,
    pub(super) session_id_path: Vec<String>,
    pub(super) span_rules: SpanRules,
    /// The pointers to the objects that say `unseen`. It is about what their author knows and not about what they mean, so that
    /// values are the same with and without it.
    pub(super) unseen: BTreeSet<String>,
}

/// How the nodes of a plan are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One node: its fields are those of the plan.
    Short,
    /// A list of nodes.
    Long,
}

impl Plan {
    /// Which events it is for.
    #[must_use]
    pub fn event_types(&self) -> &EventTypes {
        &self.event_types
    }

    /// What has to hold of an event, or it is declined.
    #[must_use]
    pub fn when(&self) -> Option<&Condition> {
        self.when.as_ref()
    }

    /// The name under which the rendered module exports the extractor; an identifier that is not
    /// [reserved](super::is_reserved).
    #[must_use]
    pub fn function_name(&self) -> &str {
        &self.function_name
    }

    /// How its nodes are written. In the short form there is one node, without `when`, `for_each` and name, and with one key
    /// property.
    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }

    /// The nodes, in the order in which they are written.
    #[must_use]
    pub fn nodes(&self) -> &[NodeRule] {
        &self.nodes
    }

    /// The edges, in the order in which they are written.
    #[must_use]
    pub fn edges(&self) -> &[EdgeRule] {
        &self.edges
    }

    /// What becomes of nodes, or edges, of the same id in one event.
    #[must_use]
    pub fn on_duplicate(&self) -> OnDuplicate {
        self.on_duplicate
    }

    /// What strings of the event that are empty count as.
    #[must_use]
    pub fn empty(&self) -> Empty {
        self.empty
    }

    /// The zone in which `timestamp` and `date` read times without an offset; none by default, and they fail.
    #[must_use]
    pub fn time_zone(&self) -> Option<&Zone> {
        self.time_zone.as_ref()
    }

    /// Where the session id is; `["session_id"]` unless the plan says otherwise.
    #[must_use]
    pub fn session_id_path(&self) -> &[String] {
        &self.session_id_path
    }

    /// Which spans are handled; none by default.
    #[must_use]
    pub fn span_rules(&self) -> &[SpanRule] {
        &self.span_rules.rules
    }

    /// JSON Pointers to all that says `unseen`: event types, values, conditions, what is gone over and span rules of which the
    /// author knows that no sample shows what they read.
    pub fn unseen(&self) -> impl Iterator<Item = &str> {
        self.unseen.iter().map(String::as_str)
    }

    /// Whether an event type, or a beginning of some, is written there of which the author knows that no sample has it.
    #[must_use]
    pub fn is_unseen_type(&self, pattern: &EventPattern) -> bool {
        let mut types = self.event_types.patterns.iter().enumerate();
        types.any(|(index, it)| {
            it == pattern && self.unseen.contains(&self.event_type_pointer(index))
        })
    }

    /// The innermost of those at a place of the plan or around it.
    #[must_use]
    pub fn unseen_at(&self, pointer: &str) -> Option<&str> {
        let mut at = pointer;
        loop {
            if let Some(found) = self.unseen.get(at) {
                return Some(found);
            }
            at = at.rsplit_once('/')?.0;
        }
    }

    /// Whether the span rules are written as a list.
    #[must_use]
    pub fn span_rules_are_listed(&self) -> bool {
        self.span_rules.listed
    }
}

/// The event types of a plan: at least one, none twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventTypes {
    pub(super) patterns: Vec<EventPattern>,
    /// Whether they are written as a list.
    pub(super) listed: bool,
}

impl EventTypes {
    /// A placeholder for types that can't be read.
    pub(super) fn unread() -> Self {
        Self { patterns: Vec::new(), listed: false }
    }

    /// What the type of an event has to match one of.
    #[must_use]
    pub fn patterns(&self) -> &[EventPattern] {
        &self.patterns
    }

    /// Whether they are written as a list.
    #[must_use]
    pub fn is_listed(&self) -> bool {
        self.listed
    }

    /// Whether events of this type are for the plan.
    #[must_use]
    pub fn matches(&self, event_type: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.matches(event_type))
    }
}

/// One type of events, or all that begin alike.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventPattern {
    /// This type, byte for byte.
    Exact(String),
    /// All types that begin so; ends in a dot.
    Prefix(String),
}

impl EventPattern {
    /// Reads an entry of `event_type`: a prefix where it ends in `.*`.
    #[must_use]
    pub fn new(text: &str) -> Self {
        match text.strip_suffix('*') {
            Some(prefix) if prefix.ends_with('.') => Self::Prefix(prefix.to_owned()),
            _ => Self::Exact(text.to_owned()),
        }
    }

    /// Whether an event type matches.
    #[must_use]
    pub fn matches(&self, event_type: &str) -> bool {
        match self {
            Self::Exact(exact) => exact == event_type,
            Self::Prefix(prefix) => event_type.starts_with(prefix.as_str()),
        }
    }
}

impl std::fmt::Display for EventPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exact(exact) => f.write_str(exact),
            Self::Prefix(prefix) => write!(f, "{prefix}*"),
        }
    }
}

/// A node of the graph that each event, or each element of something in it, becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRule {
    pub(super) entity_name: String,
    pub(super) name: Option<String>,
    pub(super) for_each: Option<ForEach>,
    pub(super) when: Option<Condition>,
    pub(super) key_fields: Vec<FieldMapping>,
    pub(super) property_fields: Vec<FieldMapping>,
}

impl NodeRule {
    /// The entity of the graph spec; an identifier.
    #[must_use]
    pub fn entity_name(&self) -> &str {
        &self.entity_name
    }

    /// What edges call it: its entity's name unless the plan says otherwise.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.entity_name)
    }

    /// What there is one of for each element; `None`: there is one for the event.
    #[must_use]
    pub fn for_each(&self) -> Option<&ForEach> {
        self.for_each.as_ref()
    }

    /// What has to hold.
    #[must_use]
    pub fn when(&self) -> Option<&Condition> {
        self.when.as_ref()
    }

    /// The properties of the key, at least one, in the order in which they appear in the node's id. Their
    /// [`nulls`](FieldMapping::nulls) is always [`Nulls::Omit`].
    #[must_use]
    pub fn key_fields(&self) -> &[FieldMapping] {
        &self.key_fields
    }

    /// The other properties, in the order in which they are written. All names are distinct.
    #[must_use]
    pub fn property_fields(&self) -> &[FieldMapping] {
        &self.property_fields
    }
}

/// An edge of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeRule {
    pub(super) relationship_name: String,
    pub(super) from: Endpoint,
    pub(super) to: Endpoint,
    /// As it is written.
    pub(super) own_for_each: Option<ForEach>,
    /// Its own, or the deepest of its nodes.
    pub(super) for_each: Option<ForEach>,
    pub(super) when: Option<Condition>,
    pub(super) edge_id: Option<Template>,
    pub(super) property_fields: Vec<FieldMapping>,
}

impl EdgeRule {
    /// The relationship of the graph spec; an identifier.
    #[must_use]
    pub fn relationship_name(&self) -> &str {
        &self.relationship_name
    }

    /// Where it begins.
    #[must_use]
    pub fn from(&self) -> &Endpoint {
        &self.from
    }

    /// Where it ends.
    #[must_use]
    pub fn to(&self) -> &Endpoint {
        &self.to
    }

    /// What there is one of for each element: as it is written, or else as the nodes that it names have it, the innermost
    /// of the two.
    #[must_use]
    pub fn for_each(&self) -> Option<&ForEach> {
        self.for_each.as_ref()
    }

    /// What has to hold.
    #[must_use]
    pub fn when(&self) -> Option<&Condition> {
        self.when.as_ref()
    }

    /// Its id; `None`: `{from}:{relationship}:{to}`.
    #[must_use]
    pub fn edge_id(&self) -> Option<&Template> {
        self.edge_id.as_ref()
    }

    /// Its properties, in the order in which they are written, with distinct names.
    #[must_use]
    pub fn property_fields(&self) -> &[FieldMapping] {
        &self.property_fields
    }
}

/// An end of an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// The node of the plan with this index.
    Node(usize),
    /// A node that some other event describes.
    External {
        /// Its entity; an identifier.
        entity_name: String,
        /// The properties of its key, at least one.
        key_fields: Vec<FieldMapping>,
    },
}

/// A property and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldMapping {
    pub(super) property_name: String,
    pub(super) value: Expression,
    pub(super) nulls: Nulls,
    pub(super) on_error: OnError,
}

impl FieldMapping {
    /// The name of the property; an identifier.
    #[must_use]
    pub fn property_name(&self) -> &str {
        &self.property_name
    }

    /// Its value.
    #[must_use]
    pub fn value(&self) -> &Expression {
        &self.value
    }

    /// The path, where the value is what is at one, converted or not.
    #[must_use]
    pub fn reference(&self) -> Option<&Reference> {
        match &self.value.source {
            Source::Path(reference) => Some(reference),
            Source::Constant(_) | Source::Template(_) | Source::Coalesce(_) | Source::Query(_) => {
                None
            }
        }
    }

    /// What becomes of a value that is JSON null.
    #[must_use]
    pub fn nulls(&self) -> Nulls {
        self.nulls
    }

    /// What becomes of a value of which a conversion fails.
    #[must_use]
    pub fn on_error(&self) -> OnError {
        self.on_error
    }
}

/// What becomes of a property whose value is JSON null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Nulls {
    /// The property is left out, as if it were absent. The default: graph types don't admit null.
    #[default]
    Omit,
    /// The property is written with the value null.
    Keep,
}

/// The span rules of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SpanRules {
    pub(super) rules: Vec<SpanRule>,
    pub(super) listed: bool,
}

/// Which span an event belongs to, and whether extraction leaves something in it for a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanRule {
    pub(super) span_id: Reference,
    pub(super) for_each: Option<ForEach>,
    pub(super) when: Option<Condition>,
    pub(super) partial: Option<Partial>,
}

impl SpanRule {
    /// Where the span id is; `["span_id"]`, from the innermost element, unless the plan says otherwise.
    #[must_use]
    pub fn span_id(&self) -> &Reference {
        &self.span_id
    }

    /// What there is a claim for each element of.
    #[must_use]
    pub fn for_each(&self) -> Option<&ForEach> {
        self.for_each.as_ref()
    }

    /// What has to hold for a claim.
    #[must_use]
    pub fn when(&self) -> Option<&Condition> {
        self.when.as_ref()
    }

    /// What makes the span partially handled. `None`: it is always fully handled.
    #[must_use]
    pub fn partial(&self) -> Option<&Partial> {
        self.partial.as_ref()
    }
}

/// What makes a span partially handled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Partial {
    /// A truthy value there.
    Truthy(Reference),
    /// That this holds.
    When(Condition),
}

/// The level at which paths start inside of something with this `for_each`.
#[must_use]
pub fn innermost(for_each: Option<&ForEach>) -> Level {
    for_each.map_or(Level::EVENT, ForEach::level)
}
