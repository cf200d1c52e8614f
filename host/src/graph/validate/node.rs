//! Nodes: entity, id and keys.

use serde_json::Value;

use super::id::{KeyValue, Located, PairMatch, compare, is_canonical, locate, text_of};
use super::{FailureScope, ReportedIds, SharedId, Validator};
use crate::diagnostics::codes::{self, Code};
use crate::diagnostics::untrusted::quoted;
use crate::graph::described;
use crate::graph::extraction::Node;
use crate::graph::spec::{Entity, PropertySpec};

const MISMATCH: (FailureScope, Code) = (FailureScope::Node, codes::KEY_MISMATCH);

/// What a node says of one of its keys.
enum Given<'a> {
    /// Nothing, null or empty text.
    Missing,
    /// One value.
    One(&'a Value),
    /// Different values, under both names or under one name twice.
    Several(&'a Value, &'a Value),
}

impl<'a> Validator<'a> {
    /// Checks a node. The entity comes back if the node's id is canonical.
    pub(super) fn node(&mut self, i: usize, node: &'a Node) -> Option<&'a Entity> {
        let id = SharedId::new(&node.node_id);
        let subject = ReportedIds { node: Some(&id), ..ReportedIds::default() };
        let Some(entity) = self.spec.entity(&node.entity_name) else {
            self.fail(
                (FailureScope::Node, codes::UNKNOWN_ENTITY),
                &subject,
                format!("nodes[{i}].entity_name"),
                "an entity of the graph",
                quoted(&node.entity_name),
            );
            return None;
        };
        if node.node_id.is_empty() {
            self.fail(
                (FailureScope::Node, codes::MISSING_NODE_ID),
                &subject,
                format!("nodes[{i}].node_id"),
                "the id of the node",
                "empty text",
            );
        }
        let canonical = self.keys(i, node, entity, &subject);
        self.properties(
            || format!("nodes[{i}]"),
            || format!("the entity {}", quoted(&entity.name)),
            (i, &node.properties),
            subject,
            |name| entity.property(name),
        );
        canonical.then_some(entity)
    }

    /// Checks the keys of a node, and its id by them. Whether the id is canonical.
    fn keys(&mut self, i: usize, node: &Node, entity: &Entity, subject: &ReportedIds<'_>) -> bool {
        let given: Vec<(&PropertySpec, Given<'_>)> =
            entity.key_properties().map(|key| (key, given(node, entity, key))).collect();
        for (key, _) in given.iter().filter(|(_, given)| matches!(given, Given::Missing)) {
            self.fail(
                (FailureScope::Node, codes::MISSING_KEY),
                subject,
                key_path(i, key),
                format!("a value for the key {}", quoted(&key.column)),
                "none",
            );
        }
        let values: Vec<KeyValue<'_>> = given
            .iter()
            .filter_map(|(property, given)| match given {
                Given::One(value) => Some(KeyValue { property, value }),
                Given::Missing | Given::Several(..) => None,
            })
            .collect();
        if values.len() == given.len() && is_canonical(&node.node_id, &entity.name, &values) {
            return true;
        }

        let names: Vec<&str> = entity
            .key_properties()
            .flat_map(|key| [key.column.as_str(), key.logical_name.as_str()])
            .collect();
        let is_entity = |name: &str| self.spec.entity(name).is_some();
        let located = locate(&node.node_id, &entity.name, &names, is_entity);
        if let Some(Located { entity: found, .. }) = located.filter(|l| l.entity != entity.name) {
            let expected = format!("the entity {}", quoted(&entity.name));
            self.fail(MISMATCH, subject, format!("nodes[{i}].node_id"), expected, quoted(found));
        }
        for (key, given) in &given {
            if let Some((expected, observed)) = contradiction(key, given, located) {
                self.fail(MISMATCH, subject, key_path(i, key), expected, observed);
            }
        }
        false
    }
}

/// How a key contradicts itself, or the id as far as that can be read: what was expected and what was found.
fn contradiction(
    key: &PropertySpec,
    given: &Given<'_>,
    located: Option<Located<'_>>,
) -> Option<(String, String)> {
    let column = quoted(&key.column);
    match given {
        Given::Missing => None,
        Given::Several(first, second) => Some((
            format!("one value for the key {column}"),
            format!("{} and {}", described(first), described(second)),
        )),
        Given::One(value) => match compare(located?.pairs, &key.column, value) {
            PairMatch::Absent | PairMatch::Equal => None,
            PairMatch::Different(found) => Some((
                format!("the id to hold {} for the key {column}", quoted(&text_of(value))),
                quoted(found),
            )),
        },
    }
}

fn given<'n>(node: &'n Node, entity: &Entity, key: &PropertySpec) -> Given<'n> {
    // A name may be the column of one property and the logical name of another.
    let means_key = |name: &str| {
        key.is_named(name) && entity.property(name).is_some_and(|found| std::ptr::eq(found, key))
    };
    let mut values = node
        .properties
        .iter()
        .filter(|given| means_key(&given.name))
        .map(|given| &given.value)
        .filter(|value| !value.is_null() && value.as_str() != Some(""));
    let Some(value) = values.next() else { return Given::Missing };
    match values.find(|other| *other != value) {
        Some(other) => Given::Several(value, other),
        None => Given::One(value),
    }
}

fn key_path(i: usize, key: &PropertySpec) -> String {
    format!("nodes[{i}].properties.<key:{}>", key.column)
}
