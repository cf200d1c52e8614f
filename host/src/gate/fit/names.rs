//! Entity, key and properties: the names of a plan against those of the graph spec.

use serde_json::json;

use super::known::Known;
use super::nearest::{Search, Sought};
use super::{COMPOSITE_KEY, Mapping, UNKNOWN_ENTITY, UNKNOWN_PROPERTY, WRONG_KEY, likeness};
use crate::finding::{Finding, patch};
use crate::graph::spec::{Entity, GraphSpec, Property};
use crate::plan::Plan;
use crate::problem::Stage;
use crate::untrusted::quoted;

/// How many names a message lists.
const MAX_NAMED: usize = 12;

/// How alike two names have to be for one to be a slip of the other, how far ahead of the next one, and how alike to be
/// worth a suggestion.
const SLIP: f64 = 0.75;
const LEAD: f64 = 0.08;
const WORTH_SAYING: f64 = 0.6;

/// How much of a property's name a path has to have, more than of any other's, to be read for it.
const SAID: f64 = 0.25;

pub(super) fn unknown_entity(plan: &Plan, graph: &GraphSpec) -> Finding {
    let found = plan.target_entity_name();
    let finding = Finding::new(
        Stage::Fit,
        UNKNOWN_ENTITY,
        "/target_entity_name",
        format!(
            "an entity of the graph: {}",
            list(graph.entities().iter().map(|it| it.name.as_str()))
        ),
        quoted(found),
    );
    let properties: Vec<&str> =
        plan.property_fields().iter().map(|it| it.property_name()).collect();
    let likely =
        likely_entity(Some(found), Some(plan.key_field().property_name()), &properties, graph);
    propose(
        finding,
        likely.map(|(it, certain)| (patch::replace("/target_entity_name", &it.name), certain)),
    )
}

/// The entity that was meant, and whether nothing else could be: by its name, or by the key and the properties.
pub(crate) fn likely_entity<'g>(
    written: Option<&str>,
    key: Option<&str>,
    properties: &[&str],
    graph: &'g GraphSpec,
) -> Option<(&'g Entity, bool)> {
    let has_key =
        |entity: &Entity| key.is_some_and(|key| entity.key_properties().any(|it| it.is_named(key)));
    let count =
        |entity: &Entity| properties.iter().filter(|name| entity.property(name).is_some()).count();
    // That a name is near, or that there is no other entity, says nothing where the plan speaks of other things.
    let shares_names =
        |entity: &Entity| has_key(entity) || is_half(count(entity), properties.len());
    if let Some(written) = written {
        let near = best(graph.entities().iter().map(|it| (alike(written, &it.name), it)));
        if let Some((alike, entity, lead)) = near
            && alike >= SLIP
            && lead >= LEAD
        {
            let is_slip = likeness::names(written, &entity.name) >= SLIP;
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
pub(crate) fn means_key(written: &str, path: &[String], entity: &Entity, key: &Property) -> bool {
    let full = |name: &str| likeness::plain(&entity.name) + &likeness::plain(name);
    [&key.logical_name, &key.column].into_iter().any(|name| {
        likeness::names(written, name) >= SLIP
            || likeness::plain(written) == full(name)
            || likeness::ends_in(path, name)
    })
}

/// Names alone: the key has to be the entity's, and every property one of it.
pub(super) fn check(mappings: &[Mapping<'_>], entity: &Entity, known: &Known<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let keys: Vec<&Property> = entity.key_properties().collect();
    let mut taken_by_key = None;
    match keys.as_slice() {
        [] => {}
        [key] => {
            let stated = mappings.iter().find(|it| it.is_key);
            if let Some(stated) =
                stated.filter(|it| !it.property.is_some_and(|it| std::ptr::eq(it, *key)))
            {
                findings.push(wrong_key(stated, key, entity, mappings, known));
                taken_by_key = Some(*key);
            }
        }
        _ => {
            let names = list(keys.iter().map(|key| key.logical_name.as_str()));
            let observed =
                format!("{}, which is identified by {names} together", quoted(&entity.name));
            let expected = "an entity with one key property";
            findings.push(Finding::new(
                Stage::Fit,
                COMPOSITE_KEY,
                "/target_entity_name",
                expected,
                observed,
            ));
        }
    }
    let is_free = |property: &&Property| {
        let mapped =
            mappings.iter().filter_map(|it| it.property).any(|it| std::ptr::eq(it, *property));
        !mapped && !taken_by_key.is_some_and(|key| std::ptr::eq(key, *property))
    };
    let found = mappings.iter().filter(|it| it.property.is_some()).count();
    let is_about_entity = is_half(found, mappings.len());
    let free: Vec<&Property> = entity.properties.iter().filter(is_free).collect();
    let unknown = mappings.iter().filter(|it| !it.is_key && it.property.is_none());
    findings.extend(unknown.map(|mapping| {
        let finding = unknown_property(mapping, entity);
        let name = mapping.field.property_name();
        match likely_property(Some(name), mapping.path(), &free, known) {
            Some((property, certain)) => {
                let renamed = patch::replace(
                    &format!("{}/property_name", mapping.at),
                    &property.logical_name,
                );
                propose(finding, Some((renamed, certain)))
            }
            // The entity can't hold it; but where it holds little of what the plan reads, it may not be the one meant.
            None => propose(finding, Some((patch::remove(&mapping.at), is_about_entity))),
        }
    }));
    findings
}

fn wrong_key(
    stated: &Mapping<'_>,
    key: &Property,
    entity: &Entity,
    mappings: &[Mapping<'_>],
    known: &Known<'_>,
) -> Finding {
    let name = stated.field.property_name();
    let finding = Finding::new(
        Stage::Fit,
        WRONG_KEY,
        "/key_field/property_name",
        format!("the entity's key {}", quoted(&key.logical_name)),
        quoted(name),
    );
    let as_mapping =
        |name: &str, path: &[String]| json!({"property_name": name, "source_path": path});
    let is_key = |it: &&Mapping<'_>| it.property.is_some_and(|it| std::ptr::eq(it, key));
    if let Some(elsewhere) = mappings.iter().find(is_key) {
        let to_key = as_mapping(elsewhere.field.property_name(), elsewhere.path());
        let to_key = patch::replace("/key_field", to_key);
        let rest = match stated.property {
            Some(_) => patch::replace(&elsewhere.at, as_mapping(name, stated.path())),
            None => patch::remove(&elsewhere.at),
        };
        return finding.mended_by(patch::both(to_key, rest));
    }
    if stated.property.is_some() && stated.reads_its_name(stated.path()) {
        // Name and path belong together; it is the key that is missing.
        let sought = Sought {
            given: &[],
            name: Some(&key.logical_name),
            property_type: Some(&key.property_type),
            is_key: true,
        };
        let nearest =
            Search::new(known, &entity.name, mappings.iter().map(Mapping::path)).named(&sought);
        if let Some(nearest) = nearest {
            let to_key = patch::replace("/key_field", as_mapping(&key.logical_name, &nearest.path));
            let rest = patch::add("/property_fields/-", as_mapping(name, stated.path()));
            return propose(finding, Some((patch::both(to_key, rest), nearest.certain)));
        }
    }
    let renamed = patch::replace("/key_field/property_name", &key.logical_name);
    propose(finding, Some((renamed, means_key(name, stated.path(), entity, key))))
}

fn unknown_property(mapping: &Mapping<'_>, entity: &Entity) -> Finding {
    let name = mapping.field.property_name();
    let at = format!("{}/property_name", mapping.at);
    let expected = format!(
        "a property of {}: {}",
        quoted(&entity.name),
        list(entity.properties.iter().map(|it| it.logical_name.as_str()))
    );
    Finding::new(Stage::Fit, UNKNOWN_PROPERTY, at, expected, quoted(name))
}

/// Which of these properties was meant by a name and a path, and whether nothing else could be.
pub(crate) fn likely_property<'g>(
    written: Option<&str>,
    path: &[String],
    free: &[&'g Property],
    known: &Known<'_>,
) -> Option<(&'g Property, bool)> {
    let fits =
        |property: &Property| !known.has(path) || known.admits(path, Some(&property.property_type));
    let fitting = || free.iter().copied().filter(|property| fits(property));
    let near = written.and_then(|written| {
        best(
            fitting()
                .map(|it| (alike(written, &it.logical_name).max(alike(written, &it.column)), it)),
        )
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

/// How alike two names are. One that has all the words of the other is a short form of it.
fn alike(a: &str, b: &str) -> f64 {
    let (left, right) = (likeness::words(a), likeness::words(b));
    let (short, long) = if left.len() < right.len() { (&left, &right) } else { (&right, &left) };
    let within = !short.is_empty() && short.iter().all(|word| long.contains(word));
    likeness::names(a, b).max(if within { SLIP } else { 0.0 })
}

/// The best of what was scored, its score, and how far it is ahead of the second best.
fn best<T>(scored: impl Iterator<Item = (f64, T)>) -> Option<(f64, T, f64)> {
    let mut scored: Vec<(f64, T)> = scored.collect();
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let mut scored = scored.into_iter();
    let (first, it) = scored.next()?;
    let second = scored.next().map_or(0.0, |(score, _)| score);
    Some((first, it, first - second))
}

pub(super) fn propose(finding: Finding, proposed: Option<(json_patch::Patch, bool)>) -> Finding {
    match proposed {
        Some((patch, true)) => finding.mended_by(patch),
        Some((patch, false)) => finding.perhaps(patch),
        None => finding,
    }
}

fn list<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut names = names.map(quoted);
    let mut listed: Vec<String> = names.by_ref().take(MAX_NAMED).collect();
    let more = names.count();
    if more > 0 {
        listed.push(format!("and {more} more"));
    }
    listed.join(", ")
}
