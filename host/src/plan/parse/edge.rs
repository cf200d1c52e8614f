//! Edges.

use serde_json::Value;

use super::super::error::{Place, PlanParseErrorCode as Code};
use super::super::model::{EdgeRule, Endpoint};
use super::fields::{EDGE_FIELDS, ENDPOINT_FIELDS};
use super::for_each::Scope;
use super::node::Nodes;
use super::reader::{Fields, MAX_ENTRIES, Reader};
use crate::diagnostics::untrusted::quoted;
use crate::plan::expr::ForEach;

/// What an edge's paths start from, as far as the nodes that it names say.
enum Elements {
    /// What can't be read, or doesn't agree.
    Unread,
    /// The innermost so far, and what goes over it; `None`: one edge for the event.
    Over(Option<ForEach>),
}

impl Reader {
    pub(super) fn edges(&mut self, at: &Place, value: &Value, nodes: &Nodes) -> Vec<EdgeRule> {
        let items = self.items(at, value, "an array of objects", (0, MAX_ENTRIES)).iter();
        let items = items.enumerate();
        items.filter_map(|(index, item)| self.edge(&at.item(index), item, nodes)).collect()
    }

    fn edge(&mut self, at: &Place, value: &Value, nodes: &Nodes) -> Option<EdgeRule> {
        let fields = self.object(at, value, EDGE_FIELDS)?;
        let name = fields.get("relationship_name");
        let name = name.map(|value| self.identifier(&at.field("relationship_name"), value));
        let from = self.named_node(at, fields, "from", nodes);
        let to = self.named_node(at, fields, "to", nodes);
        let (own_for_each, own_scope) = self.for_each(at, fields);
        let is_own_read = own_for_each.is_some() || !fields.contains_key("for_each");
        let mut elements =
            if is_own_read { Elements::Over(own_for_each.clone()) } else { Elements::Unread };
        for (end, node) in [("from", &from), ("to", &to)] {
            elements = self.with_node(at, end, node, elements, nodes);
        }
        let (for_each, scope) = match elements {
            Elements::Unread => (None, Scope::UNREAD),
            Elements::Over(for_each) => {
                let scope = for_each.as_ref().map_or(own_scope, |it| Scope::inside(Some(it)));
                (for_each, scope)
            }
        };
        let from = self.endpoint(at, fields, "from", from, scope);
        let to = self.endpoint(at, fields, "to", to, scope);
        let when = self.condition(at, fields, "when", scope);
        let edge_id = fields.get("edge_id");
        let edge_id =
            edge_id.and_then(|value| self.template(&at.field("edge_id"), value, scope.innermost()));
        let properties = at.field("property_fields");
        let property_fields = fields.get("property_fields");
        let property_fields =
            property_fields.map(|value| self.properties(&properties, value, scope));
        let property_fields = property_fields.unwrap_or_default();
        self.distinct_names(&[(properties, &property_fields)]);
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

    /// The node of the plan that an end of an edge names.
    fn named_node(&mut self, at: &Place, fields: &Fields, end: &str, nodes: &Nodes) -> Named {
        let here = at.field(end);
        match fields.get(end) {
            Some(Value::Object(_)) => Named::External,
            Some(value @ Value::String(_)) => {
                let name = self.identifier(&here, value);
                if name.is_empty() {
                    return Named::Unread;
                }
                match nodes.named(&name).as_slice() {
                    [index] => return Named::Node(*index),
                    [] if nodes.are_named() => {
                        let message = unknown_node(&name, nodes);
                        self.note(Code::UnknownNode, &here, message);
                    }
                    [] => {}
                    [first, second, ..] => {
                        let message = format!(
                            "expected the name of one node, found {}, which nodes[{first}] and \
                             nodes[{second}] have; give each a \"name\"",
                            quoted(&name)
                        );
                        self.note(Code::DuplicateNodeName, &here, message);
                    }
                }
                Named::Unread
            }
            Some(value) => {
                self.wrong_type(&here, "the name of a node, or an object", value);
                Named::Unread
            }
            None => Named::Unread,
        }
    }

    /// What the edge goes over, given the node that one of its ends names.
    fn with_node(
        &mut self,
        at: &Place,
        end: &str,
        named: &Named,
        elements: Elements,
        nodes: &Nodes,
    ) -> Elements {
        let node = match named {
            Named::External => return elements,
            Named::Unread => return Elements::Unread,
            Named::Node(index) => *index,
        };
        let (Some(rule), Some(scope)) = (nodes.rules.get(node), nodes.scopes.get(node)) else {
            return Elements::Unread;
        };
        let Elements::Over(over) = elements else { return Elements::Unread };
        if scope.is_unread() {
            return Elements::Unread;
        }
        match (over, rule.for_each.as_ref()) {
            (over, None) => Elements::Over(over),
            (None, Some(inner)) => Elements::Over(Some(inner.clone())),
            (Some(over), Some(inner)) if inner.is_within(&over) => {
                Elements::Over(Some(inner.clone()))
            }
            (Some(over), Some(inner)) if over.is_within(inner) => Elements::Over(Some(over)),
            _ => {
                let message = format!(
                    "expected a node for the elements that the edge goes over, or for those around \
                     or inside of them, found {}, which goes over others",
                    quoted(rule.name())
                );
                self.note(Code::ForEachMismatch, &at.field(end), message);
                Elements::Unread
            }
        }
    }

    fn endpoint(
        &mut self,
        at: &Place,
        fields: &Fields,
        end: &str,
        named: Named,
        scope: Scope,
    ) -> Option<Endpoint> {
        match named {
            Named::Node(index) => Some(Endpoint::Node(index)),
            Named::Unread => None,
            Named::External => {
                let here = at.field(end);
                let fields = self.object(&here, fields.get(end)?, ENDPOINT_FIELDS)?;
                let entity = fields.get("entity_name");
                let entity_name =
                    entity.map(|value| self.identifier(&here.field("entity_name"), value));
                let keys = here.field("key_fields");
                let key_fields = fields.get("key_fields");
                let key_fields = key_fields.map(|value| self.key_list(&keys, value, scope))?;
                self.distinct_names(&[(keys, &key_fields)]);
                Some(Endpoint::External { entity_name: entity_name?, key_fields })
            }
        }
    }
}

/// What stands at an end of an edge.
enum Named {
    /// The node of the plan with this index.
    Node(usize),
    /// An object.
    External,
    /// Nothing that could be read.
    Unread,
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
    format!("expected the name of a node of the plan, found {}; {known}", quoted(name))
}
