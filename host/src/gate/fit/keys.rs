//! Keys: those of a plan's nodes against those of the graph's entities, in their order.

use json_patch::Patch;
use serde_json::{Map, Value, json};

use super::mapping::Mapping;
use super::names::{called, list, means_key, propose};
use super::nearest::{Search, Sought};
use super::scope::Scopes;
use super::{COMPOSITE_KEY, WRONG_KEY};
use crate::diagnostics::finding::{Finding, patch};
use crate::diagnostics::problem::Stage;
use crate::diagnostics::untrusted::quoted;
use crate::graph::spec::{Entity, Property};
use crate::plan::expr::{ForEach, Level};
use crate::plan::{Form, innermost};

/// A key of a plan, and what may be moved into it.
pub(super) struct Keys<'a> {
    /// Pointer to the list; in the short form, to the key.
    pub(super) at: String,
    pub(super) form: Form,
    pub(super) mappings: &'a [Mapping<'a>],
    /// Pointer to the list of the other properties, where there are any.
    pub(super) rest: Option<String>,
    pub(super) entity: &'a Entity,
    pub(super) for_each: Option<&'a ForEach>,
    /// The plan as it is written.
    pub(super) written: &'a Value,
}

/// What is wrong with a key, and the entity's properties that it was meant for.
pub(super) fn check<'a>(keys: &Keys<'a>, scopes: &Scopes<'_>) -> (Vec<Finding>, Vec<&'a Property>) {
    let wanted: Vec<&Property> = keys.entity.key_properties().collect();
    let stated: Vec<&Mapping<'_>> = keys.mappings.iter().filter(|it| it.is_key).collect();
    let is = |mapping: &Mapping<'_>, key: &Property| {
        mapping.property.is_some_and(|it| std::ptr::eq(it, key))
    };
    match (wanted.as_slice(), stated.as_slice()) {
        ([], _) => (Vec::new(), Vec::new()),
        ([key], [stated]) if is(stated, key) => (Vec::new(), Vec::new()),
        ([key], [stated]) => (vec![keys.wrong(stated, key, scopes)], vec![key]),
        (_, [stated]) if keys.form == Form::Short => {
            (vec![keys.composite(stated, &wanted, scopes)], wanted)
        }
        _ => {
            let in_order = stated.len() == wanted.len()
                && stated.iter().zip(&wanted).all(|(stated, key)| is(stated, key));
            let has_all = stated.len() == wanted.len()
                && wanted.iter().all(|key| stated.iter().any(|stated| is(stated, key)));
            match (in_order, has_all) {
                (true, _) => (Vec::new(), Vec::new()),
                (_, true) => (vec![keys.out_of_order(&stated, &wanted)], wanted),
                _ => (keys.differing(&stated, &wanted, scopes), wanted),
            }
        }
    }
}

impl Keys<'_> {
    /// A key of one property that is another than the entity's.
    fn wrong(&self, stated: &Mapping<'_>, key: &Property, scopes: &Scopes<'_>) -> Finding {
        let name = stated.name();
        let at = format!("{}/property_name", stated.at);
        let expected = format!("the entity's key {}", quoted(&key.logical_name));
        let finding = Finding::new(Stage::Fit, WRONG_KEY, &at, expected, quoted(name));
        let is_key = |it: &&Mapping<'_>| it.property.is_some_and(|it| std::ptr::eq(it, key));
        let others = self.mappings.iter().filter(|it| !it.is_key);
        if let Some(elsewhere) = others.clone().find(is_key) {
            let to_key = elsewhere.written_for(elsewhere.name(), true, self.written);
            let to_key = patch::replace(&stated.at, to_key);
            let rest = match stated.property {
                Some(_) => {
                    let written = stated.written_for(name, false, self.written);
                    patch::replace(&elsewhere.at, written)
                }
                None => patch::remove(&elsewhere.at),
            };
            return finding.with_fix(patch::both(to_key, rest));
        }
        if stated.property.is_some()
            && stated.reads_its_name(stated.path())
            && let Some((mapping, certain)) = self.sought(key, scopes)
            && let Some(rest) = &self.rest
        {
            // Name and path belong together; it is the key that is missing.
            let to_key = patch::replace(&stated.at, mapping);
            let written = stated.written_for(name, false, self.written);
            let rest = patch::add(&format!("{rest}/-"), written);
            return propose(finding, Some((patch::both(to_key, rest), certain)));
        }
        let effort = &scopes.efforts().searches;
        let renamed = patch::replace(&at, called(key, name, effort));
        let is_meant = means_key(name, stated.path(), self.entity, key, effort);
        propose(finding, Some((renamed, is_meant)))
    }

    /// A mapping for a property of the key that there is none for, and whether nothing else could be meant: from the
    /// innermost level at which something suits.
    fn sought(&self, key: &Property, scopes: &Scopes<'_>) -> Option<(Value, bool)> {
        let deepest = innermost(self.for_each);
        (0..=deepest.0).rev().map(Level).find_map(|level| {
            let known = scopes.at(self.for_each, level)?;
            let at_level = |it: &&Mapping<'_>| it.plain().is_some_and(|it| it.level == level);
            let taken = self.mappings.iter().filter(at_level).map(Mapping::path);
            let sought = Sought {
                given: &[],
                name: Some(&key.logical_name),
                property_type: Some(&key.property_type),
                is_key: true,
            };
            let nearest = Search::new(known, &self.entity.name, taken).named(&sought)?;
            let mut mapping = Map::new();
            mapping.insert("property_name".to_owned(), json!(key.logical_name));
            mapping.insert("source_path".to_owned(), json!(nearest.path));
            if let Some(from) = from(level, deepest) {
                mapping.insert("from".to_owned(), json!(from));
            }
            Some((Value::Object(mapping), nearest.certain))
        })
    }

    /// A short form for an entity whose key has several properties.
    fn composite(
        &self,
        stated: &Mapping<'_>,
        wanted: &[&Property],
        scopes: &Scopes<'_>,
    ) -> Finding {
        let names = list(wanted.iter().map(|key| key.logical_name.as_str()));
        let observed =
            format!("{}, which is identified by {names} together", quoted(&self.entity.name));
        let expected = "an entity with one key property, or a node with all of the key's";
        let finding =
            Finding::new(Stage::Fit, COMPOSITE_KEY, "/target_entity_name", expected, observed);
        let mut fields = Vec::new();
        let mut rest: Vec<&Mapping<'_>> =
            self.mappings.iter().filter(|it| !it.is_key || it.property.is_none()).collect();
        let mut all_certain = true;
        for key in wanted {
            let is = |it: &&Mapping<'_>| it.property.is_some_and(|it| std::ptr::eq(it, *key));
            if let Some(mapping) = self.mappings.iter().find(is) {
                rest.retain(|it| !std::ptr::eq(*it, mapping));
                fields.push(mapping.written_for(mapping.name(), true, self.written));
            } else if let Some((mapping, certain)) = self.sought(key, scopes) {
                fields.push(mapping);
                all_certain &= certain;
            } else {
                return finding;
            }
        }
        all_certain &=
            stated.property.is_some_and(|it| wanted.iter().any(|key| std::ptr::eq(*key, it)));
        let written = |it: &Mapping<'_>| it.written_for(it.name(), false, self.written);
        let rest: Vec<Value> = rest.into_iter().map(written).collect();
        let node =
            json!({"entity_name": self.entity.name, "key_fields": fields, "property_fields": rest});
        propose(finding, Some((in_long_form(self.written, node), all_certain)))
    }

    /// The right properties in the wrong order.
    fn out_of_order(&self, stated: &[&Mapping<'_>], wanted: &[&Property]) -> Finding {
        let names = list(stated.iter().map(|it| it.name()));
        let expected = list(wanted.iter().map(|key| key.logical_name.as_str()));
        let expected = format!("the key of {} in its order: {expected}", quoted(&self.entity.name));
        let mut order: Vec<usize> = (0..stated.len()).collect();
        let mut moves = Patch::default();
        for (to, key) in wanted.iter().enumerate() {
            let is = |index: &usize| {
                let property = stated.get(*index).and_then(|it| it.property);
                property.is_some_and(|it| std::ptr::eq(it, *key))
            };
            let Some(from) = order.iter().position(is).filter(|from| *from != to) else { continue };
            let moved = order.remove(from);
            order.insert(to, moved);
            let places = (format!("{}/{from}", self.at), format!("{}/{to}", self.at));
            moves = patch::both(moves, patch::rename(&places.0, &places.1));
        }
        Finding::new(Stage::Fit, WRONG_KEY, &self.at, expected, names).with_fix(moves)
    }

    /// Other properties than the entity's key has: one finding for each that is missing, and for each that is too many.
    fn differing(
        &self,
        stated: &[&Mapping<'_>],
        wanted: &[&Property],
        scopes: &Scopes<'_>,
    ) -> Vec<Finding> {
        let is = |mapping: &Mapping<'_>, key: &Property| {
            mapping.property.is_some_and(|it| std::ptr::eq(it, key))
        };
        let effort = &scopes.efforts().searches;
        let mut extra: Vec<&Mapping<'_>> = stated.to_vec();
        extra.retain(|mapping| !wanted.iter().any(|key| is(mapping, key)));
        let mut findings = Vec::new();
        for (place, key) in wanted.iter().enumerate() {
            if stated.iter().any(|mapping| is(mapping, key)) {
                continue;
            }
            let name = quoted(&key.logical_name);
            let expected =
                format!("{name}, which is part of the key of {}", quoted(&self.entity.name));
            let missing = wanted.iter().filter(|key| !stated.iter().any(|it| is(it, key))).count();
            // One that the entity has no property for, and one that is missing, are the same.
            let is_only = stated.len() == wanted.len() && missing == 1;
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
            let names = list(stated.iter().map(|it| it.name()));
            let observed = format!("a key of {names}");
            let finding = Finding::new(Stage::Fit, WRONG_KEY, &self.at, expected, observed);
            let to = format!("{}/{}", self.at, place.min(stated.len()));
            let others = self.mappings.iter().filter(|it| !it.is_key);
            findings.push(match others.clone().find(|it| is(it, key)) {
                Some(other) => finding.with_fix(patch::rename(&other.at, &to)),
                None => propose(
                    finding,
                    self.sought(key, scopes).map(|(it, certain)| (patch::add(&to, it), certain)),
                ),
            });
        }
        for mapping in extra {
            let at = format!("{}/property_name", mapping.at);
            let names = list(wanted.iter().map(|key| key.logical_name.as_str()));
            let expected = format!("one of the key of {}: {names}", quoted(&self.entity.name));
            let finding =
                Finding::new(Stage::Fit, WRONG_KEY, &at, expected, quoted(mapping.name()));
            findings.push(match (&self.rest, mapping.property) {
                (Some(rest), Some(_)) => {
                    let written = mapping.written_for(mapping.name(), false, self.written);
                    let moved = patch::add(&format!("{rest}/-"), written);
                    let moved = patch::both(moved, patch::remove(&mapping.at));
                    propose(finding, Some((moved, has_list(self.written, rest))))
                }
                _ => finding.with_suggestion(patch::remove(&mapping.at)),
            });
        }
        findings
    }
}

/// Whether there is a list at a place of a plan as it is written.
fn has_list(written: &Value, at: &str) -> bool {
    written.pointer(at).is_some_and(|it| it.as_array().is_some_and(|it| !it.is_empty()))
}

/// What `from` says at a level, inside of these; nothing for the innermost one.
pub(super) fn from(level: Level, deepest: Level) -> Option<&'static str> {
    match level {
        level if level == deepest => None,
        Level::EVENT => Some("event"),
        _ => Some("parent"),
    }
}

/// A plan of the short form in the long one, with this node.
pub(super) fn in_long_form(written: &Value, node: Value) -> Patch {
    let with_nodes = patch::add("/nodes", json!([node]));
    let mut patch = patch::both(with_nodes, patch::remove("/target_entity_name"));
    patch = patch::both(patch, patch::remove("/key_field"));
    if has_list(written, "/property_fields") {
        return patch::both(patch, patch::remove("/property_fields"));
    }
    // An empty list may be written or not.
    patch = patch::both(patch, patch::add("/property_fields", json!([])));
    patch::both(patch, patch::remove("/property_fields"))
}
