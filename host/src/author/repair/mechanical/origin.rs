//! Where in a plan something of a result is from.
//!
//! With several nodes and elements, an index into a result isn't one into the plan: nodes are told by their entity and the
//! names of their properties, edges by their relationship and the entities of their ends.

use crate::graph::extraction::{Edge, Extraction, Node};
use crate::graph::spec::GraphSpec;
use crate::graph::validate::{Failure, FailureCode};
use crate::plan::expr::Source;
use crate::plan::{EdgeRule, Endpoint, FieldMapping, Form, NodeRule, Plan};

/// Where in the plan the value is from that a failure is about: a pointer, empty where there is no telling.
pub(super) fn place(
    plan: &Plan,
    failure: &Failure,
    result: &Extraction,
    graph: &GraphSpec,
) -> String {
    let Some((list, index, rest)) = parts(&failure.path) else { return String::new() };
    match list {
        "nodes" => {
            let found = result.nodes.get(index).and_then(|it| Some((it, node_rule(plan, it)?)));
            found.map_or_else(String::new, |(node, rule)| {
                in_node(plan, rule, failure, rest, node, graph)
            })
        }
        "edges" => {
            let found = result.edges.get(index).and_then(|it| Some((it, edge_rule(plan, it)?)));
            found.map_or_else(String::new, |(edge, rule)| in_edge(plan, rule, failure, rest, edge))
        }
        _ => String::new(),
    }
}

/// The list that a path of a result leads into, the index, and what follows.
fn parts(path: &str) -> Option<(&str, usize, &str)> {
    let (list, behind) = path.split_once('[')?;
    let (index, rest) = behind.split_once(']')?;
    Some((list, index.parse().ok()?, rest.strip_prefix('.').unwrap_or(rest)))
}

/// The rule of a node: of those of its entity, the first that has all of its properties.
fn node_rule(plan: &Plan, node: &Node) -> Option<usize> {
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
fn edge_rule(plan: &Plan, edge: &Edge) -> Option<usize> {
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

fn in_node(
    plan: &Plan,
    index: usize,
    failure: &Failure,
    rest: &str,
    node: &Node,
    graph: &GraphSpec,
) -> String {
    let at = plan.node_pointer(index);
    let Some(rule) = plan.nodes().get(index) else { return at };
    let is_short = plan.form() == Form::Short;
    match failure.code {
        FailureCode::UnknownEntity => {
            return format!("{at}/{}", if is_short { "target_entity_name" } else { "entity_name" });
        }
        FailureCode::MissingKey | FailureCode::KeyMismatch | FailureCode::MissingNodeId => {
            let entity = graph.entity(&node.entity_name);
            let column = rest.split_once("<key:").and_then(|(_, it)| it.strip_suffix('>'));
            let key = column.and_then(|column| entity?.property(column));
            let position = key.and_then(|key| {
                rule.key_fields().iter().position(|it| key.is_named(it.property_name()))
            });
            return match position {
                Some(key) => plan.key_pointer(index, key),
                None if is_short => format!("{at}/key_field"),
                None => format!("{at}/key_fields"),
            };
        }
        _ => {}
    }
    let Some(name) = property(rest).and_then(|it| node.properties.get(it)).map(|it| &it.name)
    else {
        return at;
    };
    let keys = rule.key_fields().iter().enumerate();
    let keys = keys.map(|(key, it)| (plan.key_pointer(index, key), it));
    let others = rule.property_fields().iter().enumerate();
    let others = others.map(|(property, it)| (plan.property_pointer(index, property), it));
    let found = keys.chain(others).find(|(_, it)| it.property_name() == name);
    found.map_or(at, |(at, mapping)| of_mapping(&at, mapping, failure.code))
}

fn in_edge(plan: &Plan, index: usize, failure: &Failure, rest: &str, edge: &Edge) -> String {
    let at = plan.edge_pointer(index);
    let Some(rule) = plan.edges().get(index) else { return at };
    if failure.code == FailureCode::UnknownRelationship {
        return format!("{at}/relationship_name");
    }
    for (end, name, endpoint) in
        [("from_node_id", "from", rule.from()), ("to_node_id", "to", rule.to())]
    {
        if rest.starts_with(end) {
            return match (endpoint, failure.code) {
                (Endpoint::External { .. }, FailureCode::MissingEndpointKey) => {
                    format!("{at}/{name}/key_fields")
                }
                (Endpoint::External { .. }, FailureCode::WrongEndpointEntity) => {
                    format!("{at}/{name}/entity_name")
                }
                _ => format!("{at}/{name}"),
            };
        }
    }
    let name = property(rest).and_then(|it| edge.properties.get(it)).map(|it| &it.name);
    let position = name
        .and_then(|name| rule.property_fields().iter().position(|it| it.property_name() == name));
    match position.and_then(|it| Some((it, rule.property_fields().get(it)?))) {
        Some((position, mapping)) => {
            of_mapping(&format!("{at}/property_fields/{position}"), mapping, failure.code)
        }
        None => at,
    }
}

/// The index of the property that the rest of a path leads to.
fn property(rest: &str) -> Option<usize> {
    rest.strip_prefix("properties[")?.split_once(']')?.0.parse().ok()
}

fn of_mapping(at: &str, mapping: &FieldMapping, code: FailureCode) -> String {
    format!(
        "{at}/{}",
        if code == FailureCode::UnknownProperty { "property_name" } else { source(mapping) }
    )
}

/// The field of a mapping that says where its value is from.
pub(super) fn source(mapping: &FieldMapping) -> &'static str {
    match mapping.value().source {
        Source::Path(_) => "source_path",
        Source::Constant(_) => "constant",
        Source::Template(_) => "template",
        Source::Coalesce(_) => "coalesce",
    }
}
