//! The values of the mappings of one node, or one end or edge: their paths, and the types of what is there.

use super::mapping::{Leaf, Mapping};
use super::nearest::Search;
use super::paths::{Aim, Place, searches, unknown};
use super::scope::{Scopes, Site};
use super::types::{Bench, keys};
use crate::diagnostics::finding::Finding;
use crate::graph::spec::Property;
use crate::plan::expr::{Condition, ForEach, Iteration, Reference, Source, Template};

/// What mappings are of.
pub(super) struct Group<'a> {
    pub(super) mappings: &'a [Mapping<'a>],
    /// The properties of the entity's key, in their order.
    pub(super) key_properties: Vec<&'a Property>,
    /// The name of the entity.
    pub(super) owner: &'a str,
    pub(super) for_each: Option<&'a ForEach>,
    /// What has to hold for them to be worked out.
    pub(super) conditions: Vec<&'a Condition>,
}

/// What is found, and which of it is about a path that leads through an array.
#[derive(Default)]
pub(super) struct Found {
    pub(super) findings: Vec<Finding>,
    pub(super) through: Vec<Through>,
}

/// A path that leads through an array.
pub(super) struct Through {
    /// The finding about it, by its place.
    pub(super) finding: usize,
    pub(super) pointer: String,
    pub(super) iteration: Iteration,
    pub(super) rest: Vec<String>,
    pub(super) is_key: bool,
}

/// Nothing is said about a mapping whose property isn't known: it has no type, and goes.
pub(super) fn check(group: &Group<'_>, scopes: &Scopes<'_>) -> Found {
    let mut found = Found::default();
    let Some(site) = scopes.site(group.for_each, &group.conditions) else { return found };
    let site = site.with_keys(&keys(group.mappings));
    let searches = searches(group.mappings, group.for_each, group.owner, scopes);
    let mut of_key = 0;
    for mapping in group.mappings {
        let key = group.key_properties.get(of_key).copied().filter(|_| mapping.is_key);
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
            scopes.at(mapping.for_each, it.level).is_some_and(|known| known.admits_path(&it.path))
        };
        if !alternatives.iter().any(is_there) {
            // Where none of them is there, each has to be told.
            alternatives.clear();
        }
        for leaf in &leaves {
            let one = One { mapping, leaf, key, alternatives: &alternatives };
            one.check(&searches, &site, scopes, &mut found);
        }
    }
    found
}

/// One value that a mapping may take.
struct One<'o> {
    mapping: &'o Mapping<'o>,
    leaf: &'o Leaf<'o>,
    /// The property of the key that the mapping has the place of.
    key: Option<&'o Property>,
    /// The paths of all alternatives, where there are any.
    alternatives: &'o [&'o Reference],
}

impl One<'_> {
    fn check<'t>(
        &self,
        searches: &[Search<'_, 't>],
        site: &Site<'t>,
        scopes: &Scopes<'t>,
        found: &mut Found,
    ) {
        let mapping = self.mapping;
        let bench = |search| Bench { mapping, search, site };
        let at = |reference: &Reference| searches.get(usize::from(reference.level.0));
        let any = searches.first();
        match self.leaf.source {
            Source::Path(reference) => {
                let Some(search) = at(reference) else { return };
                if search.known().admits_path(&reference.path) {
                    found.findings.extend(bench(search).path(self.leaf, reference));
                } else {
                    self.unknown(reference, None, search, scopes, found);
                }
            }
            Source::Template(template) => {
                let before = found.findings.len();
                for reference in template.references() {
                    let Some(search) = at(reference) else { continue };
                    // A text may well hold again what other mappings read.
                    let search = Search::new(search.known(), "", []);
                    self.unknown(reference, Some(template), &search, scopes, found);
                }
                if found.findings.len() == before {
                    found.findings.extend(any.and_then(|it| bench(it).template(self.leaf)));
                }
            }
            Source::Constant(constant) => {
                found.findings.extend(any.and_then(|it| bench(it).constant(self.leaf, constant)));
            }
            // The leaves of a mapping are what its alternatives come from.
            Source::Coalesce(_) => {}
        }
    }

    fn unknown<'t>(
        &self,
        reference: &Reference,
        template: Option<&Template>,
        search: &Search<'_, 't>,
        scopes: &Scopes<'t>,
        found: &mut Found,
    ) {
        let Self { mapping, leaf, key, alternatives } = self;
        let field = if template.is_some() { "template" } else { "source_path" };
        let place = Place {
            pointer: format!("{}/{field}", leaf.at),
            reference,
            for_each: mapping.for_each,
            template,
            has_chain: template.is_none().then_some(!leaf.own.is_empty()),
        };
        let removable =
            Some(mapping.at.clone()).filter(|_| !mapping.is_key && !leaf.is_alternative);
        let is_whole = template.is_none();
        let aim = Aim {
            name: is_whole.then(|| mapping.name()),
            // A key of another property than the entity's is renamed; its type is the key's then.
            property: key.or(mapping.property).filter(|_| is_whole),
            is_key: mapping.is_key,
            removable,
            is_always_there: false,
            alternatives,
        };
        let Some(unknown) = unknown(&place, &aim, search, scopes) else { return };
        if let Some((iteration, rest)) = unknown.through {
            let (finding, pointer) = (found.findings.len(), place.pointer);
            let is_key = mapping.is_key;
            found.through.push(Through { finding, pointer, iteration, rest, is_key });
        }
        found.findings.push(unknown.finding);
    }
}
