//! The entity or property that was meant by a name.

use crate::evidence::PathIndex;
use crate::evidence::effort::StepBudget;
use crate::evidence::similarity::ranking::{Likely, best, only};
use crate::evidence::similarity::{SUGGESTION_THRESHOLD, TYPO_THRESHOLD, spelling};
use crate::graph::GraphSpec;
use crate::graph::spec::{Entity, PropertySpec};

/// How much of a property's name a path has to have, more than of any other's, to be read for it.
const CLEARLY_SAID: f64 = 0.25;

/// How many bytes of a path are looked at, at most.
const MAX_BYTES: usize = 4_096;

/// What it costs to look for a name among those of an entity, in steps, and to make names ready to be compared, for each
/// byte.
const LOOKUP: u64 = 30;
const READING: u64 = 16;

/// The entity that was meant: by its name, or by the key and the properties. None where the search ends for want of effort.
pub(crate) fn likely_entity<'g>(
    written: Option<&str>,
    key: Option<&str>,
    properties: &[&str],
    graph: &'g GraphSpec,
    effort: &StepBudget,
) -> Option<Likely<&'g Entity>> {
    let lookups = (properties.len() + 1) * graph.entities().len();
    if !effort.take(LOOKUP * lookups as u64) {
        return None;
    }
    let has_key =
        |entity: &Entity| key.is_some_and(|key| entity.key_properties().any(|it| it.is_named(key)));
    let count =
        |entity: &Entity| properties.iter().filter(|name| entity.property(name).is_some()).count();
    // That a name is near, or that there is no other entity, says nothing where the plan speaks of other things.
    let shares_names =
        |entity: &Entity| has_key(entity) || is_half(count(entity), properties.len());
    if let Some(written) = written {
        let alike =
            |it: &'g Entity| (spelling::names_or_short_forms(written, &it.name, effort), it);
        let nearest = effort.whole(best(graph.entities().iter().map(alike)))?;
        if nearest.is_clear_typo() {
            let entity = nearest.item;
            let is_typo = spelling::names(written, &entity.name, effort) >= TYPO_THRESHOLD;
            return effort.whole(Some(Likely::new(entity, is_typo || shares_names(entity))));
        }
    }
    if let [only] = graph.entities() {
        return Some(Likely::new(only, shares_names(only)));
    }
    let score = |entity: &Entity| {
        (count(entity) + usize::from(has_key(entity)) * (properties.len() + 1)) as f64
    };
    let nearest = best(graph.entities().iter().map(|it| (score(it), it)))?;
    let has_all = nearest.score >= (2 * properties.len() + 1) as f64;
    let certain = nearest.margin > 0.0 && has_all;
    (nearest.score > 0.0).then(|| Likely::new(nearest.item, certain))
}

/// Whether a plan is about an entity by the number of its properties that the entity has.
pub(in crate::gate::fit) fn is_half(known: usize, all: usize) -> bool {
    known > 0 && 2 * known >= all
}

/// Whether a key of another name is the entity's key after all: the name is a misspelt one of it, or it after the entity's
/// name, or its path says the key's name.
pub(crate) fn means_key(
    written: &str,
    path: &[String],
    entity: &Entity,
    key: &PropertySpec,
    effort: &StepBudget,
) -> bool {
    let full = |name: &str| spelling::plain(&entity.name) + &spelling::plain(name);
    [&key.logical_name, &key.column].into_iter().any(|name| {
        spelling::names(written, name, effort) >= TYPO_THRESHOLD
            || spelling::plain(written) == full(name)
            || spelling::ends_in(path, name)
    })
}

/// Which of these properties was meant by a name and a path. An empty path says nothing. None where the search ends for want
/// of effort.
pub(crate) fn likely_property<'g>(
    written: Option<&str>,
    path: &[String],
    free: &[&'g PropertySpec],
    known: &PathIndex<'_>,
) -> Option<Likely<&'g PropertySpec>> {
    let effort = &known.efforts.searches;
    let bytes: usize = path.iter().map(String::len).sum();
    let steps = LOOKUP + READING * bytes.min(MAX_BYTES) as u64;
    if !effort.take(steps * free.len() as u64) {
        return None;
    }
    let fits = |property: &&&PropertySpec| {
        path.is_empty() || !known.has(path) || known.admits(path, Some(&property.property_type))
    };
    let fitting: Vec<&'g PropertySpec> = free.iter().filter(fits).copied().collect();
    let alike = |written: &str, it: &PropertySpec| {
        let column = spelling::names_or_short_forms(written, &it.column, effort);
        spelling::names_or_short_forms(written, &it.logical_name, effort).max(column)
    };
    let nearest =
        written.and_then(|written| best(fitting.iter().map(|it| (alike(written, it), *it))));
    effort.whole(Some(()))?;
    if let Some(nearest) = nearest.filter(|it| it.is_clear_typo()) {
        return Some(Likely::new(nearest.item, true));
    }
    let named = |it: &&&PropertySpec| {
        spelling::ends_in(path, &it.logical_name) || spelling::ends_in(path, &it.column)
    };
    if let Some(property) = only(fitting.iter().filter(named)) {
        return Some(Likely::new(property, true));
    }
    if let Some(nearest) = nearest.filter(|it| it.score >= SUGGESTION_THRESHOLD) {
        return Some(Likely::new(nearest.item, false));
    }
    // Without a name, the path alone: one whose words the path has, and no other's.
    let said = |it: &PropertySpec| spelling::affinity(&it.logical_name, path);
    said_most(fitting.iter().map(|it| (said(it), *it))).filter(|_| written.is_none())
}

/// Of properties, each with how much of its name is said, the one of which the most is; certain where that is clear.
pub(crate) fn said_most<'g>(
    said: impl Iterator<Item = (f64, &'g PropertySpec)>,
) -> Option<Likely<&'g PropertySpec>> {
    let most = best(said)?;
    let is_clear = most.score >= CLEARLY_SAID && most.margin >= CLEARLY_SAID;
    (most.score > 0.0).then(|| Likely::new(most.item, is_clear))
}

/// The name of a property that is nearest to what was written: results may use the column's as well as the logical one.
pub(crate) fn called<'g>(
    property: &'g PropertySpec,
    written: &str,
    effort: &StepBudget,
) -> &'g str {
    let PropertySpec { logical_name, column, .. } = property;
    let near = |name: &str| spelling::names(written, name, effort);
    if column != logical_name && near(column) > near(logical_name) { column } else { logical_name }
}
