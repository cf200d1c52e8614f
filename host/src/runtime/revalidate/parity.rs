//! Whether two results say the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use crate::diagnostics::untrusted::sanitize;
use crate::graph::{Extraction, Property};

/// How much of an id is shown.
const SHOWN_CHARS: usize = 120;

/// The first thing in which a result isn't what the reference gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    what: &'static str,
    /// The node or the edge, where it is about one that both have.
    id: Option<String>,
}

impl Divergence {
    fn new(what: &'static str) -> Self {
        Self { what, id: None }
    }

    fn of(what: &'static str, id: &str) -> Self {
        Self { what, id: Some(sanitize(id, SHOWN_CHARS)) }
    }

    pub(super) fn of_failed_reference() -> Self {
        Self::new("reference extractor raised")
    }

    /// What differs, without the place.
    #[must_use]
    pub fn what(&self) -> &'static str {
        self.what
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.id {
            None => f.write_str(self.what),
            Some(id) => write!(f, "{} of {id}", self.what),
        }
    }
}

/// Compares a result with the one that should be: nodes, then edges, then spans, whatever their order, and properties as a set of names
/// with values. Numbers are the same if they have the same value, `true` and `false` are 1 and 0, and lists and
/// objects are the same if they are written alike.
///
/// # Errors
/// The first [`Divergence`].
pub fn parity(reference: &Extraction, found: &Extraction) -> Result<(), Divergence> {
    let (ids, found_ids) = (node_ids(reference), node_ids(found));
    let (Some(ids), Some(found_ids)) = (ids, found_ids) else {
        return Err(Divergence::new("duplicate node_id"));
    };
    require_same(ids, found_ids, "node_id mismatch")?;
    let by_id: BTreeMap<&str, _> = found.nodes.iter().map(|it| (&*it.node_id, it)).collect();
    for (node, found) in
        reference.nodes.iter().filter_map(|it| Some((it, *by_id.get(&*it.node_id)?)))
    {
        let differs = |what| Err(Divergence::of(what, &node.node_id));
        let labels = |labels: &'_ [String]| labels.iter().cloned().collect::<BTreeSet<_>>();
        if node.entity_name != found.entity_name {
            return differs("entity_name");
        }
        if labels(&node.labels) != labels(&found.labels) {
            return differs("labels");
        }
        if properties(&node.properties) != properties(&found.properties) {
            return differs("property set mismatch");
        }
    }
    let (ids, found_ids) = (edge_ids(reference), edge_ids(found));
    let (Some(ids), Some(found_ids)) = (ids, found_ids) else {
        return Err(Divergence::new("duplicate edge_id"));
    };
    require_same(ids, found_ids, "edge_id mismatch")?;
    let by_id: BTreeMap<&str, _> = found.edges.iter().map(|it| (&*it.edge_id, it)).collect();
    for (edge, found) in
        reference.edges.iter().filter_map(|it| Some((it, *by_id.get(&*it.edge_id)?)))
    {
        let differs = |what| Err(Divergence::of(what, &edge.edge_id));
        if edge.relationship_name != found.relationship_name {
            return differs("relationship_name");
        }
        if edge.from_node_id != found.from_node_id {
            return differs("from_node_id");
        }
        if edge.to_node_id != found.to_node_id {
            return differs("to_node_id");
        }
        if properties(&edge.properties) != properties(&found.properties) {
            return differs("property set mismatch");
        }
    }
    let spans = |spans: &'_ [String]| spans.iter().cloned().collect::<BTreeSet<_>>();
    if spans(&reference.fully_handled_span_ids) != spans(&found.fully_handled_span_ids) {
        return Err(Divergence::new("fully_handled_span_ids"));
    }
    if spans(&reference.partially_handled_span_ids) != spans(&found.partially_handled_span_ids) {
        return Err(Divergence::new("partially_handled_span_ids"));
    }
    Ok(())
}

fn node_ids(result: &Extraction) -> Option<BTreeSet<&str>> {
    unique(result.nodes.iter().map(|it| &*it.node_id))
}

fn edge_ids(result: &Extraction) -> Option<BTreeSet<&str>> {
    unique(result.edges.iter().map(|it| &*it.edge_id))
}

/// The ids, if each is there once.
fn unique<'a>(ids: impl Iterator<Item = &'a str>) -> Option<BTreeSet<&'a str>> {
    let mut unique = BTreeSet::new();
    for id in ids {
        if !unique.insert(id) {
            return None;
        }
    }
    Some(unique)
}

fn require_same(
    reference: BTreeSet<&str>,
    found: BTreeSet<&str>,
    what: &'static str,
) -> Result<(), Divergence> {
    match reference.symmetric_difference(&found).next() {
        None => Ok(()),
        Some(id) => Err(Divergence::of(what, id)),
    }
}

/// A value as it is compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Compared {
    Null,
    Integer(i128),
    /// The bits of one that is no whole number.
    Float(u64),
    Text(String),
    /// A list or an object, as it is written.
    Written(String),
}

impl Compared {
    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(it) => Self::Integer((*it).into()),
            Value::Number(it) => {
                let whole = it.as_i64().map(i128::from).or_else(|| it.as_u64().map(i128::from));
                let float = it.as_f64().unwrap_or_default();
                // Beyond these a double isn't told from its neighbours by whole numbers, and bits tell them apart.
                let is_whole = float.fract() == 0.0 && float.abs() < 1e18;
                match whole {
                    Some(whole) => Self::Integer(whole),
                    None if is_whole => Self::Integer(float as i128),
                    None => Self::Float(float.to_bits()),
                }
            }
            Value::String(it) => Self::Text(it.clone()),
            Value::Array(_) | Value::Object(_) => Self::Written(value.to_string()),
        }
    }
}

fn properties(properties: &[Property]) -> BTreeSet<(&str, Compared)> {
    properties.iter().map(|it| (&*it.name, Compared::of(&it.value))).collect()
}
