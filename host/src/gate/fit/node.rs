//! One node of the plan.

use serde_json::Value;

use super::iterate;
use super::keys::{self, Keys};
use super::mapping::Mapping;
use super::misread;
use super::names::{self, Owner, propose};
use super::scope::Scopes;
use super::values::{self, Group};
use crate::diagnostics::finding::Finding;
use crate::graph::GraphSpec;
use crate::plan::expr::Level;
use crate::plan::{Form, Plan, innermost};

/// Its entity, key and properties; and where `has_samples`, its paths and the values there.
pub(super) fn check(
    plan: &Plan,
    index: usize,
    graph: &GraphSpec,
    scopes: &Scopes<'_>,
    written: &Value,
    has_samples: bool,
) -> Vec<Finding> {
    let Some(node) = plan.nodes().get(index) else { return Vec::new() };
    let Some(entity) = graph.entity(node.entity_name()) else {
        return vec![names::unknown_entity(plan, index, graph, &scopes.efforts().searches)];
    };
    let for_each = node.for_each();
    let mapping = |at: String, field, is_key| {
        let property = entity.property(crate::plan::FieldMapping::property_name(field));
        Mapping { at, field, property, is_key, for_each }
    };
    let keys = node.key_fields().iter().enumerate();
    let keys = keys.map(|(key, field)| mapping(plan.key_pointer(index, key), field, true));
    let properties = node.property_fields().iter().enumerate();
    let properties =
        properties.map(|(it, field)| mapping(plan.property_pointer(index, it), field, false));
    let mappings: Vec<Mapping<'_>> = keys.chain(properties).collect();

    let at = plan.node_pointer(index);
    let key = Keys {
        at: match plan.form() {
            Form::Short => "/key_field".to_owned(),
            Form::Long => format!("{at}/key_fields"),
        },
        form: plan.form(),
        mappings: &mappings,
        rest: Some(format!("{at}/property_fields")),
        entity,
        for_each,
        written,
    };
    let (mut findings, taken) = keys::check(&key, scopes);
    let owner = Owner { name: &entity.name, properties: &entity.properties };
    findings.extend(names::properties(&mappings, owner, &taken, scopes));
    if !has_samples {
        return findings;
    }
    let group = Group {
        mappings: &mappings,
        key_properties: entity.key_properties().collect(),
        owner: &entity.name,
        for_each,
        conditions: plan.when().into_iter().chain(node.when()).collect(),
    };
    let mut found = values::check(&group, scopes);
    if let Some(first) = found.through.first().map(|it| it.finding) {
        let added = iterate::added(plan, index, &found.through, written);
        if let Some(finding) = found.findings.get_mut(first) {
            *finding = propose(finding.clone(), added);
        }
    }
    findings.extend(found.findings);
    for level in (0..=innermost(for_each).0).map(Level) {
        if let Some(known) = scopes.at(for_each, level) {
            findings.extend(misread::check(&mappings, &entity.name, level, known));
        }
    }
    findings
}
