//! Edges: relationship and endpoints.

use super::id::{has_value, locate};
use super::{FailureScope, ReportedIds, SharedId, Validator};
use crate::diagnostics::codes;
use crate::diagnostics::untrusted::quoted;
use crate::graph::extraction::Edge;
use crate::graph::spec::{EndpointColumn, Entity, GraphSpec, Relationship};

/// What a relationship declares of one of its ends.
pub(crate) struct EndSpec<'a> {
    /// The entity of the nodes there.
    pub(crate) entity_name: &'a str,
    columns: &'a [EndpointColumn],
}

impl<'a> EndSpec<'a> {
    /// That which edges leave, and that which they enter.
    pub(crate) fn of(relationship: &'a Relationship) -> [Self; 2] {
        let Relationship { from_entity, from_columns, to_entity, to_columns, .. } = relationship;
        [(from_entity, from_columns), (to_entity, to_columns)]
            .map(|(entity_name, columns)| Self { entity_name, columns })
    }

    /// For each column, the names under which an id may hold the key that it refers to.
    pub(crate) fn names(&self, spec: &'a GraphSpec) -> Vec<Vec<&'a str>> {
        let entity = spec.entity(self.entity_name);
        self.columns.iter().map(|column| key_names(column, entity)).collect()
    }

    /// Whether an entity has a key of these names.
    pub(crate) fn is_key(names: &[&str], entity: &Entity) -> bool {
        entity.key_properties().any(|key| names.iter().any(|name| key.is_named(name)))
    }
}

impl<'a> Validator<'a> {
    pub(super) fn edge(&mut self, i: usize, edge: &Edge) {
        let id = SharedId::new(&edge.edge_id);
        let subject = ReportedIds { edge: Some(&id), ..ReportedIds::default() };
        let Some(relationship) = self.spec.relationship(&edge.relationship_name) else {
            self.fail(
                (FailureScope::Edge, codes::UNKNOWN_RELATIONSHIP),
                &subject,
                format!("edges[{i}].relationship_name"),
                "a relationship of the graph",
                quoted(&edge.relationship_name),
            );
            return;
        };
        let [from, to] = EndSpec::of(relationship);
        self.endpoint(&format!("edges[{i}].from_node_id"), &edge.from_node_id, &from, &subject);
        self.endpoint(&format!("edges[{i}].to_node_id"), &edge.to_node_id, &to, &subject);
        self.properties(
            || format!("edges[{i}]"),
            || format!("the relationship {}", quoted(&relationship.name)),
            (i, &edge.properties),
            subject,
            |name| relationship.property(name),
        );
    }

    fn endpoint(
        &mut self,
        path: &str,
        node_id: &str,
        end: &EndSpec<'_>,
        subject: &ReportedIds<'_>,
    ) {
        let indexed = self.nodes.get(node_id).copied();
        if indexed.is_none() && (node_id.is_empty() || !self.options.allow_external_endpoints) {
            self.fail(
                (FailureScope::Edge, codes::UNRESOLVED_ENDPOINT),
                subject,
                path.to_owned(),
                "the id of a node of the result",
                quoted(node_id),
            );
            return;
        }
        let names = end.names(self.spec);
        let all: Vec<&str> = names.iter().flatten().copied().collect();
        let canonical = indexed.and_then(|node| node.canonical);
        let located = if canonical.is_some() {
            None
        } else {
            let expected = indexed.map_or(end.entity_name, |node| node.entity_name);
            locate(node_id, expected, &all, |name| self.spec.entity(name).is_some())
        };

        let observed =
            indexed.map(|node| node.entity_name).or(located.map(|located| located.entity));
        if let Some(observed) = observed.filter(|observed| *observed != end.entity_name) {
            self.fail(
                (FailureScope::Edge, codes::WRONG_ENDPOINT_ENTITY),
                subject,
                path.to_owned(),
                format!("a node of the entity {}", quoted(end.entity_name)),
                format!("one of {}", quoted(observed)),
            );
        }
        let id = SharedId::new(node_id);
        for (column, names) in end.columns.iter().zip(&names) {
            let present = match canonical {
                Some(entity) => EndSpec::is_key(names, entity),
                None => located.is_some_and(|found| has_value(found.pairs, names, &all)),
            };
            if !present {
                self.fail(
                    (FailureScope::Edge, codes::MISSING_ENDPOINT_KEY),
                    &ReportedIds { node: Some(&id), ..*subject },
                    format!("{path}.<key:{}>", column.key()),
                    format!("the key {} in the endpoint's id", quoted(column.key())),
                    format!("none in {}", quoted(node_id)),
                );
            }
        }
    }
}

/// The names under which an id may hold the key that a column refers to.
fn key_names<'s>(column: &'s EndpointColumn, entity: Option<&'s Entity>) -> Vec<&'s str> {
    let key = column.key();
    match entity.and_then(|entity| entity.by_column(key)) {
        Some(property) if property.logical_name != key => vec![key, &property.logical_name],
        _ => vec![key],
    }
}
