//! Where edges are written, and by which names they know their nodes.
//!
//! An edge stands with the node that it begins or ends at, in the same loop and under the same condition, as far as that keeps the
//! edges in the order of the plan. All others come behind the nodes.

use std::collections::HashSet;

use super::names::{free, identifier};
use crate::plan::Endpoint;
use crate::render::lower::{Lowered, LoweredEdge};

/// Names that the function has already.
const TAKEN: &[&str] = &["draft", "edge", "event", "from", "graph", "id", "node", "row", "to"];

/// A node as an end of an edge.
#[derive(Clone, Copy)]
pub(super) enum End<'a> {
    /// The node that the edge stands with.
    Own,
    /// A node of the event: the variable with its id, if there is one.
    Variable(&'a str),
    /// Any other node.
    Reference,
}

/// The places of edges.
pub(super) struct Places {
    /// With each node, the edges that stand with it.
    pub(super) with_node: Vec<Vec<usize>>,
    /// The edges that come behind the nodes.
    pub(super) behind: Vec<usize>,
    /// For each node, the variable with its id, where edges need one.
    variables: Vec<Option<String>>,
}

impl Places {
    pub(super) fn of(lowered: &Lowered<'_>) -> Self {
        let mut with_node = vec![Vec::new(); lowered.nodes.len()];
        let mut behind = Vec::new();
        // The node that the edge before stands with, which a row can have one edge with.
        let mut last = None;
        for (index, edge) in lowered.edges.iter().enumerate() {
            let is_free = |node: &usize| match last {
                Some(last) if *node == last => edge.rows.is_none(),
                last => last.is_none_or(|last| *node > last),
            };
            match nodes_beside(lowered, edge).filter(is_free).min() {
                Some(node) if behind.is_empty() => {
                    with_node[node].push(index);
                    last = Some(node);
                }
                _ => behind.push(index),
            }
        }
        let mut places = Self { with_node, behind, variables: Vec::new() };
        places.variables = places.named(lowered);
        places
    }

    /// Variables for the nodes that are there once for the event, whatever it is, and that edges elsewhere begin or end at.
    fn named(&self, lowered: &Lowered<'_>) -> Vec<Option<String>> {
        let mut needed = HashSet::new();
        for (index, edge) in lowered.edges.iter().enumerate() {
            for end in [edge.rule.from(), edge.rule.to()] {
                if let Endpoint::Node(node) = end
                    && !self.with_node[*node].contains(&index)
                {
                    needed.insert(*node);
                }
            }
        }
        let mut taken: HashSet<String> = TAKEN.iter().map(|name| (*name).to_owned()).collect();
        let mut variable = |(index, entity): (usize, &str)| {
            let name = free(&identifier(entity, "node"), |name| !taken.contains(name));
            taken.insert(name.clone());
            needed.contains(&index).then_some(name)
        };
        let nodes = lowered.nodes.iter().enumerate();
        nodes
            .map(|(index, node)| {
                let is_of_event = node.rows.is_none() && node.when.is_none();
                is_of_event.then(|| variable((index, node.id.entity))).flatten()
            })
            .collect()
    }

    /// The variable with the id of a node.
    pub(super) fn variable(&self, node: usize) -> Option<&str> {
        self.variables[node].as_deref()
    }

    /// What an end of an edge is, that stands with a node or behind all.
    pub(super) fn end(&self, end: &Endpoint, with: Option<usize>) -> End<'_> {
        match end {
            Endpoint::Node(node) if Some(*node) == with => End::Own,
            // Behind it, it is known whether there is one.
            Endpoint::Node(node) if with.is_none_or(|with| *node < with) => {
                self.variable(*node).map_or(End::Reference, End::Variable)
            }
            _ => End::Reference,
        }
    }
}

/// The nodes that an edge begins or ends at, and that are there in the same rows and under the same condition.
fn nodes_beside<'a>(
    lowered: &'a Lowered<'_>,
    edge: &'a LoweredEdge<'_>,
) -> impl Iterator<Item = usize> + 'a {
    let ends = [edge.rule.from(), edge.rule.to()].into_iter();
    ends.filter_map(|end| match end {
        Endpoint::Node(node) => Some(*node),
        Endpoint::External { .. } => None,
    })
    .filter(|node| {
        let node = &lowered.nodes[*node];
        node.rows == edge.rows && node.when == edge.when
    })
}
