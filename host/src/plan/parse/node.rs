//! Nodes, and the names that edges have for them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::error::{Place, PlanParseErrorCode as Code};
use super::super::model::NodeRule;
use super::fields::NODE_FIELDS;
use super::for_each::Scope;
use super::reader::{MAX_ENTRIES, Reader};
use crate::diagnostics::untrusted::quoted;

/// The nodes of a plan as they were read.
#[derive(Default)]
pub(super) struct Nodes {
    pub(super) rules: Vec<NodeRule>,
    /// Where paths start inside of each.
    pub(super) scopes: Vec<Scope>,
}

impl Nodes {
    /// One node.
    pub(super) fn of(rule: NodeRule, scope: Scope) -> Self {
        Self { rules: vec![rule], scopes: vec![scope] }
    }

    /// The places of the nodes that are called so.
    pub(super) fn named(&self, name: &str) -> Vec<usize> {
        let rules = self.rules.iter().enumerate();
        rules.filter(|(_, rule)| rule.name() == name).map(|(index, _)| index).collect()
    }

    /// Whether every node has a name that could be read.
    pub(super) fn are_named(&self) -> bool {
        self.rules.iter().all(|rule| !rule.name().is_empty())
    }

    fn push(&mut self, rule: NodeRule, scope: Scope) {
        self.rules.push(rule);
        self.scopes.push(scope);
    }
}

impl Reader {
    /// The nodes of a plan in the long form.
    pub(super) fn nodes(&mut self, at: &Place, value: &Value, least: usize) -> Nodes {
        let mut nodes = Nodes::default();
        let items = self.items(at, value, "an array of objects", (least, MAX_ENTRIES));
        for (index, item) in items.iter().enumerate() {
            let (rule, scope) = self.node(&at.item(index), item);
            nodes.push(rule, scope);
        }
        self.distinct_node_names(at, &nodes.rules);
        nodes
    }

    fn node(&mut self, at: &Place, value: &Value) -> (NodeRule, Scope) {
        let Some(fields) = self.object(at, value, NODE_FIELDS) else {
            return (unread_node(), Scope::UNREAD);
        };
        let mut identifier =
            |name: &str| fields.get(name).map(|value| self.identifier(&at.field(name), value));
        let (entity_name, name) = (identifier("entity_name"), identifier("name"));
        let (for_each, scope) = self.for_each(at, fields);
        let when = self.condition(at, fields, "when", scope);
        let keys = at.field("key_fields");
        let key_fields = fields.get("key_fields").map(|value| self.key_list(&keys, value, scope));
        let properties = at.field("property_fields");
        let property_fields = fields.get("property_fields");
        let property_fields =
            property_fields.map(|value| self.properties(&properties, value, scope));
        let rule = NodeRule {
            entity_name: entity_name.unwrap_or_default(),
            name,
            for_each,
            when,
            key_fields: key_fields.unwrap_or_default(),
            property_fields: property_fields.unwrap_or_default(),
        };
        self.distinct_names(&[(keys, &rule.key_fields), (properties, &rule.property_fields)]);
        (rule, scope)
    }

    /// Notes the names that are given to a node and are those of another one. Nodes that aren't given any may share
    /// that of their entity: it only matters where an edge uses it.
    fn distinct_node_names(&mut self, at: &Place, nodes: &[NodeRule]) {
        let mut owners: BTreeMap<&str, (usize, bool)> = BTreeMap::new();
        for (index, node) in nodes.iter().enumerate() {
            let (name, is_given) = (node.name(), node.name.is_some());
            if name.is_empty() {
                continue;
            }
            let Some((owner, is_owner_given)) = owners.get(name).copied() else {
                owners.insert(name, (index, is_given));
                continue;
            };
            if is_given || is_owner_given {
                let named = if is_given { index } else { owner };
                let other = if is_given { owner } else { index };
                let message = format!(
                    "expected a name that no other node has, found {}, as in {}",
                    quoted(name),
                    at.item(other).path()
                );
                self.note(Code::DuplicateNodeName, &at.item(named).field("name"), message);
            }
        }
    }
}

pub(super) fn unread_node() -> NodeRule {
    NodeRule {
        entity_name: String::new(),
        name: None,
        for_each: None,
        when: None,
        key_fields: Vec::new(),
        property_fields: Vec::new(),
    }
}
