//! Entities and properties: the names of a plan against those of the graph spec.

use std::collections::HashSet;

use super::{Checks, listed};
use crate::diagnostics::codes::{UNKNOWN_ENTITY, UNKNOWN_PROPERTY};
use crate::diagnostics::finding::{Finding, patch};
use crate::diagnostics::problem::Stage;
use crate::diagnostics::untrusted::quoted;
use crate::evidence::similarity::ranking::Likely;
use crate::gate::fit::mapping::Mapping;
use crate::gate::fit::suggest::{called, is_half, likely_entity, likely_property};
use crate::graph::spec::{Properties, PropertySpec};
use crate::plan::{Endpoint, Form, NodeRule};

/// What has properties: an entity or a relationship.
#[derive(Clone, Copy)]
pub(super) struct Owner<'g> {
    pub(super) name: &'g str,
    pub(super) properties: &'g Properties,
}

impl Checks<'_, '_> {
    /// A node of an entity that there isn't.
    pub(super) fn node_entity(&self, index: usize, node: &NodeRule) -> Finding {
        let at = match self.plan.form() {
            Form::Short => "/target_entity_name".to_owned(),
            Form::Long => format!("{}/entity_name", self.plan.node_pointer(index)),
        };
        let found = node.entity_name();
        let properties: Vec<&str> =
            node.property_fields().iter().map(|it| it.property_name()).collect();
        let key = node.key_fields().first().map(|it| it.property_name());
        let likely = likely_entity(Some(found), key, &properties, self.graph, self.searches());
        let renamed = likely.map(|likely| {
            let name = &likely.item.name;
            let is_taken = self.plan.nodes().iter().any(|it| it.name() == name);
            // Where edges call the node by its entity's name, they do so again.
            let edges = if node.name() == found { self.named_by(index) } else { Vec::new() };
            let places = std::iter::once(&at).chain(&edges);
            let renamed = places.map(|at| patch::replace(at, name)).reduce(patch::both);
            likely.map(|_| renamed.unwrap_or_default()).only_if(!is_taken)
        });
        self.unknown_entity(&at, found).suggesting(renamed)
    }

    /// That the graph has no entity of this name.
    pub(super) fn unknown_entity(&self, at: &str, found: &str) -> Finding {
        let names = listed(self.graph.entities().iter().map(|it| it.name.as_str()));
        let expected = format!("an entity of the graph: {names}");
        Finding::new(Stage::Fit, UNKNOWN_ENTITY, at, expected, quoted(found))
    }

    /// Where edges name a node.
    fn named_by(&self, node: usize) -> Vec<String> {
        let edges = self.plan.edges().iter().enumerate();
        let ends = edges.flat_map(|(index, edge)| {
            [("from", edge.from()), ("to", edge.to())].map(|(end, it)| (index, end, it))
        });
        let named = ends.filter(|(.., it)| **it == Endpoint::Node(node));
        named.map(|(index, end, _)| format!("{}/{end}", self.plan.edge_pointer(index))).collect()
    }

    /// Every property, the keys apart, has to be one of the owner's. `taken` are those that mappings of the key are meant for.
    pub(super) fn properties(
        &self,
        mappings: &[Mapping<'_>],
        owner: Owner<'_>,
        taken: &[&PropertySpec],
    ) -> Vec<Finding> {
        let mapped = mappings.iter().filter_map(|it| it.property).chain(taken.iter().copied());
        let mapped: HashSet<*const PropertySpec> = mapped.map(std::ptr::from_ref).collect();
        let is_free = |property: &&PropertySpec| !mapped.contains(&std::ptr::from_ref(*property));
        let found = mappings.iter().filter(|it| it.property.is_some()).count();
        let is_about_owner = is_half(found, mappings.len());
        let free: Vec<&PropertySpec> = owner.properties.iter().filter(is_free).collect();
        let unknown = mappings.iter().filter(|it| !it.is_key && it.property.is_none());
        let finding = |mapping: &Mapping<'_>| {
            let at = format!("{}/property_name", mapping.at);
            let names = listed(owner.properties.iter().map(|it| it.logical_name.as_str()));
            let expected = format!("a property of {}: {names}", quoted(owner.name));
            let name = mapping.name();
            let finding = Finding::new(Stage::Fit, UNKNOWN_PROPERTY, &at, expected, quoted(name));
            let known = self.scopes.of(mapping).unwrap_or(self.scopes.event());
            let likely = likely_property(Some(name), mapping.path(), &free, known);
            let renamed =
                likely.map(|it| it.map(|it| called(it, name, self.searches())).replacing(&at));
            // The owner can't hold it; but where it holds little of what the plan reads, it may not be the one meant. An
            // unfinished search that found nothing proves nothing.
            let removed = || Likely::new(patch::remove(&mapping.at), is_about_owner);
            let is_done = !self.searches().is_over();
            finding.suggesting(renamed.or_else(|| is_done.then(removed)))
        };
        unknown.map(finding).collect()
    }
}
