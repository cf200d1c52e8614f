//! Paths: whether they exist, from where they start.

use super::known::{Known, smallest};
use super::mapping::Mapping;
use super::names::propose;
use super::nearest::{Nearest, Search, Sought};
use super::relocate::{Meant, parsed, relocate, rewritten};
use super::scope::Scopes;
use super::{MISSING_FOR_EACH, PATH_NOT_SCALAR, UNKNOWN_PATH};
use crate::diagnostics::finding::{Finding, patch};
use crate::diagnostics::problem::Stage;
use crate::diagnostics::untrusted::quoted;
use crate::evidence::{Seen, dotted};
use crate::graph::spec::Property;
use crate::plan::expr::{ForEach, Iteration, Reference, Template};
use crate::plan::{Plan, Read, Role, innermost};

/// A path of the plan that is looked at.
pub(super) struct Place<'p> {
    /// Pointer to what says it.
    pub(super) pointer: String,
    pub(super) reference: &'p Reference,
    pub(super) for_each: Option<&'p ForEach>,
    /// The template that it is written in.
    pub(super) template: Option<&'p Template>,
    /// Whether conversions may follow, and whether there are any.
    pub(super) has_chain: Option<bool>,
}

/// What is looked for at it.
pub(super) struct Aim<'p> {
    /// What the value is called.
    pub(super) name: Option<&'p str>,
    /// The property that it is for.
    pub(super) property: Option<&'p Property>,
    pub(super) is_key: bool,
    /// What is removed from the plan to be rid of the path, where it can be.
    pub(super) removable: Option<String>,
    /// Whether events always have what is looked for, so that few samples are enough to tell.
    pub(super) is_always_there: bool,
    /// The paths of which it is one alternative: such a one may be there for events that no sample is of, unless it is another
    /// path misspelt, and not that of a further alternative.
    pub(super) alternatives: &'p [&'p Reference],
}

/// An unknown path, and what it leads through where that is an array.
pub(super) struct Unknown {
    pub(super) finding: Finding,
    pub(super) through: Option<(Iteration, Vec<String>)>,
}

/// What is wrong with a path that isn't there; nothing where it may be, all the same.
pub(super) fn unknown(
    place: &Place<'_>,
    aim: &Aim<'_>,
    search: &Search<'_, '_>,
    scopes: &Scopes<'_>,
) -> Option<Unknown> {
    let Place { pointer, reference, for_each, .. } = place;
    let known = scopes.at(*for_each, reference.level)?;
    let path = &reference.path;
    if known.admits_path(path) {
        return None;
    }
    let finding = unknown_at(pointer, path, known);
    let told = |finding| Some(Unknown { finding, through: None });
    // Where little is known, one key may well be in several objects.
    let is_telling = !known.is_thin() || path.len() > 1;
    let is_alternative = aim.alternatives.len() > 1;
    let meant = relocate(reference, *for_each, scopes).filter(|meant| match meant {
        Meant::Reference(new) => is_telling && !aim.alternatives.contains(&new),
        Meant::Element { .. } | Meant::Json { .. } => is_telling && !is_alternative,
    });
    match &meant {
        Some(Meant::Element { iteration, rest }) => {
            let finding = through(pointer, iteration, rest);
            return Some(Unknown { finding, through: Some((iteration.clone(), rest.clone())) });
        }
        Some(Meant::Reference(new)) => {
            let deepest = innermost(*for_each);
            return told(match rewritten(pointer, reference, new, deepest, place.template) {
                Some(patch) => finding.with_fix(patch),
                None => finding,
            });
        }
        Some(Meant::Json { path, rest }) => {
            if let (Some(has_chain), Some(at)) =
                (place.has_chain, pointer.strip_suffix("/source_path"))
            {
                return told(finding.with_fix(parsed(at, path, rest, has_chain)));
            }
            return told(finding);
        }
        None => {}
    }
    let sought = Sought {
        given: path,
        name: aim.property.map(|it| it.logical_name.as_str()).or(aim.name),
        property_type: aim
            .property
            .map(|it| &it.property_type)
            .filter(|_| place.has_chain != Some(true)),
        is_key: aim.is_key,
    };
    let nearest = search.slip(&sought).filter(|nearest| {
        let level = reference.level;
        !aim.alternatives.iter().any(|it| it.level == level && it.path == nearest.path)
    });
    let is_slip = nearest.as_ref().is_some_and(Nearest::is_clear_slip);
    let is_told = aim.is_always_there || !known.is_thin() || known.is_blocked(path);
    if !is_slip && (!is_told || is_alternative) {
        return None;
    }
    let proposed = nearest.and_then(|nearest| {
        let new = Reference { path: nearest.path, level: reference.level };
        let deepest = innermost(*for_each);
        let patch = rewritten(pointer, reference, &new, deepest, place.template)?;
        Some((patch, nearest.certain))
    });
    // That nothing was found says nothing where the search came to no end.
    let removable = aim.removable.as_ref().filter(|_| !search.effort().is_over());
    told(match (proposed, removable) {
        (None, Some(removable)) => finding.with_suggestion(patch::remove(removable)),
        (proposed, _) => propose(finding, proposed),
    })
}

fn unknown_at(at: &str, path: &[String], known: &Known<'_>) -> Finding {
    let count = known.count();
    let or_declared =
        if known.evidence().has_schema() { ", and the event schema doesn't declare" } else { "" };
    Finding::new(
        Stage::Fit,
        UNKNOWN_PATH,
        at,
        format!("a path that {} have", known.of()),
        format!("{}, which none of {count} samples has{or_declared}", shown(path)),
    )
}

/// A path that leads through an array.
fn through(at: &str, iteration: &Iteration, rest: &[String]) -> Finding {
    let array = shown(&iteration.path);
    let inside = if rest.is_empty() { "each element".to_owned() } else { shown(rest) };
    Finding::new(
        Stage::Fit,
        MISSING_FOR_EACH,
        at,
        format!("a for_each over the array {array}, and {inside} inside of it"),
        format!("a path through the array {array}, which leads nowhere"),
    )
}

/// A session or span id, or a key, that is never a scalar.
pub(super) fn no_scalar(at: &str, path: &[String], known: &Known<'_>) -> Finding {
    let found = known.values(path).next().map_or_else(
        || known.declared_kinds(path).to_string(),
        |(_, value)| super::types::described(value),
    );
    let finding = Finding::new(
        Stage::Fit,
        PATH_NOT_SCALAR,
        at,
        "a path at which a string, a number or a boolean is",
        format!("{found} at {}", shown(path)),
    );
    show(finding, known.values(path).map(|(seen, _)| seen))
}

/// The paths that are read for something else than a property: conditions, the session, spans, ids of edges. The defaults
/// need not exist: an event without them belongs to no session and claims no span.
pub(super) fn roles(plan: &Plan, scopes: &Scopes<'_>) -> Vec<Finding> {
    let reads = plan.reads();
    let of_roles = reads.iter().filter(|read| {
        matches!(read.role, Role::Gate | Role::When | Role::Session | Role::Span | Role::EdgeId)
    });
    of_roles.filter_map(|read| role(read, plan, scopes)).collect()
}

fn role(read: &Read<'_>, plan: &Plan, scopes: &Scopes<'_>) -> Option<Finding> {
    let path = read.reference.path.as_slice();
    let name = match read.role {
        Role::Session => Some("session_id"),
        Role::Span if read.pointer.ends_with("/span_id_path") => Some("span_id"),
        _ => None,
    };
    if name.is_some_and(|name| path == [name]) {
        return None;
    }
    let known = scopes.at(read.for_each, read.reference.level)?;
    let search = Search::new(known, "", []);
    let template = plan.edges().iter().enumerate().find_map(|(index, edge)| {
        let is_its = read.pointer == format!("{}/edge_id", plan.edge_pointer(index));
        edge.edge_id().filter(|_| is_its)
    });
    let place = Place {
        pointer: read.pointer.clone(),
        reference: &read.reference,
        for_each: read.for_each,
        template,
        has_chain: None,
    };
    let aim = Aim {
        name,
        property: None,
        is_key: false,
        removable: None,
        is_always_there: name.is_some(),
        alternatives: &[],
    };
    if let Some(unknown) = unknown(&place, &aim, &search, scopes) {
        return Some(unknown.finding);
    }
    // An id has to be a scalar somewhere.
    if name.is_none() || known.admits(path, None) || known.values(path).next().is_none() {
        return None;
    }
    let sought = Sought { given: path, name, property_type: None, is_key: false };
    let finding = no_scalar(&read.pointer, path, known);
    Some(repath(finding, &read.pointer, search.named(&sought)))
}

pub(super) fn repath(finding: Finding, at: &str, nearest: Option<Nearest>) -> Finding {
    propose(finding, nearest.map(|it| (patch::replace(at, &it.path), it.certain)))
}

pub(super) fn show<'s>(finding: Finding, samples: impl Iterator<Item = &'s Seen>) -> Finding {
    match smallest(samples) {
        Some(event) => finding.shown_by(event),
        None => finding,
    }
}

/// A path as a finding shows it.
pub(super) fn shown(path: &[String]) -> String {
    if path.is_empty() { "the element itself".to_owned() } else { quoted(&dotted(path)) }
}

/// The searches of the mappings of one node or edge: at each level, for what none of them reads that is sound.
pub(super) fn searches<'k, 't>(
    mappings: &'k [Mapping<'k>],
    for_each: Option<&ForEach>,
    owner: &'k str,
    scopes: &'k Scopes<'t>,
) -> Vec<Search<'k, 't>> {
    let levels = (0..=innermost(for_each).0).map(crate::plan::expr::Level);
    let search = |level| {
        let known = scopes.at(for_each, level)?;
        let sound = mappings
            .iter()
            .filter(move |it| it.plain().is_some_and(|it| it.level == level) && it.is_sound(known));
        Some(Search::new(known, owner, sound.map(Mapping::path)))
    };
    levels.map_while(search).collect()
}
