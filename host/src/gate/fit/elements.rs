//! What should be gone over, told by what is read of the elements: where a `for_each` is missing, or goes over something
//! else, most of the paths of a node lead nowhere, and there is one array in whose elements all of them are.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::efforts::Efforts;
use super::scope::Scopes;
use super::{FOR_EACH_NOT_ARRAY, MISSING_FOR_EACH, UNKNOWN_PATH};
use crate::diagnostics::finding::{Finding, patch};
use crate::diagnostics::problem::Stage;
use crate::diagnostics::untrusted::quoted;
use crate::evidence::{Evidence, Step, shown_steps};
use crate::plan::expr::{ForEach, Iteration, Level, Over};
use crate::plan::{Endpoint, Form, NodeRule, Plan, Read, Role, innermost};

/// How many arrays of the events, and in the elements of each, are looked into.
const MAX_ARRAYS: usize = 48;

/// What it costs to see whether samples of a type have a path, in steps.
const LOOKUP: u64 = 100;

/// A path of an element, or of the one around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The path.
    pub(crate) path: Vec<String>,
    /// Whether it starts at the element of the outer iteration.
    pub(crate) from_parent: bool,
}

/// The iterations of whose elements these are paths, all of them. None where the search ends for want of effort.
pub(crate) fn suiting(
    evidence: &Evidence,
    types: &[&str],
    wanted: &[Wanted],
    efforts: &Efforts,
) -> Vec<ForEach> {
    let searches = &efforts.searches;
    // Whoever is asked for what many lists hold has to look at each of their elements.
    let elements = |for_each: &ForEach| {
        let room = efforts.room();
        let elements = evidence.elements_within(types, for_each, &room);
        let looked_up = searches.take(LOOKUP * (wanted.len() * types.len()) as u64);
        (searches.take_all(&room) && looked_up).then_some(elements)
    };
    let (outer, inner): (Vec<&Wanted>, Vec<&Wanted>) = wanted.iter().partition(|it| it.from_parent);
    let has = |evidence: &Evidence, wanted: &[&Wanted]| {
        wanted.iter().all(|it| types.iter().any(|name| evidence.knows(name, &it.path)))
    };
    let mut suiting = Vec::new();
    for first in arrays(evidence, types) {
        let one = ForEach::new(first.clone(), None);
        let Some(elements_of_one) = elements(&one) else { return Vec::new() };
        if outer.is_empty() && has(&elements_of_one, &inner) {
            suiting.push(one.clone());
        }
        if !has(&elements_of_one, &outer) {
            continue;
        }
        for second in arrays(&elements_of_one, types) {
            let both = ForEach::new(first.clone(), Some(second));
            let Some(elements_of_both) = elements(&both) else { return Vec::new() };
            if has(&elements_of_both, &inner) {
                suiting.push(both);
            }
        }
    }
    suiting
}

fn arrays(evidence: &Evidence, types: &[&str]) -> Vec<Iteration> {
    let all = evidence.arrays(types).into_iter().map(|it| it.iteration);
    all.filter(|it| it.over == Over::Array).take(MAX_ARRAYS).collect()
}

/// A `for_each` as plans write it.
pub(crate) fn written(for_each: &ForEach) -> Value {
    let one = |iteration: &Iteration| match iteration.over {
        Over::Array => json!({"array": iteration.path}),
        Over::Entries => json!({"entries": iteration.path}),
    };
    let mut levels = for_each.levels();
    let mut value = levels.next().map(one).unwrap_or_default();
    if let (Some(inner), Some(fields)) = (levels.next(), value.as_object_mut()) {
        fields.insert("for_each".to_owned(), one(inner));
    }
    value
}

/// Says of each node most of whose paths are unknown what it should go over, in the place of all that is said of those paths.
pub(super) fn check(plan: &Plan, scopes: &Scopes<'_>, findings: &mut Vec<Finding>) {
    if plan.form() == Form::Short {
        return;
    }
    let reads = plan.reads();
    for (index, node) in plan.nodes().iter().enumerate() {
        let Some(told) = astray(plan, index, node, &reads, scopes, findings) else {
            continue;
        };
        let at = plan.node_pointer(index);
        let follows =
            |it: &Finding| is_in(&it.pointer, &at) || is_of_edge(plan, index, &it.pointer);
        let is_about_path =
            |it: &Finding| matches!(it.code, UNKNOWN_PATH | MISSING_FOR_EACH | FOR_EACH_NOT_ARRAY);
        let place = findings.iter().position(|it| is_about_path(it) && follows(it));
        // What is said of the `for_each` itself stays, with what mends it.
        let of_for_each = format!("{at}/for_each");
        let said = findings.iter().find(|it| is_about_path(it) && is_in(&it.pointer, &of_for_each));
        let told = match said {
            Some(said) => Finding { suggestion: told.suggestion, ..said.clone() },
            None => told,
        };
        findings.retain(|it| !(is_about_path(it) && follows(it)));
        findings.insert(place.unwrap_or_default().min(findings.len()), told);
    }
}

fn is_in(pointer: &str, at: &str) -> bool {
    pointer.strip_prefix(at).is_some_and(|rest| rest.starts_with('/'))
}

/// Whether a place is in an edge that goes over what the node goes over.
fn is_of_edge(plan: &Plan, node: usize, pointer: &str) -> bool {
    plan.edges().iter().enumerate().any(|(index, edge)| {
        let names_it = [edge.from(), edge.to()].into_iter().any(|it| *it == Endpoint::Node(node));
        names_it && is_in(pointer, &plan.edge_pointer(index))
    })
}

fn astray(
    plan: &Plan,
    index: usize,
    node: &NodeRule,
    reads: &[Read<'_>],
    scopes: &Scopes<'_>,
    findings: &[Finding],
) -> Option<Finding> {
    let (event, efforts) = (scopes.event(), scopes.efforts());
    let (evidence, types) = (event.evidence(), event.event_types());
    let at = plan.node_pointer(index);
    let level = innermost(node.for_each());
    let here = scopes.at(node.for_each(), level)?;
    let unknown = findings.iter().filter(|it| it.code == UNKNOWN_PATH);
    let unknown: BTreeSet<&str> = unknown.map(|it| it.pointer.as_str()).collect();
    // Of the paths of a template, one finding doesn't say which it is about.
    let is_lost = |read: &&Read<'_>| {
        unknown.contains(read.pointer.as_str()) && !here.has(&read.reference.path)
    };
    let of_node = reads.iter().filter(|it| is_in(&it.pointer, &at) && it.role != Role::ForEach);
    let inside: Vec<&Read<'_>> =
        of_node.filter(|it| it.reference.level == level && !it.reference.path.is_empty()).collect();
    // Nothing is known of the elements of what isn't there.
    let is_over_nothing = findings.iter().any(|it| {
        let is_code = matches!(it.code, UNKNOWN_PATH | FOR_EACH_NOT_ARRAY);
        is_code && !it.is_certain() && is_in(&it.pointer, &format!("{at}/for_each"))
    });
    let lost = inside.iter().copied().filter(|read| is_over_nothing || is_lost(read));
    let lost: Vec<&Read<'_>> = lost.collect();
    let has_key = lost.iter().any(|read| read.role == Role::Key);
    if !has_key && 2 * lost.len() <= inside.len() || lost.is_empty() {
        return None;
    }
    let from_parent = |it: &&Read<'_>| {
        is_in(&it.pointer, &at) && level == Level::DEEPEST && it.reference.level == Level(1)
    };
    let parents = reads.iter().filter(|it| from_parent(it) && it.role != Role::ForEach);
    let wanted = |read: &Read<'_>, from_parent: bool| Wanted {
        path: read.reference.path.clone(),
        from_parent,
    };
    let all: Vec<Wanted> = lost
        .iter()
        .map(|read| wanted(read, false))
        .chain(parents.map(|read| wanted(read, true)))
        .collect();
    let suiting = suiting(evidence, types, &all, efforts);
    let [only] = suiting.as_slice() else { return None };
    if node.for_each() == Some(only) {
        return None;
    }
    let place = format!("{at}/for_each");
    let mut patch = patch::add(&place, written(only));
    let room = efforts.room();
    let elements = evidence.elements_within(types, only, &room);
    if !efforts.searches.take_all(&room) {
        return None;
    }
    let knows = |path: &[String]| types.iter().any(|name| elements.knows(name, path));
    let others = inside.iter().filter(|read| !lost.contains(read));
    // A template says by itself what starts at the event.
    let others = others.filter(|read| read.pointer.ends_with("/source_path"));
    for read in others.filter(|it| !knows(&it.reference.path)) {
        // What isn't lost is where it was read from, and not in the elements.
        let base = read.pointer.strip_suffix("/source_path").filter(|_| level.is_event())?;
        patch = patch::both(patch, patch::add(&format!("{base}/from"), "event"));
    }
    let over = quoted(&shown_steps(&Step::elements(only)));
    let observed = match node.for_each() {
        Some(other) => format!(
            "elements {}, none of which has them",
            quoted(&shown_steps(&Step::elements(other)))
        ),
        None => "a node for the event, which has none of them".to_owned(),
    };
    let expected =
        format!("a node for each of {over}, whose elements have the paths that it reads");
    Some(Finding::new(Stage::Fit, MISSING_FOR_EACH, place, expected, observed).with_fix(patch))
}
