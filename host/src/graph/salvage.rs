//! What can be kept of a result of which parts are wrong.

use std::collections::BTreeSet;

use serde::Serialize;

use super::extraction::{Extraction, Property};
use super::spec::GraphSpec;
use super::validate::{Failure, FailureScope};

/// A result after everything that was found wrong with it is gone.
#[derive(Clone, Debug, PartialEq)]
pub enum Salvage {
    /// Nothing is wrong with it.
    Whole(Extraction),
    /// What is left of it, and what is gone.
    Part(Extraction, Dropped),
    /// Nothing: a failure is about the event as a whole, or names no node or edge that could go.
    Nothing,
}

/// What was dropped of a result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// The ids of nodes that are gone, sorted.
    #[serde(rename = "dropped_node_ids")]
    pub node_ids: BTreeSet<String>,
    /// The ids of edges that are gone, sorted: those that are wrong, and those that led to a node which is gone.
    #[serde(rename = "dropped_edge_ids")]
    pub edge_ids: BTreeSet<String>,
    /// Properties that are gone of nodes and edges that stay, sorted.
    #[serde(rename = "dropped_properties")]
    pub properties: BTreeSet<DroppedProperty>,
}

impl Dropped {
    /// Adds what was dropped of another result.
    pub(crate) fn extend(&mut self, other: Self) {
        self.node_ids.extend(other.node_ids);
        self.edge_ids.extend(other.edge_ids);
        self.properties.extend(other.properties);
    }
}

/// A property that is gone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct DroppedProperty {
    /// The id of its node, if it is one's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_id: Option<String>,
    /// The id of its edge, if it is one's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edge_id: Option<String>,
    /// Its name in the result.
    pub name: String,
}

/// Takes out of `result` what `failures` are about, which [`validate`](super::validate) found in it: a property that is no key by itself;
/// else the edge, or the node with all edges that lead to it or from it, each with all others of the same id.
///
/// # Example
/// ```
/// use retort::GraphSpec;
/// use retort::graph::{Extraction, Salvage, ValidateOptions, salvage, validate};
///
/// let spec = GraphSpec::parse(
///     r#"{"entities": [{"name": "Order", "key_columns": ["id"], "properties": [
///         {"column": "id", "logical_name": "id", "sdk_type": "string"},
///         {"column": "total", "logical_name": "total", "sdk_type": "double"}]}]}"#,
///     "spec.json",
/// )?;
/// let result: Extraction = serde_json::from_str(
///     r#"{"nodes": [{"node_id": "s1:Order:id=o1", "entity_name": "Order", "properties": [
///         {"name": "id", "value": "o1"}, {"name": "total", "value": "much"}]}], "edges": []}"#,
/// )?;
/// let report = validate(&spec, &result, ValidateOptions::default());
/// let Salvage::Part(kept, dropped) = salvage(&spec, result, report.failures()) else { panic!() };
/// assert_eq!((kept.nodes.len(), dropped.properties.len()), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn salvage(spec: &GraphSpec, mut result: Extraction, failures: &[Failure]) -> Salvage {
    if failures.is_empty() {
        return Salvage::Whole(result);
    }
    let mut dropped = Dropped::default();
    // By their places in the result, which stay until all are known.
    let (mut of_nodes, mut of_edges) = (BTreeSet::new(), BTreeSet::new());
    for failure in failures {
        let (node, edge) = (failure.node_id.as_deref(), failure.edge_id.as_deref());
        let is_of_edge = match failure.scope {
            FailureScope::Event => return Salvage::Nothing,
            FailureScope::Node => false,
            FailureScope::Edge => true,
            FailureScope::Field => edge.is_some(),
        };
        let Some(id) = (if is_of_edge { edge } else { node }) else { return Salvage::Nothing };
        match failure.property {
            Some(at) if is_of_edge => _ = of_edges.insert(at),
            Some(at) if !is_key(spec, &result, at) => _ = of_nodes.insert(at),
            _ if is_of_edge => _ = dropped.edge_ids.insert(id.to_owned()),
            _ => _ = dropped.node_ids.insert(id.to_owned()),
        }
    }
    let is_gone = |id: &str| dropped.node_ids.contains(id);
    for edge in &result.edges {
        if is_gone(&edge.from_node_id) || is_gone(&edge.to_node_id) {
            dropped.edge_ids.insert(edge.edge_id.clone());
        }
    }
    for (place, node) in result.nodes.iter_mut().enumerate() {
        for name in take(&mut node.properties, place, &of_nodes) {
            if !dropped.node_ids.contains(&node.node_id) {
                let node_id = Some(node.node_id.clone());
                dropped.properties.insert(DroppedProperty { node_id, edge_id: None, name });
            }
        }
    }
    for (place, edge) in result.edges.iter_mut().enumerate() {
        for name in take(&mut edge.properties, place, &of_edges) {
            if !dropped.edge_ids.contains(&edge.edge_id) {
                let edge_id = Some(edge.edge_id.clone());
                dropped.properties.insert(DroppedProperty { node_id: None, edge_id, name });
            }
        }
    }
    result.nodes.retain(|node| !dropped.node_ids.contains(&node.node_id));
    result.edges.retain(|edge| !dropped.edge_ids.contains(&edge.edge_id));
    Salvage::Part(result, dropped)
}

/// Whether the property at a place among those of a node is one of its keys.
fn is_key(spec: &GraphSpec, result: &Extraction, (node, property): (usize, usize)) -> bool {
    let Some(node) = result.nodes.get(node) else { return true };
    let (entity, property) = (spec.entity(&node.entity_name), node.properties.get(property));
    let (Some(entity), Some(property)) = (entity, property) else { return true };
    let declared = entity.property(&property.name);
    declared.is_some_and(|found| entity.key_properties().any(|key| std::ptr::eq(key, found)))
}

/// Takes the properties at these places out of those of a node or edge; their names.
fn take(
    properties: &mut Vec<Property>,
    place: usize,
    wrong: &BTreeSet<(usize, usize)>,
) -> Vec<String> {
    let mut names = Vec::new();
    for (_, property) in wrong.range((place, 0)..=(place, usize::MAX)).rev() {
        if *property < properties.len() {
            names.push(properties.remove(*property).name);
        }
    }
    names
}
