//! Which rule of a plan made a node or an edge of a result.
//!
//! With several nodes and elements, an index into a result isn't one into the plan: nodes are recognised by their entity and
//! the names of their properties, edges by their relationship and the entities of their ends.

use crate::graph::extraction::{Edge, Node};
use crate::plan::{EdgeRule, Endpoint, NodeRule, Plan};

/// The rule of a node: of those of its entity, the first that has all of its properties.
pub(crate) fn node_rule(plan: &Plan, node: &Node) -> Option<usize> {
    let of_entity = |rule: &NodeRule| rule.entity_name() == node.entity_name;
    let has_all = |rule: &NodeRule| {
        let has = |name: &str| {
            let mut all = rule.key_fields().iter().chain(rule.property_fields());
            all.any(|it| it.property_name() == name)
        };
        node.properties.iter().all(|it| has(&it.name))
    };
    let nodes = plan.nodes();
    let exact = nodes.iter().position(|rule| of_entity(rule) && has_all(rule));
    exact.or_else(|| nodes.iter().position(of_entity))
}

/// The rule of an edge: of those of its relationship, the first whose ends are of the entities that the ids name.
pub(crate) fn edge_rule(plan: &Plan, edge: &Edge) -> Option<usize> {
    let of_relationship = |rule: &EdgeRule| rule.relationship_name() == edge.relationship_name;
    let is_of = |end: &Endpoint, id: &str| {
        let entity = match end {
            Endpoint::Node(index) => plan.nodes().get(*index).map_or("", NodeRule::entity_name),
            Endpoint::External { entity_name, .. } => entity_name,
        };
        id.contains(&format!(":{entity}:"))
    };
    let has_ends = |rule: &EdgeRule| {
        is_of(rule.from(), &edge.from_node_id) && is_of(rule.to(), &edge.to_node_id)
    };
    let edges = plan.edges();
    let exact = edges.iter().position(|rule| of_relationship(rule) && has_ends(rule));
    exact.or_else(|| edges.iter().position(of_relationship))
}
