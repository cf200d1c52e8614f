//! Where in a plan something of a result is from.
//!
//! By the rules that nodes and edges are recognised to be of.

use crate::bundle::origin::{edge_rule, node_rule};
use crate::diagnostics::codes::{self, Code};
use crate::graph::extraction::{Edge, Extraction, Node, Property};
use crate::graph::spec::GraphSpec;
use crate::graph::validate::Failure;
use crate::plan::expr::Source;
use crate::plan::{Endpoint, FieldMapping, Form, Plan};

/// The pointer to where in the plan the value is from that a failure is about; `None` where there is no telling.
pub(super) fn origin(
    plan: &Plan,
    failure: &Failure,
    result: &Extraction,
    graph: &GraphSpec,
) -> Option<String> {
    let (list, rest) = failure.path.split_once('[')?;
    let (index, rest) = rest.split_once(']')?;
    let (index, rest): (usize, &str) = (index.parse().ok()?, rest.trim_start_matches('.'));
    match list {
        "nodes" => {
            let node = result.nodes.get(index)?;
            in_node(plan, node_rule(plan, node)?, failure.code, rest, node, graph)
        }
        "edges" => {
            let edge = result.edges.get(index)?;
            in_edge(plan, edge_rule(plan, edge)?, failure.code, rest, edge)
        }
        _ => None,
    }
}

fn in_node(
    plan: &Plan,
    index: usize,
    code: Code,
    rest: &str,
    node: &Node,
    graph: &GraphSpec,
) -> Option<String> {
    let at = plan.node_pointer(index);
    let rule = plan.nodes().get(index)?;
    let keys = rule.key_fields().iter().enumerate();
    let mut keys = keys.map(|(key, it)| (plan.key_pointer(index, key), it));
    let [entity, key] = match plan.form() {
        Form::Short => ["target_entity_name", "key_field"],
        Form::Long => ["entity_name", "key_fields"],
    };
    Some(match code {
        codes::UNKNOWN_ENTITY => format!("{at}/{entity}"),
        codes::MISSING_KEY | codes::KEY_MISMATCH | codes::MISSING_NODE_ID => {
            let column = rest.split_once("<key:").and_then(|(_, it)| it.strip_suffix('>'));
            let entity = graph.entity(&node.entity_name);
            let property = column.and_then(|column| entity?.property(column));
            let found = property
                .and_then(|property| keys.find(|(_, it)| property.is_named(it.property_name())));
            found.map_or(format!("{at}/{key}"), |(at, _)| at)
        }
        code => {
            let others = rule.property_fields().iter().enumerate();
            let others = others.map(|(other, it)| (plan.property_pointer(index, other), it));
            in_mapping(keys.chain(others), rest, &node.properties, code).unwrap_or(at)
        }
    })
}

fn in_edge(plan: &Plan, index: usize, code: Code, rest: &str, edge: &Edge) -> Option<String> {
    let at = plan.edge_pointer(index);
    let rule = plan.edges().get(index)?;
    if code == codes::UNKNOWN_RELATIONSHIP {
        return Some(format!("{at}/relationship_name"));
    }
    let ends = [("from_node_id", "from", rule.from()), ("to_node_id", "to", rule.to())];
    if let Some((_, name, end)) = ends.into_iter().find(|(field, ..)| rest.starts_with(field)) {
        let is_external = matches!(end, Endpoint::External { .. });
        let field = match code {
            codes::MISSING_ENDPOINT_KEY if is_external => "/key_fields",
            codes::WRONG_ENDPOINT_ENTITY if is_external => "/entity_name",
            _ => "",
        };
        return Some(format!("{at}/{name}{field}"));
    }
    let mappings = rule.property_fields().iter().enumerate();
    let mappings = mappings.map(|(i, it)| (format!("{at}/property_fields/{i}"), it));
    Some(in_mapping(mappings, rest, &edge.properties, code).unwrap_or(at))
}

/// The field of the mapping that a property of a result is from, by the rest of a path that leads to it.
fn in_mapping<'m>(
    mut mappings: impl Iterator<Item = (String, &'m FieldMapping)>,
    rest: &str,
    properties: &[Property],
    code: Code,
) -> Option<String> {
    let index: usize = rest.strip_prefix("properties[")?.split_once(']')?.0.parse().ok()?;
    let name = &properties.get(index)?.name;
    let (at, mapping) = mappings.find(|(_, it)| it.property_name() == name)?;
    Some(match code {
        codes::UNKNOWN_PROPERTY => format!("{at}/property_name"),
        _ => format!("{at}/{}", source_field(mapping)),
    })
}

/// The field of a mapping that says where its value is from.
pub(super) fn source_field(mapping: &FieldMapping) -> &'static str {
    match mapping.value().source {
        Source::Path(_) => "source_path",
        Source::Constant(_) => "constant",
        Source::Template(_) => "template",
        Source::Coalesce(_) => "coalesce",
        Source::Query(_) => "expression",
    }
}
