//! A result against the graph spec.
//!
//! A node's id is *canonical* when it ends in `:{entity}:{key}={value}[,{key}={value}...]`,
//! built from the node's own key properties in the spec's order. A canonical id agrees with its
//! node whatever the session id and the values hold. Any other id is compared part by part as
//! far as its parts can be told; one with fewer than two colons is not compared. An endpoint
//! that is a node of the result with a canonical id has that node's keys; any other endpoint's
//! id is read by the names that its relationship declares.

mod edge;
mod failure;
mod id;
mod node;
pub(crate) mod value;

use std::cell::OnceCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use serde_json::{Map, Value};

use self::id::{KeyValue, is_canonical};
use self::value::Fit;
use super::described;
use super::extraction::{self, Extraction, Node};
use super::spec::{self, Entity, GraphSpec};
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::untrusted::{bounded, quoted};

pub(crate) use self::edge::EndSpec;
pub use self::failure::{Failure, FailureScope, ValidationReport};

/// Whether an id is that of a node of an entity with exactly this key, whatever the session is.
pub(crate) fn has_key(id: &str, entity: &Entity, key: &Map<String, Value>) -> bool {
    let given = |property: &spec::PropertySpec| {
        key.iter().find(|(name, _)| property.is_named(name)).map(|(_, value)| value)
    };
    let keys = entity.key_properties();
    let keys: Vec<_> = keys.filter_map(|property| Some((property, given(property)?))).collect();
    has_keys(id, entity, &keys)
}

/// The same for the values of keys by their properties, in any order.
pub(crate) fn has_keys(id: &str, entity: &Entity, keys: &[(&spec::PropertySpec, &Value)]) -> bool {
    let of_key = |property| keys.iter().find(|(key, _)| std::ptr::eq(*key, property));
    let values: Vec<KeyValue<'_>> = entity
        .key_properties()
        .filter_map(|property| Some(KeyValue { property, value: of_key(property)?.1 }))
        .collect();
    values.len() == entity.key_columns.len() && is_canonical(id, &entity.name, &values)
}

/// How strict the validator is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ValidateOptions {
    /// Whether an edge may lead to a node that is not part of the result, such as one of an
    /// earlier event. Its id is then checked in place of the node. Default: no.
    pub allow_external_endpoints: bool,
}

/// Checks a result against a spec and reports all that is wrong, in the order of the result.
///
/// # Example
/// ```
/// use retort::GraphSpec;
/// use retort::graph::{Extraction, ValidateOptions, validate};
///
/// let spec = GraphSpec::parse(
///     r#"{"entities": [{"name": "Order", "key_columns": ["order_id"], "properties":
///         [{"column": "order_id", "logical_name": "order_id", "sdk_type": "string"}]}]}"#,
///     "spec.json",
/// )?;
/// let result: Extraction = serde_json::from_str(
///     r#"{"nodes": [{"node_id": "s1:Order:order_id=o1", "entity_name": "Order",
///         "properties": [{"name": "order_id", "value": "o2"}]}], "edges": []}"#,
/// )?;
/// let report = validate(&spec, &result, ValidateOptions::default());
/// assert_eq!(report.failures()[0].code, "key_mismatch");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn validate(
    spec: &GraphSpec,
    result: &Extraction,
    options: ValidateOptions,
) -> ValidationReport {
    let nodes = HashMap::with_capacity(result.nodes.len());
    let mut validator = Validator { spec, options, nodes, failures: Vec::new() };
    validator.index(&result.nodes);
    for (i, node) in result.nodes.iter().enumerate() {
        let canonical = validator.node(i, node);
        if let Some(indexed) = validator.nodes.get_mut(node.node_id.as_str())
            && indexed.index == i
        {
            indexed.canonical = canonical;
        }
    }
    for (i, edge) in result.edges.iter().enumerate() {
        validator.edge(i, edge);
    }
    ValidationReport::new(validator.failures)
}

struct Validator<'a> {
    spec: &'a GraphSpec,
    options: ValidateOptions,
    /// The first node of each id that isn't empty.
    nodes: HashMap<&'a str, Indexed<'a>>,
    failures: Vec<Failure>,
}

/// What edges need to know of a node.
#[derive(Clone, Copy)]
struct Indexed<'a> {
    index: usize,
    entity_name: &'a str,
    /// The node's entity, if its id is canonical. Set when the node is checked.
    canonical: Option<&'a Entity>,
}

/// What a failure is reported of.
#[derive(Clone, Copy, Default)]
struct ReportedIds<'a> {
    node: Option<&'a SharedId<'a>>,
    edge: Option<&'a SharedId<'a>>,
    property: Option<(usize, usize)>,
}

/// An id whose text is copied once at most, so that many failures of a node with a long id
/// don't multiply it.
struct SharedId<'a> {
    text: &'a str,
    shared: OnceCell<Arc<str>>,
}

impl<'a> SharedId<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, shared: OnceCell::new() }
    }

    fn get(&self) -> Option<Arc<str>> {
        (!self.text.is_empty()).then(|| Arc::clone(self.shared.get_or_init(|| self.text.into())))
    }
}

impl<'a> Validator<'a> {
    fn fail(
        &mut self,
        (scope, code): (FailureScope, Code),
        subject: &ReportedIds<'_>,
        path: String,
        expected: impl Into<String>,
        observed: impl Into<String>,
    ) {
        let (expected, observed) = (expected.into(), observed.into());
        self.failures.push(Failure {
            scope,
            code,
            path,
            node_id: subject.node.and_then(SharedId::get),
            edge_id: subject.edge.and_then(SharedId::get),
            property: subject.property,
            detail: format!("expected {expected}, found {observed}"),
            expected,
            observed,
        });
    }

    /// Indexes the nodes and reports ids that occur twice.
    fn index(&mut self, nodes: &'a [Node]) {
        for (index, node) in nodes.iter().enumerate().filter(|(_, n)| !n.node_id.is_empty()) {
            if let Entry::Vacant(entry) = self.nodes.entry(&node.node_id) {
                entry.insert(Indexed { index, entity_name: &node.entity_name, canonical: None });
                continue;
            }
            let id = SharedId::new(&node.node_id);
            self.fail(
                (FailureScope::Node, codes::DUPLICATE_NODE_ID),
                &ReportedIds { node: Some(&id), ..ReportedIds::default() },
                format!("nodes[{index}].node_id"),
                "an id of its own",
                format!("{} again", quoted(&node.node_id)),
            );
        }
    }

    fn properties<'s>(
        &mut self,
        path: impl Fn() -> String,
        owner: impl Fn() -> String,
        (item, properties): (usize, &[extraction::Property]),
        subject: ReportedIds<'_>,
        find: impl Fn(&str) -> Option<&'s spec::PropertySpec>,
    ) {
        for (j, given) in properties.iter().enumerate() {
            let subject = &ReportedIds { property: Some((item, j)), ..subject };
            let Some(property) = find(&given.name) else {
                self.fail(
                    (FailureScope::Field, codes::UNKNOWN_PROPERTY),
                    subject,
                    format!("{}.properties[{j}].name", path()),
                    format!("a property of {}", owner()),
                    quoted(&given.name),
                );
                continue;
            };
            let code = match value::fit(&property.property_type, &given.value) {
                Fit::Valid => continue,
                Fit::Mismatch => codes::TYPE_MISMATCH,
                Fit::Unsupported => codes::UNSUPPORTED_TYPE,
            };
            self.fail(
                (FailureScope::Field, code),
                subject,
                format!("{}.properties[{j}].value", path()),
                format!(
                    "{} for {} ({})",
                    value::expected(&property.property_type),
                    quoted(&given.name),
                    bounded(property.property_type.as_str(), 40)
                ),
                described(&given.value),
            );
        }
    }
}
