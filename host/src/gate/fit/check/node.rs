//! One node of the plan.

use super::Checks;
use super::key::Keys;
use super::name::Owner;
use super::values::Group;
use crate::diagnostics::finding::Finding;
use crate::gate::fit::mapping::Mapping;
use crate::gate::fit::suggest::added_for_each;
use crate::plan::Form;

impl Checks<'_, '_> {
    /// Its entity, key and properties; and where there are samples, its paths and the values there.
    pub(in crate::gate::fit) fn node(&self, index: usize) -> Vec<Finding> {
        let Some(node) = self.plan.nodes().get(index) else { return Vec::new() };
        let Some(entity) = self.graph.entity(node.entity_name()) else {
            return vec![self.node_entity(index, node)];
        };
        let for_each = node.for_each();
        let all = &entity.properties;
        let mut mappings = Mapping::all(node.key_fields(), all, true, for_each, |key| {
            self.plan.key_pointer(index, key)
        });
        mappings.extend(Mapping::all(node.property_fields(), all, false, for_each, |other| {
            self.plan.property_pointer(index, other)
        }));

        let at = self.plan.node_pointer(index);
        let keys = Keys {
            checks: *self,
            at: match self.plan.form() {
                Form::Short => "/key_field".to_owned(),
                Form::Long => format!("{at}/key_fields"),
            },
            form: self.plan.form(),
            mappings: &mappings,
            rest: Some(format!("{at}/property_fields")),
            entity,
            for_each,
        };
        let (mut findings, taken) = keys.check();
        let owner = Owner { name: &entity.name, properties: &entity.properties };
        findings.extend(self.properties(&mappings, owner, &taken));
        if !self.has_samples {
            return findings;
        }
        let group = Group {
            mappings: &mappings,
            key_properties: entity.key_properties().collect(),
            owner: &entity.name,
            for_each,
            conditions: self.plan.when().into_iter().chain(node.when()).collect(),
        };
        let mut values = group.check(self.scopes);
        if let Some(first) = values.through.first().map(|it| it.finding)
            && let Some(finding) = values.findings.get_mut(first)
        {
            let added = added_for_each(self.plan, index, &values.through, self.written);
            *finding = finding.clone().suggesting(added);
        }
        findings.extend(values.findings);
        for (level, search) in group.searches(self.scopes) {
            findings.extend(super::misread::check(&mappings, &entity.name, level, &search));
        }
        findings
    }
}
