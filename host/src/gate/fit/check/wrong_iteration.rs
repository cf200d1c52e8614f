//! Nodes that go over the wrong thing, by what they read of the elements: where a `for_each` is missing, or goes over something
//! else, most of the paths of a node lead nowhere, and there is one array in whose elements all of them are.

use std::collections::BTreeSet;

use crate::diagnostics::codes::{FOR_EACH_NOT_ARRAY, MISSING_FOR_EACH, UNKNOWN_PATH};
use crate::diagnostics::finding::{Finding, patch};
use crate::diagnostics::problem::Stage;
use crate::evidence::shown_elements;
use crate::evidence::similarity::ranking::Likely;
use crate::gate::fit::scope::Scopes;
use crate::gate::fit::suggest::{ElementPath, iterations_with};
use crate::gate::fit::{is_in, joins};
use crate::plan::{Form, NodeRule, Plan, Read, Role, innermost};

/// Says of each node most of whose paths are unknown what it should go over, in the place of all that is said of those paths.
pub(in crate::gate::fit) fn check(plan: &Plan, scopes: &Scopes<'_>, findings: &mut Vec<Finding>) {
    if plan.form() == Form::Short {
        return;
    }
    let reads = plan.reads();
    for (index, node) in plan.nodes().iter().enumerate() {
        let Some(found) = astray(plan, index, node, &reads, scopes, findings) else {
            continue;
        };
        let at = plan.node_pointer(index);
        let follows =
            |it: &Finding| is_in(&it.pointer, &at) || is_of_edge(plan, index, &it.pointer);
        let is_about_path =
            |it: &Finding| matches!(it.code, UNKNOWN_PATH | MISSING_FOR_EACH | FOR_EACH_NOT_ARRAY);
        let place = findings.iter().position(|it| is_about_path(it) && follows(it));
        // What is said of the `for_each` itself stays, with what fixes it.
        let of_for_each = format!("{at}/for_each");
        let said =
            findings.iter().find(|it| is_about_path(it) && is_of_list(&it.pointer, &of_for_each));
        let found = match said {
            Some(said) => Finding { suggestion: found.suggestion, ..said.clone() },
            None => found,
        };
        findings.retain(|it| !(is_about_path(it) && follows(it)));
        findings.insert(place.unwrap_or_default().min(findings.len()), found);
    }
}

/// Whether a place in a `for_each` says what is gone over, and not what has to hold of it.
fn is_of_list(pointer: &str, for_each: &str) -> bool {
    is_in(pointer, for_each) && !pointer.contains("/where/")
}

/// Whether a place is in an edge that goes over what the node goes over.
fn is_of_edge(plan: &Plan, node: usize, pointer: &str) -> bool {
    let mut edges = plan.edges().iter().enumerate();
    edges.any(|(index, edge)| joins(edge, node) && is_in(pointer, &plan.edge_pointer(index)))
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
    let (evidence, types) = (event.evidence, &event.event_types);
    let at = plan.node_pointer(index);
    let level = innermost(node.for_each());
    let here = scopes.at(node.for_each(), level)?;
    let unknown = findings.iter().filter(|it| it.code == UNKNOWN_PATH);
    let unknown: BTreeSet<&str> = unknown.map(|it| it.pointer.as_str()).collect();
    // Of the paths of a template, one finding doesn't say which it is about.
    let is_lost = |read: &&Read<'_>| {
        unknown.contains(read.pointer.as_str()) && !here.has(&read.reference.path)
    };
    // What a `for_each` itself reads goes with it.
    let for_each_at = format!("{at}/for_each");
    let is_of_node = |it: &&Read<'_>| is_in(&it.pointer, &at) && !is_in(&it.pointer, &for_each_at);
    let of_node = reads.iter().filter(is_of_node);
    let inside: Vec<&Read<'_>> =
        of_node.filter(|it| it.reference.level == level && !it.reference.path.is_empty()).collect();
    // Nothing is known of the elements of what isn't there.
    let is_over_nothing = findings.iter().any(|it| {
        let is_code = matches!(it.code, UNKNOWN_PATH | FOR_EACH_NOT_ARRAY);
        is_code && !it.is_certain() && is_of_list(&it.pointer, &for_each_at)
    });
    let lost = inside.iter().copied().filter(|read| is_over_nothing || is_lost(read));
    let lost: Vec<&Read<'_>> = lost.collect();
    let has_key = lost.iter().any(|read| read.role == Role::Key);
    if !has_key && 2 * lost.len() <= inside.len() || lost.is_empty() {
        return None;
    }
    let from_parent = |it: &&Read<'_>| {
        let is_outside = !it.reference.level.is_event() && it.reference.level < level;
        is_in(&it.pointer, &at) && !is_in(&it.pointer, &for_each_at) && is_outside
    };
    let parents = reads.iter().filter(|it| from_parent(it));
    let wanted = |read: &Read<'_>| ElementPath {
        path: read.reference.path.clone(),
        outwards: level.0 - read.reference.level.0,
    };
    let all: Vec<ElementPath> = lost.iter().copied().chain(parents).map(wanted).collect();
    let suiting = iterations_with(evidence, types, &all, efforts);
    let [only] = suiting.as_slice() else { return None };
    // A condition on elements isn't one on others.
    if node.for_each().is_some_and(|it| it == only || !it.conditions().is_empty()) {
        return None;
    }
    let place = for_each_at;
    let mut patch = patch::add(&place, only);
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
    let over = shown_elements(only);
    let observed = match node.for_each() {
        Some(other) => format!("elements {}, none of which has them", shown_elements(other)),
        None => "a node for the event, which has none of them".to_owned(),
    };
    let expected =
        format!("a node for each of {over}, whose elements have the paths that it reads");
    // A list that no sample has may be there.
    let is_unseen = findings
        .iter()
        .any(|it| it.code == UNKNOWN_PATH && !it.is_certain() && is_of_list(&it.pointer, &place));
    let likely = Likely::new(patch, !is_unseen);
    let finding = Finding::new(Stage::Fit, MISSING_FOR_EACH, place, expected, observed);
    Some(finding.suggesting(Some(likely)))
}
