//! Nodes, and the names that edges have for them.

use std::collections::BTreeMap;

use super::for_each::for_each;
use super::mapping::{distinct_names, key_fields, placed_keys, properties};
use crate::diagnostics::codes;
use crate::diagnostics::untrusted::quoted;
use crate::plan::language::{LocatedValue, ObjectKind, PathScope};
use crate::plan::model::NodeRule;

/// The nodes of a plan as they were read.
#[derive(Default)]
pub(super) struct Nodes {
    pub(super) rules: Vec<NodeRule>,
    /// Where paths start inside of each.
    pub(super) scopes: Vec<PathScope>,
}

impl Nodes {
    /// One node.
    pub(super) fn of(rule: NodeRule, scope: PathScope) -> Self {
        Self { rules: vec![rule], scopes: vec![scope] }
    }

    /// The indices of the nodes that are called so.
    pub(super) fn named(&self, name: &str) -> Vec<usize> {
        let rules = self.rules.iter().enumerate();
        rules.filter(|(_, rule)| rule.name() == name).map(|(index, _)| index).collect()
    }

    /// Whether every node has a name that could be read.
    pub(super) fn are_named(&self) -> bool {
        self.rules.iter().all(|rule| !rule.name().is_empty())
    }
}

/// The nodes of a plan in the long form: at least so many.
pub(super) fn nodes(written: &LocatedValue<'_>, least: usize) -> Nodes {
    let (_, most) = written.field.entries;
    let (rules, scopes) = written.items_within((least, most)).map(|item| node(&item)).unzip();
    let nodes = Nodes { rules, scopes };
    distinct_node_names(written, &nodes.rules);
    nodes
}

fn node(written: &LocatedValue<'_>) -> (NodeRule, PathScope) {
    let Some(object) = written.object(ObjectKind::Node.table()) else {
        return (unread_node(), PathScope::UNREAD);
    };
    let entity_name = object.get("entity_name").map(|it| it.identifier());
    let name = object.get("name").map(|it| it.identifier());
    let (for_each, scope) = for_each(&object);
    let rule = NodeRule {
        entity_name: entity_name.unwrap_or_default(),
        name,
        for_each,
        when: object.condition("when", scope),
        key_fields: key_fields(&object, scope).unwrap_or_default(),
        property_fields: properties(&object, scope),
    };
    distinct_names(&object, placed_keys(&object, &rule.key_fields), &rule.property_fields);
    (rule, scope)
}

/// Notes the names that are given to a node and are those of another one. Nodes that aren't given any may share that of
/// their entity: it only matters where an edge uses it.
fn distinct_node_names(list: &LocatedValue<'_>, nodes: &[NodeRule]) {
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
            let (named, other) = if is_given { (index, owner) } else { (owner, index) };
            let observed = format!("{}, as in {}", quoted(name), list.at.item(other).path());
            let at = list.at.item(named).field("name");
            let expected = "a name that no other node has".to_owned();
            list.context.note(codes::DUPLICATE_NODE_NAME, &at, expected, observed);
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
