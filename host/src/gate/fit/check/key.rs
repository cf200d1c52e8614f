//! Keys: those of a plan's nodes against those of the graph's entities, in their order.

use json_patch::Patch;
use serde_json::{Value, json};

use super::{Checks, listed};
use crate::diagnostics::codes::{COMPOSITE_KEY, WRONG_KEY};
use crate::diagnostics::finding::{Finding, patch};
use crate::diagnostics::problem::Stage;
use crate::diagnostics::untrusted::quoted;
use crate::evidence::similarity::ranking::Likely;
use crate::gate::fit::mapping::Mapping;
use crate::gate::fit::suggest::{called, has_list, in_long_form, means_key, missing_key};
use crate::graph::spec::{Entity, PropertySpec};
use crate::plan::Form;
use crate::plan::expr::ForEach;

/// A key of a plan, and what may be moved into it.
pub(super) struct Keys<'a, 't> {
    pub(super) checks: Checks<'a, 't>,
    /// Pointer to the list; in the short form, to the key.
    pub(super) at: String,
    pub(super) form: Form,
    pub(super) mappings: &'a [Mapping<'a>],
    /// Pointer to the list of the other properties, where there are any.
    pub(super) rest: Option<String>,
    pub(super) entity: &'a Entity,
    pub(super) for_each: Option<&'a ForEach>,
}

impl<'a> Keys<'a, '_> {
    /// What is wrong with a key, and the entity's properties that it was meant for.
    pub(super) fn check(&self) -> (Vec<Finding>, Vec<&'a PropertySpec>) {
        let wanted: Vec<&PropertySpec> = self.entity.key_properties().collect();
        let stated: Vec<&Mapping<'_>> = self.mappings.iter().filter(|it| it.is_key).collect();
        let has = |key: &&PropertySpec| stated.iter().any(|it| it.is_of(key));
        let is_complete = stated.len() == wanted.len() && wanted.iter().all(has);
        let is_in_order =
            is_complete && stated.iter().zip(&wanted).all(|(stated, key)| stated.is_of(key));
        if wanted.is_empty() || is_in_order {
            return (Vec::new(), Vec::new());
        }
        let findings = match (wanted.as_slice(), stated.as_slice()) {
            ([key], [stated]) => vec![self.wrong(stated, key)],
            (_, [stated]) if self.form == Form::Short => vec![self.composite(stated, &wanted)],
            _ if is_complete => vec![self.out_of_order(&stated, &wanted)],
            _ => self.differing(&stated, &wanted),
        };
        (findings, wanted)
    }

    /// A key of one property that is another than the entity's.
    fn wrong(&self, stated: &Mapping<'_>, key: &PropertySpec) -> Finding {
        let written = self.checks.written;
        let name = stated.name();
        let at = format!("{}/property_name", stated.at);
        let expected = format!("the entity's key {}", quoted(&key.logical_name));
        let finding = Finding::new(Stage::Fit, WRONG_KEY, &at, expected, quoted(name));
        if let Some(elsewhere) = self.mapped_elsewhere(key) {
            let to_key = elsewhere.written_for(elsewhere.name(), true, written);
            let to_key = patch::replace(&stated.at, to_key);
            let rest = match stated.property {
                Some(_) => patch::replace(&elsewhere.at, stated.written_for(name, false, written)),
                None => patch::remove(&elsewhere.at),
            };
            return finding.with_fix(patch::both(to_key, rest));
        }
        if stated.property.is_some()
            && stated.reads_its_name(stated.path())
            && let Some(mapping) = self.missing(key)
            && let Some(rest) = &self.rest
        {
            // Name and path belong together; it is the key that is missing.
            let rest = patch::add(&format!("{rest}/-"), stated.written_for(name, false, written));
            let to_key = |mapping| patch::both(patch::replace(&stated.at, mapping), rest);
            return finding.suggesting(Some(mapping.map(to_key)));
        }
        let effort = self.checks.searches();
        let renamed = patch::replace(&at, called(key, name, effort));
        let is_meant = means_key(name, stated.path(), self.entity, key, effort);
        finding.suggesting(Some(Likely::new(renamed, is_meant)))
    }

    /// The mapping of another property's place that is for a property of the key.
    fn mapped_elsewhere(&self, key: &PropertySpec) -> Option<&Mapping<'a>> {
        self.mappings.iter().find(|it| !it.is_key && it.is_of(key))
    }

    /// A mapping for a property of the key that there is none for.
    fn missing(&self, key: &PropertySpec) -> Option<Likely<Value>> {
        missing_key(key, self.entity, self.mappings, self.for_each, self.checks.scopes)
    }

    /// A short form for an entity whose key has several properties.
    fn composite(&self, stated: &Mapping<'_>, wanted: &[&PropertySpec]) -> Finding {
        let names = listed(wanted.iter().map(|key| key.logical_name.as_str()));
        let observed =
            format!("{}, which is identified by {names} together", quoted(&self.entity.name));
        let expected = "an entity with one key property, or a node with all of the key's";
        let node = self.long_node(wanted).map(|node| {
            let is_part = wanted.iter().any(|key| stated.is_of(key));
            node.only_if(is_part).map(|node| in_long_form(self.checks.written, node))
        });
        Finding::new(Stage::Fit, COMPOSITE_KEY, "/target_entity_name", expected, observed)
            .suggesting(node)
    }

    /// The node of a short form with all properties of its key, where there is a mapping for each.
    fn long_node(&self, wanted: &[&PropertySpec]) -> Option<Likely<Value>> {
        let written = self.checks.written;
        let mut keys = Vec::new();
        let mut all_certain = true;
        for key in wanted {
            let mapped = self.mappings.iter().find(|it| it.is_of(key));
            let mapping = match mapped {
                Some(it) => Likely::new(it.written_for(it.name(), true, written), true),
                None => self.missing(key)?,
            };
            all_certain &= mapping.is_certain();
            keys.push(mapping.item);
        }
        let is_moved = |it: &Mapping<'_>| wanted.iter().any(|key| it.is_of(key));
        let is_rest = |it: &&Mapping<'_>| !is_moved(it) && (!it.is_key || it.property.is_none());
        let rest = self.mappings.iter().filter(is_rest);
        let rest: Vec<Value> = rest.map(|it| it.written_for(it.name(), false, written)).collect();
        let name = &self.entity.name;
        let node = json!({"entity_name": name, "key_fields": keys, "property_fields": rest});
        Some(Likely::new(node, all_certain))
    }

    /// The right properties in the wrong order.
    fn out_of_order(&self, stated: &[&Mapping<'_>], wanted: &[&PropertySpec]) -> Finding {
        let names = listed(stated.iter().map(|it| it.name()));
        let expected = listed(wanted.iter().map(|key| key.logical_name.as_str()));
        let expected = format!("the key of {} in its order: {expected}", quoted(&self.entity.name));
        let mut order = stated.to_vec();
        let mut moves = Patch::default();
        for (to, key) in wanted.iter().enumerate() {
            let from = order.iter().position(|it| it.is_of(key)).filter(|from| *from != to);
            let Some(from) = from else { continue };
            let moved = order.remove(from);
            order.insert(to, moved);
            let places = (format!("{}/{from}", self.at), format!("{}/{to}", self.at));
            moves = patch::both(moves, patch::rename(&places.0, &places.1));
        }
        Finding::new(Stage::Fit, WRONG_KEY, &self.at, expected, names).with_fix(moves)
    }

    /// Other properties than the entity's key has: one finding for each that is missing, and for each that is too many.
    fn differing(&self, stated: &[&Mapping<'_>], wanted: &[&PropertySpec]) -> Vec<Finding> {
        let owner = quoted(&self.entity.name);
        let effort = self.checks.searches();
        let mut extra: Vec<&Mapping<'_>> = stated.to_vec();
        extra.retain(|mapping| !wanted.iter().any(|key| mapping.is_of(key)));
        let is_missing = |key: &&PropertySpec| !stated.iter().any(|it| it.is_of(key));
        // One that the entity has no property for, and one that is missing, are the same.
        let is_only =
            stated.len() == wanted.len() && wanted.iter().copied().filter(is_missing).count() == 1;
        let mut findings = Vec::new();
        let missing = wanted.iter().enumerate().filter(|(_, key)| is_missing(key));
        for (place, key) in missing {
            let expected =
                format!("{}, which is part of the key of {owner}", quoted(&key.logical_name));
            let meant = extra.iter().position(|it| {
                let means = is_only || means_key(it.name(), it.path(), self.entity, key, effort);
                it.property.is_none() && means
            });
            if let Some(meant) = meant {
                let mapping = extra.remove(meant);
                let at = format!("{}/property_name", mapping.at);
                let finding =
                    Finding::new(Stage::Fit, WRONG_KEY, &at, expected, quoted(mapping.name()));
                let meant = called(key, mapping.name(), effort);
                findings.push(finding.with_fix(patch::replace(&at, meant)));
                continue;
            }
            let observed = format!("a key of {}", listed(stated.iter().map(|it| it.name())));
            let finding = Finding::new(Stage::Fit, WRONG_KEY, &self.at, expected, observed);
            let to = format!("{}/{}", self.at, place.min(stated.len()));
            findings.push(match self.mapped_elsewhere(key) {
                Some(other) => finding.with_fix(patch::rename(&other.at, &to)),
                None => {
                    let added = self.missing(key).map(|it| it.added(&to));
                    finding.suggesting(added)
                }
            });
        }
        findings.extend(extra.into_iter().map(|mapping| self.extra(mapping, wanted)));
        findings
    }

    /// A property that isn't one of the key.
    fn extra(&self, mapping: &Mapping<'_>, wanted: &[&PropertySpec]) -> Finding {
        let at = format!("{}/property_name", mapping.at);
        let names = listed(wanted.iter().map(|key| key.logical_name.as_str()));
        let expected = format!("one of the key of {}: {names}", quoted(&self.entity.name));
        let finding = Finding::new(Stage::Fit, WRONG_KEY, &at, expected, quoted(mapping.name()));
        let removed = patch::remove(&mapping.at);
        let (Some(rest), Some(_)) = (&self.rest, mapping.property) else {
            return finding.with_suggestion(removed);
        };
        let written = mapping.written_for(mapping.name(), false, self.checks.written);
        let moved = patch::both(patch::add(&format!("{rest}/-"), written), removed);
        finding.suggesting(Some(Likely::new(moved, has_list(self.checks.written, rest))))
    }
}
