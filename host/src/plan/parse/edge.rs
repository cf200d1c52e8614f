//! Edges.

use serde_json::Value;

use super::for_each::for_each;
use super::mapping::{distinct_names, key_fields, placed_keys, properties};
use super::node::Nodes;
use crate::diagnostics::codes;
use crate::diagnostics::untrusted::quoted;
use crate::plan::expr::ForEach;
use crate::plan::language::{LocatedValue, ObjectKind, PathScope};
use crate::plan::model::{EdgeRule, Endpoint};

/// What is written at an end of an edge.
enum WrittenEnd<'a> {
    /// The node of the plan with this index.
    Node(usize, LocatedValue<'a>),
    /// An object.
    External(LocatedValue<'a>),
}

pub(super) fn edges(written: &LocatedValue<'_>, nodes: &Nodes) -> Vec<EdgeRule> {
    written.items().filter_map(|item| edge(&item, nodes)).collect()
}

fn edge(written: &LocatedValue<'_>, nodes: &Nodes) -> Option<EdgeRule> {
    let object = written.object(ObjectKind::Edge.table())?;
    let name = object.get("relationship_name").map(|it| it.identifier());
    let ends = ["from", "to"].map(|end| object.get(end).and_then(|it| written_end(it, nodes)));
    let (own_for_each, own_scope) = for_each(&object);
    let own = (!own_scope.is_unread).then(|| own_for_each.clone());
    let elements = own.and_then(|own| {
        ends.iter().try_fold(own, |over, end| innermost_of(over, end.as_ref()?, nodes))
    });
    let scope = elements.as_ref().map_or(PathScope::UNREAD, |it| PathScope::inside(it.as_ref()));
    let [from, to] = ends.map(|end| endpoint(end?, scope));
    let when = object.condition("when", scope);
    let edge_id = object.get("edge_id").and_then(|it| it.template(scope));
    let property_fields = properties(&object, scope);
    distinct_names(&object, Vec::new(), &property_fields);
    Some(EdgeRule {
        relationship_name: name.unwrap_or_default(),
        from: from?,
        to: to?,
        own_for_each,
        for_each: elements.flatten(),
        when,
        edge_id,
        property_fields,
    })
}

/// What an end says; `None` where that can't be read.
fn written_end<'a>(written: LocatedValue<'a>, nodes: &Nodes) -> Option<WrittenEnd<'a>> {
    match written.value {
        Value::Object(_) => Some(WrittenEnd::External(written)),
        Value::String(_) => {
            let node = named_node(&written, nodes)?;
            Some(WrittenEnd::Node(node, written))
        }
        _ => {
            written.wrong_type("the name of a node, or an object");
            None
        }
    }
}

/// The node of the plan that an end of an edge names.
fn named_node(written: &LocatedValue<'_>, nodes: &Nodes) -> Option<usize> {
    let name = written.identifier();
    if name.is_empty() {
        return None;
    }
    match nodes.named(&name).as_slice() {
        [index] => Some(*index),
        [] => {
            if nodes.are_named() {
                let observed = unknown_node(&name, nodes);
                written.note(codes::UNKNOWN_NODE, "the name of a node of the plan", observed);
            }
            None
        }
        [first, second, ..] => {
            let observed = format!(
                "{}, which nodes[{first}] and nodes[{second}] have; give each a \"name\"",
                quoted(&name)
            );
            written.note(codes::DUPLICATE_NODE_NAME, "the name of one node", observed);
            None
        }
    }
}

/// What an edge over these elements, or none, goes over given also what one of its ends says; `None` where that can't be
/// read or doesn't agree.
fn innermost_of(
    over: Option<ForEach>,
    end: &WrittenEnd<'_>,
    nodes: &Nodes,
) -> Option<Option<ForEach>> {
    let WrittenEnd::Node(node, written) = end else { return Some(over) };
    let rule = nodes.rules.get(*node)?;
    if nodes.scopes.get(*node)?.is_unread {
        return None;
    }
    match (over, rule.for_each.clone()) {
        (over, None) => Some(over),
        (None, inner) => Some(inner),
        (Some(over), Some(inner)) if inner.is_within(&over) => Some(Some(inner)),
        (Some(over), Some(inner)) if over.is_within(&inner) => Some(Some(over)),
        _ => {
            let expected = "a node for the elements that the edge goes over, or for those around or \
                            inside of them";
            let observed = format!("{}, which goes over others", quoted(rule.name()));
            written.note(codes::FOR_EACH_MISMATCH, expected, observed);
            None
        }
    }
}

fn endpoint(end: WrittenEnd<'_>, scope: PathScope) -> Option<Endpoint> {
    let written = match end {
        WrittenEnd::Node(index, _) => return Some(Endpoint::Node(index)),
        WrittenEnd::External(written) => written,
    };
    let object = written.object(ObjectKind::External.table())?;
    let entity_name = object.get("entity_name").map(|it| it.identifier());
    let key_fields = key_fields(&object, scope)?;
    distinct_names(&object, placed_keys(&object, &key_fields), &[]);
    Some(Endpoint::External { entity_name: entity_name?, key_fields })
}

/// How many names a message lists.
const MAX_NAMES: usize = 10;

fn unknown_node(name: &str, nodes: &Nodes) -> String {
    let mut names: Vec<String> = Vec::new();
    for rule in &nodes.rules {
        let name = quoted(rule.name());
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = match names.len().saturating_sub(MAX_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    names.truncate(MAX_NAMES);
    let known = match names.as_slice() {
        [] => "there are none".to_owned(),
        names => format!("there are {}{more}", names.join(", ")),
    };
    format!("{}; {known}", quoted(name))
}
