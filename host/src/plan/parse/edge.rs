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

/// What an edge goes over, as far as it and the nodes that it names say.
enum EdgeElements {
    /// What can't be read, or doesn't agree.
    Unread,
    /// The innermost so far; `None`: one edge for the event.
    Over(Option<ForEach>),
}

pub(super) fn edges(written: &LocatedValue<'_>, nodes: &Nodes) -> Vec<EdgeRule> {
    written.items().filter_map(|item| edge(&item, nodes)).collect()
}

fn edge(written: &LocatedValue<'_>, nodes: &Nodes) -> Option<EdgeRule> {
    let object = written.object(ObjectKind::Edge.table())?;
    let name = object.get("relationship_name").map(|it| it.identifier());
    let ends = ["from", "to"].map(|end| object.get(end).and_then(|it| written_end(it, nodes)));
    let (own_for_each, own_scope) = for_each(&object);
    let mut elements = if own_scope.is_unread() {
        EdgeElements::Unread
    } else {
        EdgeElements::Over(own_for_each.clone())
    };
    for end in &ends {
        elements = elements.with(end.as_ref(), nodes);
    }
    let (for_each, scope) = match elements {
        EdgeElements::Unread => (None, PathScope::UNREAD),
        EdgeElements::Over(for_each) => {
            let scope = PathScope::inside(for_each.as_ref());
            (for_each, scope)
        }
    };
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
        for_each,
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

impl EdgeElements {
    /// What the edge goes over, given also what one of its ends says.
    fn with(self, end: Option<&WrittenEnd<'_>>, nodes: &Nodes) -> Self {
        let (node, written) = match end {
            None => return Self::Unread,
            Some(WrittenEnd::External(_)) => return self,
            Some(WrittenEnd::Node(node, written)) => (*node, written),
        };
        let (Self::Over(over), Some(rule)) = (self, nodes.rules.get(node)) else {
            return Self::Unread;
        };
        if nodes.scopes.get(node).is_none_or(|scope| scope.is_unread()) {
            return Self::Unread;
        }
        match (over, rule.for_each.as_ref()) {
            (over, None) => Self::Over(over),
            (None, Some(inner)) => Self::Over(Some(inner.clone())),
            (Some(over), Some(inner)) if inner.is_within(&over) => Self::Over(Some(inner.clone())),
            (Some(over), Some(inner)) if over.is_within(inner) => Self::Over(Some(over)),
            _ => {
                let expected = "a node for the elements that the edge goes over, or for those \
                                around or inside of them";
                let observed = format!("{}, which goes over others", quoted(rule.name()));
                written.note(codes::FOR_EACH_MISMATCH, expected, observed);
                Self::Unread
            }
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
    let rest = names.len().saturating_sub(MAX_NAMES);
    names.truncate(MAX_NAMES);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    let known = if names.is_empty() {
        "there are none".to_owned()
    } else {
        format!("there are {}{more}", names.join(", "))
    };
    format!("{}; {known}", quoted(name))
}
