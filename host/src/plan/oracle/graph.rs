//! Nodes and edges.

use std::collections::BTreeSet;

use super::OracleError;
use super::row::Row;
use crate::graph::extraction::{Edge, Node, Property};
use crate::plan::expr::{Expression, OnDuplicate, Reference};
use crate::plan::model::{EdgeRule, Endpoint, FieldMapping, NodeRule, Plan};

/// The nodes and edges of an event.
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<Edge>,
}

impl Graph {
    pub(super) fn of(plan: &Plan, event: &Row<'_>) -> Result<Self, OracleError> {
        let session = Expression::path(Reference::event(plan.session_id_path()));
        let session = event.scalar(&session).unwrap_or_default();
        let mut graph = Self { nodes: Vec::new(), edges: Vec::new() };
        for rule in plan.nodes() {
            for row in event.rows(rule.for_each()) {
                graph.nodes.extend(node(rule, &session, &row)?);
            }
        }
        for rule in plan.edges() {
            for row in event.rows(rule.for_each()) {
                graph.edges.extend(edge(plan, rule, &session, &row)?);
            }
        }
        let reject = plan.on_duplicate() == OnDuplicate::Reject;
        last_of_each(&mut graph.nodes, |node| &node.node_id, "nodes", reject)?;
        last_of_each(&mut graph.edges, |edge| &edge.edge_id, "edges", reject)?;
        Ok(graph)
    }
}

fn node(rule: &NodeRule, session: &str, row: &Row<'_>) -> Result<Option<Node>, OracleError> {
    if !is_there(rule, row) {
        return Ok(None);
    }
    let fields = rule.key_fields().iter().chain(rule.property_fields());
    let properties = properties(fields, row)?;
    let node = node_id(session, rule.entity_name(), rule.key_fields(), row).map(|node_id| Node {
        node_id,
        entity_name: rule.entity_name().to_owned(),
        labels: vec![rule.entity_name().to_owned()],
        properties,
    });
    Ok(node)
}

/// Whether the condition of a node holds, so that its values are looked at.
fn is_there(rule: &NodeRule, row: &Row<'_>) -> bool {
    rule.when().is_none_or(|condition| row.holds(condition))
}

fn edge(
    plan: &Plan,
    rule: &EdgeRule,
    session: &str,
    row: &Row<'_>,
) -> Result<Option<Edge>, OracleError> {
    let ends = [rule.from(), rule.to()];
    let named = |end: &Endpoint| match end {
        Endpoint::Node(index) => plan.nodes().get(*index),
        Endpoint::External { .. } => None,
    };
    let are_there = ends.into_iter().filter_map(named).all(|node| is_there(node, row));
    if !are_there || !rule.when().is_none_or(|condition| row.holds(condition)) {
        return Ok(None);
    }
    let end_id = |end: &Endpoint| match end {
        Endpoint::Node(_) => {
            let node = named(end)?;
            node_id(session, node.entity_name(), node.key_fields(), row)
        }
        Endpoint::External { entity_name, key_fields } => {
            node_id(session, entity_name, key_fields, row)
        }
    };
    // All values are looked at before anything is decided by one of them: any may reject the event.
    for end in ends {
        if let Endpoint::External { key_fields, .. } = end {
            properties(key_fields.iter(), row)?;
        }
    }
    let properties = properties(rule.property_fields().iter(), row)?;
    let (Some(from), Some(to)) = (end_id(rule.from()), end_id(rule.to())) else { return Ok(None) };
    let relationship = rule.relationship_name();
    let edge_id = match rule.edge_id() {
        None => Some(format!("{from}:{relationship}:{to}")),
        Some(template) => row.text(template),
    };
    Ok(edge_id.map(|edge_id| Edge {
        edge_id,
        relationship_name: relationship.to_owned(),
        from_node_id: from,
        to_node_id: to,
        properties,
    }))
}

fn properties<'p>(
    fields: impl Iterator<Item = &'p FieldMapping>,
    row: &Row<'_>,
) -> Result<Vec<Property>, OracleError> {
    fields.filter_map(|field| row.property(field).transpose()).collect()
}

/// `None` where a value of the key isn't a scalar.
fn node_id(session: &str, entity: &str, keys: &[FieldMapping], row: &Row<'_>) -> Option<String> {
    let pair = |key: &FieldMapping| {
        let value = row.scalar(key.value())?;
        Some(format!("{}={value}", key.property_name()))
    };
    let pairs: Vec<String> = keys.iter().map(pair).collect::<Option<_>>()?;
    Some(format!("{session}:{entity}:{}", pairs.join(",")))
}

/// Leaves out what has the id of a later one, or rejects the event for it.
fn last_of_each<T>(
    items: &mut Vec<T>,
    id: impl Fn(&T) -> &String,
    what: &'static str,
    reject: bool,
) -> Result<(), OracleError> {
    let mut seen = BTreeSet::new();
    let is_last: Vec<bool> = items.iter().rev().map(|item| seen.insert(id(item).clone())).collect();
    if reject && is_last.contains(&false) {
        return Err(OracleError::DuplicateId { what });
    }
    let mut is_last = is_last.into_iter().rev();
    items.retain(|_| is_last.next().unwrap_or(true));
    Ok(())
}
