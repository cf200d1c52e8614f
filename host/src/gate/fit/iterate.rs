//! What each `for_each` goes over, and where one is missing.

use json_patch::Patch;
use serde_json::{Value, json};

use super::keys::{from, in_long_form};
use super::known::Known;
use super::likeness;
use super::names::propose;
use super::nearest::is_presentable;
use super::paths::{show, shown};
use super::relocate::{Meant, relocate};
use super::scope::Scopes;
use super::types::described;
use super::values::Through;
use super::{FOR_EACH_NOT_ARRAY, FOR_EACH_NOT_OBJECT, UNKNOWN_PATH};
use crate::diagnostics::finding::{Finding, patch};
use crate::diagnostics::problem::Stage;
use crate::evidence::{Kind, Path};
use crate::plan::expr::{ForEach, Iteration, Level, Over};
use crate::plan::{Endpoint, Form, Plan, Read, Role, innermost};

/// How alike a path has to be for the other to be a slip of it, how alike to be worth a suggestion, and how far ahead of the
/// next one.
const SLIP: f64 = 0.75;
const WORTH_SAYING: f64 = 0.5;
const LEAD: f64 = 0.04;

/// What it costs to make a path ready to be compared, for each of its keys, in steps.
const PATH_STEPS: u64 = 500;

/// How many arrays a message names.
const MAX_NAMED: usize = 6;

/// Everything that the plan goes over has to be there in some event, and be an array or an object.
pub(super) fn check(plan: &Plan, scopes: &Scopes<'_>) -> Vec<Finding> {
    let reads = plan.reads();
    let over = reads.iter().filter(|read| read.role == Role::ForEach);
    over.filter_map(|read| iteration(read, &reads, scopes)).collect()
}

fn iteration(read: &Read<'_>, reads: &[Read<'_>], scopes: &Scopes<'_>) -> Option<Finding> {
    let known = scopes.at(read.for_each, read.reference.level)?;
    let path = &read.reference.path;
    let (at, field) = read.pointer.rsplit_once('/')?;
    let (over, wanted, code) = match field {
        "array" => (Over::Array, Kind::Array, FOR_EACH_NOT_ARRAY),
        _ => (Over::Entries, Kind::Object, FOR_EACH_NOT_OBJECT),
    };
    let kinds = known.kinds(path);
    if kinds.contains(wanted) {
        return None;
    }
    let Some((_, first)) = known.values(path).next() else {
        return if known.admits_path(path) { None } else { unknown(read, over, known, scopes) };
    };
    let what = if over == Over::Array { "an array" } else { "an object" };
    let finding = Finding::new(
        Stage::Fit,
        code,
        &read.pointer,
        format!("{what} to go over; {}", listed(over, known)),
        format!("{} at {}", described(first), shown(path)),
    );
    let finding = show(finding, known.values(path).map(|(seen, _)| seen));
    let other = match over {
        Over::Array => (Kind::Object, "entries"),
        Over::Entries => (Kind::Array, "array"),
    };
    let inside: Vec<&Path> = collections(over, known).filter(|it| it.starts_with(path)).collect();
    if let [only] = inside.as_slice() {
        return Some(finding.with_fix(patch::replace(&read.pointer, only)));
    }
    if !kinds.contains(other.0) {
        return Some(propose(
            finding,
            nearest(path, over, known).map(|(it, _)| (patch::replace(&read.pointer, it), false)),
        ));
    }
    // What is read of the elements tells whether the right thing is gone over in the wrong way.
    let renamed = patch::rename(&read.pointer, &format!("{at}/{}", other.1));
    let certain = over == Over::Entries && suits_elements(read, reads, known);
    Some(propose(finding, Some((renamed, certain))))
}

/// Whether all that is read of the elements is there, where they are those of an array.
fn suits_elements(read: &Read<'_>, reads: &[Read<'_>], known: &Known<'_>) -> bool {
    let iteration = Iteration { over: Over::Array, path: read.reference.path.clone() };
    let types = known.event_types();
    let room = known.efforts().room();
    let elements = known.evidence().elements_within(types, &ForEach::new(iteration, None), &room);
    if !known.efforts().searches.take_all(&room) || room.is_over() {
        return false;
    }
    let level = Level(read.reference.level.0 + 1);
    let (owner, _) = read.pointer.split_once("/for_each").unwrap_or_default();
    let mut inside = reads.iter().filter(|it| {
        it.reference.level == level && it.pointer.starts_with(owner) && it.role != Role::ForEach
    });
    inside.all(|it| types.iter().any(|name| elements.knows(name, &it.reference.path)))
}

fn unknown(read: &Read<'_>, over: Over, known: &Known<'_>, scopes: &Scopes<'_>) -> Option<Finding> {
    let path = &read.reference.path;
    let what = if over == Over::Array { "an array" } else { "an object" };
    let finding = Finding::new(
        Stage::Fit,
        UNKNOWN_PATH,
        &read.pointer,
        format!("{what} that {} have; {}", known.of(), listed(over, known)),
        format!("{}, which none of {} samples has", shown(path), known.count()),
    );
    let level = read.reference.level;
    if let Some(Meant::Reference(meant)) = relocate(&read.reference, read.for_each, scopes)
        && meant.level == level
    {
        return Some(finding.with_fix(patch::replace(&read.pointer, &meant.path)));
    }
    let nearest = nearest(path, over, known);
    let is_slip = nearest.as_ref().is_some_and(|(_, certain)| *certain);
    if known.is_thin() && !is_slip && !known.is_blocked(path) {
        return None;
    }
    let patch = nearest.map(|(it, certain)| (patch::replace(&read.pointer, it), certain));
    Some(propose(finding, patch))
}

fn collections<'k>(over: Over, known: &'k Known<'_>) -> impl Iterator<Item = &'k Path> {
    let of_kind = known.collections().iter().filter(move |it| it.iteration.over == over);
    let paths = of_kind.map(|it| &it.iteration.path);
    paths.filter(|path| path.iter().all(|key| is_presentable(key)))
}

fn listed(over: Over, known: &Known<'_>) -> String {
    let names: Vec<String> =
        collections(over, known).take(MAX_NAMED).map(|path| shown(path)).collect();
    match names.is_empty() {
        true => "none is known".to_owned(),
        false => format!("there are {}", names.join(", ")),
    }
}

/// The array, or object, that was meant, and whether nothing else could be.
fn nearest(path: &[String], over: Over, known: &Known<'_>) -> Option<(Path, bool)> {
    let effort = &known.efforts().searches;
    let is_there = |path: &&Path| known.kinds(path).contains(Kind::Array) || over == Over::Entries;
    let spelled = likeness::spelled(path);
    let mut scored: Vec<(f64, &Path)> = collections(over, known)
        .take_while(|it| effort.take(PATH_STEPS * it.len() as u64))
        .filter(is_there)
        .map(|it| {
            let keys = likeness::spelled(it);
            let same_leaf = likeness::same_leaf(&spelled, &keys);
            let alike = likeness::paths(&spelled, &keys, effort);
            (alike.max(if same_leaf { SLIP } else { 0.0 }), it)
        })
        .collect();
    effort.whole(Some(()))?;
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let second = scored.get(1).map_or(0.0, |(score, _)| *score);
    let is_only = scored.len() == 1;
    let (score, path) = scored.into_iter().next()?;
    let certain = score >= SLIP && score - second >= LEAD;
    (score >= WORTH_SAYING || is_only).then(|| (path.clone(), certain))
}

/// What makes a node one for each element of the array that its paths lead through, and whether nothing else could be meant:
/// its key is one of these paths. `None` where they lead through several, or where that takes more than paths.
pub(super) fn added(
    plan: &Plan,
    node: usize,
    through: &[Through],
    written: &Value,
) -> Option<(Patch, bool)> {
    let iteration = &through.first()?.iteration;
    let rule = plan.nodes().get(node)?;
    let is_named = plan
        .edges()
        .iter()
        .any(|edge| [edge.from(), edge.to()].into_iter().any(|end| *end == Endpoint::Node(node)));
    let deepest = innermost(rule.for_each());
    if through.iter().any(|it| it.iteration != *iteration) || is_named || deepest == Level::DEEPEST
    {
        return None;
    }
    let at = plan.node_pointer(node);
    let reads = plan.reads();
    let of_node = reads.iter().filter(|read| match plan.form() {
        Form::Short => matches!(read.role, Role::Key | Role::Property),
        Form::Long => read.pointer.starts_with(&format!("{at}/")),
    });
    let mut edits = Patch::default();
    for read in of_node {
        if read.role == Role::ForEach || read.reference.level != deepest {
            continue;
        }
        let base = read.pointer.strip_suffix("/source_path")?;
        let edit = match through.iter().find(|it| it.pointer == read.pointer) {
            Some(it) => patch::replace(&read.pointer, &it.rest),
            None => {
                let from = from(deepest, Level(deepest.0 + 1))?;
                patch::add(&format!("{base}/from"), from)
            }
        };
        edits = patch::both(edits, edit);
    }
    let certain = through.iter().any(|it| it.is_key);
    let array = json!({"array": iteration.path});
    if plan.form() == Form::Long {
        let nested = if deepest.is_event() { "" } else { "/for_each" };
        let add = patch::add(&format!("{at}/for_each{nested}"), array);
        return Some((patch::both(add, edits), certain));
    }
    let mut short = written.clone();
    json_patch::patch(&mut short, &edits).ok()?;
    let mut node = json!({
        "entity_name": rule.entity_name(),
        "for_each": array,
        "key_fields": [short.get("key_field")?],
    });
    if let (Some(properties), Some(node)) = (short.get("property_fields"), node.as_object_mut()) {
        node.insert("property_fields".to_owned(), properties.clone());
    }
    Some((in_long_form(written, node), certain))
}
