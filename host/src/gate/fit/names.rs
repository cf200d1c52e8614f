//! Entities and properties: the names of a plan against those of the graph spec.

use std::collections::HashSet;

use super::known::Known;
use super::mapping::Mapping;
use super::scope::Scopes;
use super::{UNKNOWN_ENTITY, UNKNOWN_PROPERTY, likeness};
use crate::diagnostics::finding::{Finding, patch};
use crate::diagnostics::problem::Stage;
use crate::diagnostics::untrusted::quoted;
use crate::evidence::effort::Effort;
use crate::graph::spec::{Entity, GraphSpec, Properties, Property};
use crate::plan::{Endpoint, Form, Plan};

/// How many names a message lists.
const MAX_NAMED: usize = 12;

/// How alike two names have to be for one to be a slip of the other, how far ahead of the next one, and how alike to be
/// worth a suggestion.
pub(super) const SLIP: f64 = 0.75;
pub(super) const LEAD: f64 = 0.08;
const WORTH_SAYING: f64 = 0.6;

/// How much of a property's name a path has to have, more than of any other's, to be read for it.
const SAID: f64 = 0.25;

/// How many bytes of names are ever looked at.
const MAX_BYTES: usize = 4_096;

/// What it costs to look for a name among those of an entity, in steps, and to make names ready to be compared, for each
/// byte.
const LOOKUP: u64 = 30;
const READING: u64 = 16;

/// A node of an entity that there isn't.
pub(super) fn unknown_entity(
    plan: &Plan,
    index: usize,
    graph: &GraphSpec,
    effort: &Effort,
) -> Finding {
    let Some(node) = plan.nodes().get(index) else {
        return no_entity(String::new(), "", graph);
    };
    let at = match plan.form() {
        Form::Short => "/target_entity_name".to_owned(),
        Form::Long => format!("{}/entity_name", plan.node_pointer(index)),
    };
    let found = node.entity_name();
    let finding = no_entity(at.clone(), found, graph);
    let properties: Vec<&str> =
        node.property_fields().iter().map(|it| it.property_name()).collect();
    let key = node.key_fields().first().map(|it| it.property_name());
    let Some((entity, certain)) = likely_entity(Some(found), key, &properties, graph, effort)
    else {
        return finding;
    };
    let is_taken = plan.nodes().iter().any(|it| it.name() == entity.name);
    let mut renamed = patch::replace(&at, &entity.name);
    if node.name() == found {
        // Edges call the node by its entity's name.
        for place in named_by(plan, index) {
            renamed = patch::both(renamed, patch::replace(&place, &entity.name));
        }
    }
    propose(finding, Some((renamed, certain && !is_taken)))
}

/// Where edges name a node.
fn named_by(plan: &Plan, node: usize) -> Vec<String> {
    let mut places = Vec::new();
    for (index, edge) in plan.edges().iter().enumerate() {
        for (end, endpoint) in [("from", edge.from()), ("to", edge.to())] {
            if *endpoint == Endpoint::Node(node) {
                places.push(format!("{}/{end}", plan.edge_pointer(index)));
            }
        }
    }
    places
}

/// That the graph has no entity of this name.
pub(super) fn no_entity(at: String, found: &str, graph: &GraphSpec) -> Finding {
    let names = list(graph.entities().iter().map(|it| it.name.as_str()));
    let expected = format!("an entity of the graph: {names}");
    Finding::new(Stage::Fit, UNKNOWN_ENTITY, at, expected, quoted(found))
}

/// The entity that was meant, and whether nothing else could be: by its name, or by the key and the properties. None where the
/// search ends for want of effort.
pub(crate) fn likely_entity<'g>(
    written: Option<&str>,
    key: Option<&str>,
    properties: &[&str],
    graph: &'g GraphSpec,
    effort: &Effort,
) -> Option<(&'g Entity, bool)> {
    let lookups = (properties.len() + 1) * graph.entities().len();
    if !effort.take(LOOKUP * lookups as u64) {
        return None;
    }
    effort.whole(likeliest_entity(written, key, properties, graph, effort))
}

fn likeliest_entity<'g>(
    written: Option<&str>,
    key: Option<&str>,
    properties: &[&str],
    graph: &'g GraphSpec,
    effort: &Effort,
) -> Option<(&'g Entity, bool)> {
    let has_key =
        |entity: &Entity| key.is_some_and(|key| entity.key_properties().any(|it| it.is_named(key)));
    let count =
        |entity: &Entity| properties.iter().filter(|name| entity.property(name).is_some()).count();
    // That a name is near, or that there is no other entity, says nothing where the plan speaks of other things.
    let shares_names =
        |entity: &Entity| has_key(entity) || is_half(count(entity), properties.len());
    if let Some(written) = written {
        let near = best(graph.entities().iter().map(|it| (alike(written, &it.name, effort), it)));
        if let Some((alike, entity, lead)) = near
            && alike >= SLIP
            && lead >= LEAD
        {
            let is_slip = likeness::names(written, &entity.name, effort) >= SLIP;
            return Some((entity, is_slip || shares_names(entity)));
        }
    }
    if let [only] = graph.entities() {
        return Some((only, shares_names(only)));
    }
    let score = |entity: &Entity| {
        (count(entity) + usize::from(has_key(entity)) * (properties.len() + 1)) as f64
    };
    let (score, entity, lead) = best(graph.entities().iter().map(|it| (score(it), it)))?;
    let all = (2 * properties.len() + 1) as f64;
    (score > 0.0).then_some((entity, lead > 0.0 && score >= all))
}

/// Whether a plan is about an entity by the number of its properties that the entity has.
fn is_half(known: usize, all: usize) -> bool {
    known > 0 && 2 * known >= all
}

/// Whether a key of another name is the entity's key after all: the name is a slip of it, or it behind the entity's name, or
/// its path says the key's name.
pub(crate) fn means_key(
    written: &str,
    path: &[String],
    entity: &Entity,
    key: &Property,
    effort: &Effort,
) -> bool {
    let full = |name: &str| likeness::plain(&entity.name) + &likeness::plain(name);
    [&key.logical_name, &key.column].into_iter().any(|name| {
        likeness::names(written, name, effort) >= SLIP
            || likeness::plain(written) == full(name)
            || likeness::ends_in(path, name)
    })
}

/// What has properties: an entity or a relationship.
#[derive(Clone, Copy)]
pub(super) struct Owner<'g> {
    pub(super) name: &'g str,
    pub(super) properties: &'g Properties,
}

/// Every property, the keys apart, has to be one of the owner's. `taken` are those that mappings of the key are meant for.
pub(super) fn properties(
    mappings: &[Mapping<'_>],
    owner: Owner<'_>,
    taken: &[&Property],
    scopes: &Scopes<'_>,
) -> Vec<Finding> {
    let mapped = mappings.iter().filter_map(|it| it.property).chain(taken.iter().copied());
    let mapped: HashSet<*const Property> = mapped.map(std::ptr::from_ref).collect();
    let is_free = |property: &&Property| !mapped.contains(&std::ptr::from_ref(*property));
    let found = mappings.iter().filter(|it| it.property.is_some()).count();
    let is_about_owner = is_half(found, mappings.len());
    let free: Vec<&Property> = owner.properties.iter().filter(is_free).collect();
    let unknown = mappings.iter().filter(|it| !it.is_key && it.property.is_none());
    let finding = |mapping: &Mapping<'_>| {
        let finding = unknown_property(mapping, owner);
        let known = scopes.of(mapping).unwrap_or(scopes.event());
        match likely_property(Some(mapping.name()), mapping.path(), &free, known) {
            Some((property, certain)) => {
                let renamed = patch::replace(
                    &format!("{}/property_name", mapping.at),
                    called(property, mapping.name(), &known.efforts().searches),
                );
                propose(finding, Some((renamed, certain)))
            }
            // That nothing was found says nothing where the search came to no end.
            None if known.efforts().searches.is_over() => finding,
            // The owner can't hold it; but where it holds little of what the plan reads, it may not be the one meant.
            None => propose(finding, Some((patch::remove(&mapping.at), is_about_owner))),
        }
    };
    unknown.map(finding).collect()
}

fn unknown_property(mapping: &Mapping<'_>, owner: Owner<'_>) -> Finding {
    let at = format!("{}/property_name", mapping.at);
    let names = list(owner.properties.iter().map(|it| it.logical_name.as_str()));
    let expected = format!("a property of {}: {names}", quoted(owner.name));
    Finding::new(Stage::Fit, UNKNOWN_PROPERTY, at, expected, quoted(mapping.name()))
}

/// Which of these properties was meant by a name and a path, and whether nothing else could be. An empty path says nothing.
/// None where the search ends for want of effort.
pub(crate) fn likely_property<'g>(
    written: Option<&str>,
    path: &[String],
    free: &[&'g Property],
    known: &Known<'_>,
) -> Option<(&'g Property, bool)> {
    let effort = &known.efforts().searches;
    let bytes: usize = path.iter().map(String::len).sum();
    let steps = LOOKUP + READING * bytes.min(MAX_BYTES) as u64;
    if !effort.take(steps * free.len() as u64) {
        return None;
    }
    effort.whole(likeliest_property(written, path, free, known))
}

fn likeliest_property<'g>(
    written: Option<&str>,
    path: &[String],
    free: &[&'g Property],
    known: &Known<'_>,
) -> Option<(&'g Property, bool)> {
    let effort = &known.efforts().searches;
    let fits = |property: &Property| {
        path.is_empty() || !known.has(path) || known.admits(path, Some(&property.property_type))
    };
    let fitting = || free.iter().copied().filter(|property| fits(property));
    let near = written.and_then(|written| {
        best(fitting().map(|it| {
            let column = alike(written, &it.column, effort);
            (alike(written, &it.logical_name, effort).max(column), it)
        }))
    });
    if let Some((alike, property, lead)) = near
        && alike >= SLIP
        && lead >= LEAD
    {
        return Some((property, true));
    }
    let named = |it: &&Property| {
        likeness::ends_in(path, &it.logical_name) || likeness::ends_in(path, &it.column)
    };
    let mut named = fitting().filter(named);
    if let (Some(property), None) = (named.next(), named.next()) {
        return Some((property, true));
    }
    let near = near.filter(|(alike, ..)| *alike >= WORTH_SAYING);
    near.map(|(_, property, _)| (property, false)).or_else(|| {
        // Without a name, the path alone: one whose words the path has, and no other's.
        let said = |it: &Property| likeness::affinity(&it.logical_name, path);
        let (said, property, lead) = best(fitting().map(|it| (said(it), it)))?;
        (written.is_none() && said > 0.0).then_some((property, said >= SAID && lead >= SAID))
    })
}

/// The name of a property that is nearest to what was written: results may use the column's as well as the logical one.
pub(crate) fn called<'g>(property: &'g Property, written: &str, effort: &Effort) -> &'g str {
    let near = |name: &str| likeness::names(written, name, effort);
    if property.column != property.logical_name
        && near(&property.column) > near(&property.logical_name)
    {
        &property.column
    } else {
        &property.logical_name
    }
}

/// How alike two names are. One that has all the words of the other is a short form of it.
pub(super) fn alike(a: &str, b: &str, effort: &Effort) -> f64 {
    if !effort.take(LOOKUP + READING * (a.len() + b.len()).min(MAX_BYTES) as u64) {
        return 0.0;
    }
    let (left, right) = (likeness::words(a), likeness::words(b));
    let (short, long) = if left.len() < right.len() { (&left, &right) } else { (&right, &left) };
    let within = !short.is_empty() && short.iter().all(|word| long.contains(word));
    likeness::names(a, b, effort).max(if within { SLIP } else { 0.0 })
}

/// The best of what was scored, its score, and how far it is ahead of the second best.
pub(crate) fn best<T>(scored: impl Iterator<Item = (f64, T)>) -> Option<(f64, T, f64)> {
    let mut scored: Vec<(f64, T)> = scored.collect();
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let mut scored = scored.into_iter();
    let (first, it) = scored.next()?;
    let second = scored.next().map_or(0.0, |(score, _)| score);
    Some((first, it, first - second))
}

pub(super) fn propose(finding: Finding, proposed: Option<(json_patch::Patch, bool)>) -> Finding {
    match proposed {
        Some((patch, true)) => finding.with_fix(patch),
        Some((patch, false)) => finding.with_suggestion(patch),
        None => finding,
    }
}

pub(super) fn list<'n>(mut names: impl Iterator<Item = &'n str>) -> String {
    let mut listed: Vec<String> = names.by_ref().take(MAX_NAMED).map(quoted).collect();
    let more = names.count();
    if more > 0 {
        listed.push(format!("and {more} more"));
    }
    listed.join(", ")
}
