//! One edge of the plan.

use json_patch::Patch;

use super::key::Keys;
use super::name::Owner;
use super::values::Group;
use super::{Checks, listed};
use crate::diagnostics::codes::{UNKNOWN_RELATIONSHIP, WRONG_ENDPOINT};
use crate::diagnostics::finding::{Finding, patch};
use crate::diagnostics::problem::Stage;
use crate::diagnostics::untrusted::quoted;
use crate::evidence::similarity::ranking::{Likely, best, first_of, only};
use crate::evidence::similarity::spelling;
use crate::gate::fit::mapping::Mapping;
use crate::gate::fit::suggest::likely_entity;
use crate::graph::spec::{Entity, Relationship};
use crate::plan::expr::Condition;
use crate::plan::{EdgeRule, Endpoint, FieldMapping, Form, NodeRule};

impl Checks<'_, '_> {
    /// Its relationship, ends and properties; and where there are samples, its paths and the values there.
    pub(in crate::gate::fit) fn edge(&self, index: usize) -> Vec<Finding> {
        let Some(edge) = self.plan.edges().get(index) else { return Vec::new() };
        let at = self.plan.edge_pointer(index);
        let mut findings = Vec::new();
        let relationship = self.graph.relationship(edge.relationship_name());
        match relationship {
            None => findings.push(self.unknown_relationship(&at, edge)),
            Some(relationship) => findings.extend(self.ends(&at, edge, relationship)),
        }
        for (end, endpoint) in [("from", edge.from()), ("to", edge.to())] {
            if let Endpoint::External { entity_name, key_fields } = endpoint {
                let at = format!("{at}/{end}");
                findings.extend(self.external(&at, edge, entity_name, key_fields));
            }
        }
        let Some(relationship) = relationship else { return findings };
        let all = &relationship.properties;
        let mappings = Mapping::all(edge.property_fields(), all, false, edge.for_each(), |place| {
            format!("{at}/property_fields/{place}")
        });
        let owner = Owner { name: &relationship.name, properties: &relationship.properties };
        findings.extend(self.properties(&mappings, owner, &[]));
        findings.extend(self.edge_values(edge, &mappings, None));
        findings
    }

    /// An end that some other event describes: its entity and its key.
    fn external(
        &self,
        at: &str,
        edge: &EdgeRule,
        entity_name: &str,
        key_fields: &[FieldMapping],
    ) -> Vec<Finding> {
        let Some(entity) = self.graph.entity(entity_name) else {
            let at = format!("{at}/entity_name");
            let key = key_fields.first().map(FieldMapping::property_name);
            let likely = likely_entity(Some(entity_name), key, &[], self.graph, self.searches());
            let renamed = likely.map(|it| it.map(|it| &it.name).replacing(&at));
            return vec![self.unknown_entity(&at, entity_name).suggesting(renamed)];
        };
        let at = format!("{at}/key_fields");
        let all = &entity.properties;
        let mappings =
            Mapping::all(key_fields, all, true, edge.for_each(), |place| format!("{at}/{place}"));
        let keys = Keys {
            checks: *self,
            at: at.clone(),
            form: Form::Long,
            mappings: &mappings,
            rest: None,
            entity,
            for_each: edge.for_each(),
        };
        let (mut findings, _) = keys.check();
        findings.extend(self.edge_values(edge, &mappings, Some(entity)));
        findings
    }

    /// The values of an end's key, or of the edge's properties. Nothing is computed where a condition of the edge, or of
    /// a node that it names, doesn't hold.
    fn edge_values(
        &self,
        edge: &EdgeRule,
        mappings: &[Mapping<'_>],
        entity: Option<&Entity>,
    ) -> Vec<Finding> {
        if !self.has_samples {
            return Vec::new();
        }
        let nodes = [edge.from(), edge.to()].into_iter().filter_map(|end| self.node_at(end));
        let conditions: Vec<&Condition> = self
            .plan
            .when()
            .into_iter()
            .chain(edge.when())
            .chain(nodes.filter_map(NodeRule::when))
            .collect();
        let group = Group {
            mappings,
            key_properties: entity.into_iter().flat_map(Entity::key_properties).collect(),
            owner: entity.map_or("", |entity| &entity.name),
            for_each: edge.for_each(),
            conditions,
        };
        group.check(self.scopes).findings
    }

    fn node_at(&self, end: &Endpoint) -> Option<&NodeRule> {
        match end {
            Endpoint::Node(node) => self.plan.nodes().get(*node),
            Endpoint::External { .. } => None,
        }
    }

    /// The entity of an end, where the graph has it: what follows from an unknown one isn't said.
    fn entity_of(&self, end: &Endpoint) -> Option<&str> {
        let name = match end {
            Endpoint::Node(_) => self.node_at(end)?.entity_name(),
            Endpoint::External { entity_name, .. } => entity_name,
        };
        self.graph.entity(name).map(|entity| entity.name.as_str())
    }

    fn unknown_relationship(&self, at: &str, edge: &EdgeRule) -> Finding {
        let found = edge.relationship_name();
        let at = format!("{at}/relationship_name");
        let names = listed(self.graph.relationships().iter().map(|it| it.name.as_str()));
        let expected = format!("a relationship of the graph: {names}");
        let finding = Finding::new(Stage::Fit, UNKNOWN_RELATIONSHIP, &at, expected, quoted(found));
        let joins = |it: &&Relationship| {
            self.entity_of(edge.from()).is_none_or(|from| from == it.from_entity)
                && self.entity_of(edge.to()).is_none_or(|to| to == it.to_entity)
        };
        let joining: Vec<&Relationship> = self.graph.relationships().iter().filter(joins).collect();
        let effort = self.searches();
        let alike = |it: &&Relationship| spelling::names_or_short_forms(found, &it.name, effort);
        let nearest = effort.whole(best(joining.iter().map(|it| (alike(it), *it))));
        let likely = match (nearest, joining.as_slice()) {
            (Some(nearest), _) if nearest.is_clear_typo() => Some(Likely::new(nearest.item, true)),
            (_, [only]) => Some(Likely::new(*only, false)),
            _ => None,
        };
        finding.suggesting(likely.map(|it| it.map(|it| &it.name).replacing(&at)))
    }

    /// Ends of other entities than the relationship joins.
    fn ends(&self, at: &str, edge: &EdgeRule, relationship: &Relationship) -> Vec<Finding> {
        let Relationship { from_entity, to_entity, .. } = relationship;
        let (from, to) = (self.entity_of(edge.from()), self.entity_of(edge.to()));
        let is_wrong = |entity: Option<&str>, wanted: &str| entity.is_some_and(|it| it != wanted);
        let wrong = (is_wrong(from, from_entity), is_wrong(to, to_entity));
        let finding = |end: &str, wanted: &str, found: Option<&str>| {
            let expected = format!(
                "a node of {}, which {} has at this end",
                quoted(wanted),
                quoted(&relationship.name)
            );
            let observed = format!("one of {}", quoted(found.unwrap_or_default()));
            Finding::new(Stage::Fit, WRONG_ENDPOINT, format!("{at}/{end}"), expected, observed)
        };
        if wrong.0 && from == Some(to_entity) && to == Some(from_entity) {
            return vec![finding("from", from_entity, from).with_fix(swapped(at))];
        }
        let mut findings = Vec::new();
        for (end, endpoint, is_wrong, wanted) in
            [("from", edge.from(), wrong.0, from_entity), ("to", edge.to(), wrong.1, to_entity)]
        {
            if is_wrong {
                let finding = finding(end, wanted, self.entity_of(endpoint));
                findings.push(finding.suggesting(self.meant(at, end, edge, wanted)));
            }
        }
        findings
    }

    /// What is meant in place of an end of another entity: the one node of the right one; the entity of an end that some other
    /// event describes, by its key; or the one relationship that joins what the edge does. Certain where it gives an edge
    /// that no other edge of the plan is, and nothing else does.
    fn meant(&self, at: &str, end: &str, edge: &EdgeRule, wanted: &str) -> Option<Likely<Patch>> {
        let nodes = self.plan.nodes().iter();
        let of_entity = only(nodes.filter(|it| it.entity_name() == wanted));
        let endpoint = if end == "from" { edge.from() } else { edge.to() };
        let ends = (self.entity_of(edge.from()), self.entity_of(edge.to()));
        let fixed = if end == "from" { (Some(wanted), ends.1) } else { (ends.0, Some(wanted)) };
        let mut meant: Vec<Patch> = Vec::new();
        if let Endpoint::External { key_fields, .. } = endpoint {
            let declared = self.graph.entity(wanted)?;
            let is_key = |it: &FieldMapping| {
                declared.key_properties().any(|key| key.is_named(it.property_name()))
            };
            if key_fields.iter().all(is_key) {
                meant.push(patch::replace(&format!("{at}/{end}/entity_name"), wanted));
            }
        } else if let Some(node) = of_entity
            && !self.is_there(edge, edge.relationship_name(), fixed)
        {
            meant.push(patch::replace(&format!("{at}/{end}"), node.name()));
        }
        let joins = |it: &&Relationship| {
            Some(it.from_entity.as_str()) == ends.0 && Some(it.to_entity.as_str()) == ends.1
        };
        let joining = self.graph.relationships().iter().filter(joins);
        let joining = joining.filter(|it| !self.is_there(edge, &it.name, ends));
        meant
            .extend(joining.map(|it| patch::replace(&format!("{at}/relationship_name"), &it.name)));
        first_of(meant.into_iter())
    }

    /// Whether another edge of the plan has this relationship between these entities.
    fn is_there(&self, edge: &EdgeRule, name: &str, ends: (Option<&str>, Option<&str>)) -> bool {
        let others = self.plan.edges().iter().filter(|it| !std::ptr::eq(*it, edge));
        let same = |it: &EdgeRule| {
            it.relationship_name() == name
                && (self.entity_of(it.from()), self.entity_of(it.to())) == ends
        };
        others.into_iter().any(same)
    }
}

/// What turns an edge around.
fn swapped(at: &str) -> Patch {
    let [from, to, aside] = ["from", "to", "aside"].map(|name| format!("{at}/{name}"));
    let there = patch::both(patch::rename(&from, &aside), patch::rename(&to, &from));
    patch::both(there, patch::rename(&aside, &to))
}
