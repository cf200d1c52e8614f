//! What a sample gives, as a line of expected results.

use serde_json::{Map, Value};

use super::{DIGEST_DIGITS, ExpectedEdge, ExpectedEnd, ExpectedNode, ExpectedResult, digest};
use crate::graph::extraction::{Edge, Extraction, Node, Property};
use crate::graph::spec::GraphSpec;

/// The line that a result is the only right one for.
pub(super) fn line(line: usize, text: &str, result: &Extraction, graph: &GraphSpec) -> String {
    let mut digits = digest(text);
    digits.truncate(DIGEST_DIGITS);
    let expected = ExpectedResult {
        line: Some(line),
        sha256: Some(digits),
        session: session(result),
        nodes: result.nodes.iter().map(|it| node(it, graph)).collect(),
        edges: result.edges.iter().map(|it| edge(it, result, graph)).collect(),
        fully_handled_span_ids: Some(result.fully_handled_span_ids.clone()),
        partially_handled_span_ids: Some(result.partially_handled_span_ids.clone()),
        exact: true,
    };
    // Of strings and JSON, none fails to serialise.
    serde_json::to_string(&expected).unwrap_or_default()
}

/// What the ids of all nodes begin with, where that is one.
fn session(result: &Extraction) -> Option<String> {
    let of = |node: &Node| {
        let (session, _) = node.node_id.split_once(&format!(":{}:", node.entity_name))?;
        Some(session.to_owned())
    };
    let first = of(result.nodes.first()?)?;
    result.nodes.iter().all(|node| of(node).as_ref() == Some(&first)).then_some(first)
}

fn node(node: &Node, graph: &GraphSpec) -> ExpectedNode {
    let (key, others) = split(node, graph);
    ExpectedNode {
        entity: Some(node.entity_name.clone()),
        node_id: key.is_empty().then(|| node.node_id.clone()),
        key,
        properties: others,
    }
}

/// The properties of a node's key, all of them or none, and the others.
fn split(node: &Node, graph: &GraphSpec) -> (Map<String, Value>, Map<String, Value>) {
    let columns: Vec<_> =
        graph.entity(&node.entity_name).into_iter().flat_map(|it| it.key_properties()).collect();
    let is_of_key = |name: &str| columns.iter().any(|it| it.is_named(name));
    let (key, others): (Vec<&Property>, Vec<_>) =
        node.properties.iter().partition(|it| is_of_key(&it.name));
    if key.len() == columns.len() {
        (map(&key), map(&others))
    } else {
        (Map::new(), map(&node.properties.iter().collect::<Vec<_>>()))
    }
}

fn edge(edge: &Edge, result: &Extraction, graph: &GraphSpec) -> ExpectedEdge {
    let end = |id: &str| {
        let known = result.nodes.iter().find(|node| node.node_id == id);
        let keyed =
            known.map(|node| (node, split(node, graph).0)).filter(|(_, key)| !key.is_empty());
        Some(match keyed {
            Some((node, key)) => {
                ExpectedEnd { entity: Some(node.entity_name.clone()), key, node_id: None }
            }
            None => ExpectedEnd { node_id: Some(id.to_owned()), ..ExpectedEnd::default() },
        })
    };
    ExpectedEdge {
        relationship: edge.relationship_name.clone(),
        from: end(&edge.from_node_id),
        to: end(&edge.to_node_id),
        properties: map(&edge.properties.iter().collect::<Vec<_>>()),
    }
}

fn map(properties: &[&Property]) -> Map<String, Value> {
    properties.iter().map(|it| (it.name.clone(), it.value.clone())).collect()
}
