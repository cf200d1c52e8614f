//! What a plan should go over: the array or map that was meant by a path, or in whose elements its paths are.

use json_patch::Patch;
use serde_json::{Value, json};

use std::rc::Rc;

use super::{LOOKUP, NearestPath, in_long_form, is_presentable, is_slip};
use crate::diagnostics::finding::patch;
use crate::evidence::effort::StepBudgets;
use crate::evidence::similarity::ranking::{Likely, best};
use crate::evidence::similarity::{SUGGESTION_THRESHOLD, TYPO_THRESHOLD, spelling};
use crate::evidence::{Evidence, Path, PathIndex};
use crate::gate::fit::joins;
use crate::json::JsonKind;
use crate::plan::expr::{ForEach, Iteration, Level, Over};
use crate::plan::language::start_word;
use crate::plan::{Form, Plan, Read, Role, innermost};

/// How many arrays of the events, and in the elements of each, are looked into.
const MAX_ARRAYS: usize = 48;

/// What it costs to make a path ready to be compared, for each of its keys, in steps.
const PATH_STEPS: u64 = 500;

/// A path of an element, or of one around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ElementPath {
    /// The path.
    pub(crate) path: Vec<String>,
    /// How many iterations further out the element is that it starts at.
    pub(crate) outwards: u8,
}

/// The iterations of whose elements these are paths, all of them. None where the search ends for want of effort.
pub(crate) fn iterations_with(
    evidence: &Evidence,
    types: &[&str],
    wanted: &[ElementPath],
    efforts: &StepBudgets,
) -> Vec<ForEach> {
    let searches = &efforts.searches;
    // Whoever is asked for what many lists hold has to look at each of their elements.
    let elements = |for_each: &ForEach| {
        let room = efforts.room();
        let elements = evidence.elements_within(types, for_each, &room);
        let looked_up = searches.take(LOOKUP * (wanted.len() * types.len()) as u64);
        (searches.take_all(&room) && looked_up).then_some(elements)
    };
    let has = |evidence: &Evidence, it: &ElementPath| {
        types.iter().any(|name| evidence.knows(name, &it.path))
    };
    let mut suiting = Vec::new();
    // Each with what is known of the elements of all its levels, the innermost last.
    let mut open: Vec<(ForEach, Vec<Rc<Evidence>>)> = Vec::new();
    let outermost = arrays(evidence, types).into_iter();
    open.extend(outermost.rev().map(|it| (ForEach::new(it), Vec::new())));
    while let Some((for_each, mut known)) = open.pop() {
        let Some(innermost) = elements(&for_each) else { return Vec::new() };
        known.push(Rc::new(innermost));
        let is_there = |it: &ElementPath| {
            let at = known.iter().rev().nth(usize::from(it.outwards));
            at.is_some_and(|elements| has(elements, it))
        };
        if wanted.iter().all(is_there) {
            suiting.push(for_each.clone());
        }
        if let Some(elements) = known.last()
            && for_each.level() < Level::DEEPEST
        {
            let nested = arrays(elements, types).into_iter().rev();
            open.extend(nested.map(|it| (for_each.clone().around(it), known.clone())));
        }
    }
    suiting
}

fn arrays(evidence: &Evidence, types: &[&str]) -> Vec<Iteration> {
    let all = evidence.arrays(types).into_iter().map(|it| it.iteration);
    all.filter(|it| it.over() == Over::Array).take(MAX_ARRAYS).collect()
}

/// What there is to go over, as far as it may be suggested.
pub(in crate::gate::fit) fn collections<'k>(
    over: Over,
    known: &'k PathIndex<'_>,
) -> impl Iterator<Item = &'k Path> {
    let of_kind = known.collections().iter().filter(move |it| it.iteration.over() == over);
    let paths = of_kind.filter_map(|it| it.iteration.paths().first());
    paths.filter(|path| path.iter().all(|key| is_presentable(key)))
}

/// The array, or object, that was meant.
pub(in crate::gate::fit) fn nearest_collection(
    path: &[String],
    over: Over,
    known: &PathIndex<'_>,
) -> Option<NearestPath> {
    let effort = &known.efforts.searches;
    let is_there =
        |path: &&Path| known.kinds(path).contains(JsonKind::Array) || over == Over::Entries;
    let spelled = spelling::spelled(path);
    let there: Vec<&Path> = collections(over, known)
        .take_while(|it| effort.take(PATH_STEPS * it.len() as u64))
        .filter(is_there)
        .collect();
    let scored = there.iter().map(|it| {
        let keys = spelling::spelled(it);
        let same_leaf = spelling::same_leaf(&spelled, &keys);
        let alike = spelling::paths(&spelled, &keys, effort);
        (alike.max(if same_leaf { TYPO_THRESHOLD } else { 0.0 }), *it)
    });
    let nearest = effort.whole(best(scored))?;
    let is_worth_it = nearest.score >= SUGGESTION_THRESHOLD || there.len() == 1;
    let is_typo = nearest.is_clear_typo();
    let found = NearestPath::new(nearest.item, is_typo, is_typo);
    is_worth_it.then(|| found.certain_if(is_slip(path, nearest.item)))
}

/// Whether all that is read of the elements is there, where they are those of an array.
pub(in crate::gate::fit) fn reads_elements(
    read: &Read<'_>,
    reads: &[Read<'_>],
    known: &PathIndex<'_>,
) -> bool {
    let iteration = Iteration::new(Over::Array, read.reference.path.clone());
    let types = &known.event_types;
    let room = known.efforts.room();
    let elements = known.evidence.elements_within(types, &ForEach::new(iteration), &room);
    if !known.efforts.searches.take_all(&room) || room.is_over() {
        return false;
    }
    let level = Level(read.reference.level.0 + 1);
    let (owner, _) = read.pointer.split_once("/for_each").unwrap_or_default();
    let mut inside = reads.iter().filter(|it| {
        it.reference.level == level && it.pointer.starts_with(owner) && it.role != Role::ForEach
    });
    inside.all(|it| types.iter().any(|name| elements.knows(name, &it.reference.path)))
}

/// A path that leads through an array.
pub(in crate::gate::fit) struct Through {
    /// The finding about it, by its place among those of the node.
    pub(in crate::gate::fit) finding: usize,
    pub(in crate::gate::fit) pointer: String,
    pub(in crate::gate::fit) iteration: Iteration,
    pub(in crate::gate::fit) rest: Vec<String>,
    pub(in crate::gate::fit) is_key: bool,
}

/// What makes a node one for each element of the array that its paths lead through, certain where its key is
/// one of these paths. `None` where they lead through several, or where that takes more than paths.
pub(in crate::gate::fit) fn added_for_each(
    plan: &Plan,
    node: usize,
    through: &[Through],
    written: &Value,
) -> Option<Likely<Patch>> {
    let iteration = &through.first()?.iteration;
    let rule = plan.nodes().get(node)?;
    let is_named = plan.edges().iter().any(|edge| joins(edge, node));
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
    let own_for_each = format!("{at}/for_each/");
    for read in of_node {
        let is_from_event = read.reference.level.is_event() && !deepest.is_event();
        if read.pointer.starts_with(&own_for_each) || is_from_event {
            continue;
        }
        let base = read.pointer.strip_suffix("/source_path")?;
        let edit = match through.iter().find(|it| it.pointer == read.pointer) {
            Some(it) => patch::replace(&read.pointer, &it.rest),
            None => {
                let from = start_word(read.reference.level, deepest.inside())?;
                patch::add(&format!("{base}/from"), from)
            }
        };
        edits = patch::both(edits, edit);
    }
    let certain = through.iter().any(|it| it.is_key);
    let array = json!({"array": iteration.path()});
    if plan.form() == Form::Long {
        let nested = "/for_each".repeat(usize::from(deepest.0));
        let add = patch::add(&format!("{at}/for_each{nested}"), array);
        return Some(Likely::new(patch::both(add, edits), certain));
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
    Some(Likely::new(in_long_form(written, node), certain))
}
