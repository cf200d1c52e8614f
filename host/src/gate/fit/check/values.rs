//! The values of the mappings of one node, or one end or edge: their paths, and the types of what is there.

use std::collections::HashSet;

use super::expression;
use super::path::{self, PathUse, WantedAtPath, at_level};
use super::types::TypeCheck;
use crate::diagnostics::finding::Finding;
use crate::gate::fit::mapping::{Leaf, Mapping};
use crate::gate::fit::scope::{RelevantSamples, Scopes};
use crate::gate::fit::suggest::{PathSearch, Through};
use crate::graph::spec::PropertySpec;
use crate::plan::expr::{Condition, ForEach, Level, Reference, Source, Template};

/// What mappings are of.
pub(super) struct Group<'a> {
    pub(super) mappings: &'a [Mapping<'a>],
    /// The properties of the entity's key, in their order.
    pub(super) key_properties: Vec<&'a PropertySpec>,
    /// The name of the entity.
    pub(super) owner: &'a str,
    pub(super) for_each: Option<&'a ForEach>,
    /// What has to hold for them to be computed.
    pub(super) conditions: Vec<&'a Condition>,
}

/// What is found, and which of it is about a path that leads through an array.
#[derive(Default)]
pub(super) struct ValueFindings {
    pub(super) findings: Vec<Finding>,
    pub(super) through: Vec<Through>,
}

impl<'a> Group<'a> {
    /// What is wrong with the values. Nothing is said about a mapping whose property isn't known: it has no type, and goes.
    pub(super) fn check(&self, scopes: &Scopes<'_>) -> ValueFindings {
        let mut found = ValueFindings::default();
        let Some(samples) = scopes.relevant(self.for_each, &self.conditions) else { return found };
        let samples = samples.with_keys(&self.key_paths());
        let searches = self.searches(scopes);
        // A text may well hold again what other mappings read.
        let in_texts = path::searches(scopes, self.for_each);
        let known = KnownAround { scopes, samples, searches, in_texts };
        let mut of_key = 0;
        for mapping in self.mappings {
            let key = self.key_properties.get(of_key).copied().filter(|_| mapping.is_key);
            of_key += usize::from(mapping.is_key);
            if !mapping.is_key && mapping.property.is_none() {
                continue;
            }
            let leaves = mapping.leaves();
            let paths = leaves.iter().filter_map(|leaf| match leaf.source {
                Source::Path(reference) if leaf.is_alternative => Some(reference),
                _ => None,
            });
            let mut alternatives: Vec<&Reference> = paths.collect();
            let is_there = |it: &&Reference| {
                let known = scopes.at(mapping.for_each, it.level);
                known.is_some_and(|known| known.admits_path(&it.path))
            };
            if !alternatives.iter().any(is_there) {
                // Where none of them is there, each has to be reported.
                alternatives.clear();
            }
            for leaf in &leaves {
                let (known, alternatives) = (&known, alternatives.as_slice());
                let value = MappedValue { mapping, leaf, key, alternatives, known };
                value.check(&mut found);
            }
        }
        found
    }

    /// The paths of the key: what has none of them isn't extracted.
    fn key_paths(&self) -> Vec<&'a Reference> {
        let of_key = self.mappings.iter().filter(|it| it.is_key);
        let path = |mapping: &Mapping<'a>| match &mapping.field.value().source {
            Source::Path(reference) => Some(reference),
            Source::Constant(_) | Source::Template(_) | Source::Coalesce(_) | Source::Query(_) => {
                None
            }
        };
        of_key.filter_map(path).collect()
    }

    /// At each level, the search for what none of the mappings reads that is sound.
    pub(super) fn searches<'k, 't>(
        &'k self,
        scopes: &'k Scopes<'t>,
    ) -> Vec<(Level, PathSearch<'k, 't>)> {
        let search = |(level, known)| {
            let at_level = move |it: &&Mapping<'_>| it.plain().is_some_and(|it| it.level == level);
            let sound = self.mappings.iter().filter(at_level).filter(|it| it.is_sound(known));
            let search = PathSearch::new(known, self.owner, sound.map(Mapping::path));
            (level, search.beside(scopes.paths_read(level, self.for_each)))
        };
        scopes.levels(self.for_each).map(search).collect()
    }
}

/// What is known where the values of a group are.
struct KnownAround<'k, 't> {
    scopes: &'k Scopes<'t>,
    samples: RelevantSamples<'t>,
    /// By level, for values that are what is at a path.
    searches: Vec<(Level, PathSearch<'k, 't>)>,
    /// The same for templates.
    in_texts: Vec<(Level, PathSearch<'k, 't>)>,
}

/// One value that a mapping may take.
struct MappedValue<'o, 't> {
    mapping: &'o Mapping<'o>,
    leaf: &'o Leaf<'o>,
    /// The property of the key that the mapping has the place of.
    key: Option<&'o PropertySpec>,
    /// The paths of all alternatives, where there are any.
    alternatives: &'o [&'o Reference],
    known: &'o KnownAround<'o, 't>,
}

impl<'t> MappedValue<'_, 't> {
    fn check(&self, found: &mut ValueFindings) {
        let (mapping, leaf) = (self.mapping, self.leaf);
        let KnownAround { samples, searches, in_texts, .. } = self.known;
        let check = |search| TypeCheck { mapping, search, samples };
        let any = at_level(searches, Level::EVENT);
        match leaf.source {
            Source::Path(reference) => {
                let Some(search) = at_level(searches, reference.level) else { return };
                if search.known().admits_path(&reference.path) {
                    found.findings.extend(check(search).path(leaf, reference));
                } else {
                    self.unknown(reference, None, search, found);
                }
            }
            Source::Template(template) => {
                let before = found.findings.len();
                // What puts one of them right does so wherever the template has it.
                let mut looked_at = HashSet::new();
                for reference in template.references().filter(|it| looked_at.insert(*it)) {
                    let Some(search) = at_level(in_texts, reference.level) else { continue };
                    self.unknown(reference, Some(template), search, found);
                }
                if found.findings.len() == before {
                    found.findings.extend(any.and_then(|it| check(it).template(leaf)));
                }
            }
            Source::Constant(constant) => {
                found.findings.extend(any.and_then(|it| check(it).constant(leaf, constant)));
            }
            Source::Query(query) => {
                let at = format!("{}/expression", leaf.at);
                let before = found.findings.len();
                found.findings.extend(expression::keys(
                    &at,
                    query,
                    Some(mapping.name()),
                    mapping.for_each,
                    self.known.scopes,
                ));
                if found.findings.len() == before {
                    found.findings.extend(any.and_then(|it| check(it).expression(leaf, query)));
                }
            }
            // The leaves of a mapping are what its alternatives come from.
            Source::Coalesce(_) => {}
        }
    }

    fn unknown(
        &self,
        reference: &Reference,
        template: Option<&Template>,
        search: &PathSearch<'_, 't>,
        found: &mut ValueFindings,
    ) {
        let Self { mapping, leaf, key, alternatives, known } = self;
        let field = if template.is_some() { "template" } else { "source_path" };
        let path = PathUse {
            pointer: format!("{}/{field}", leaf.at),
            reference,
            for_each: mapping.for_each,
            template,
            has_chain: template.is_none().then_some(!leaf.own.is_empty()),
        };
        let removable =
            Some(mapping.at.clone()).filter(|_| !mapping.is_key && !leaf.is_alternative);
        let is_whole = template.is_none();
        let wanted = WantedAtPath {
            name: is_whole.then(|| mapping.name()),
            // A key of another property than the entity's is renamed; its type is the key's then.
            property: key.or(mapping.property).filter(|_| is_whole),
            is_key: mapping.is_key,
            removable,
            is_always_there: false,
            alternatives,
        };
        let Some(unknown) = path.unknown(&wanted, search, known.scopes) else { return };
        if let Some((iteration, rest)) = unknown.through {
            let (finding, pointer) = (found.findings.len(), path.pointer);
            let is_key = mapping.is_key;
            found.through.push(Through { finding, pointer, iteration, rest, is_key });
        }
        found.findings.push(unknown.finding);
    }
}
