//! The other way round: right plans whose optional fields no sample happens to show. Nothing of them may be altered.
//!
//! Of each plan, what its properties, conditions and spans read is taken out of the samples: path by path, object by object, every
//! second of them, and all of them; once from the plan as it is, and once from one that has no other property, so that no other
//! one speaks for what its neighbours are read for. There is no event schema, which would know the paths. What gates find may be put
//! to a model or a person; what is applied without asking must leave the plan as it is.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use retort::internal::repair::apply_fixes;
use retort::plan::{self, ForEach, Iteration, Over, Plan, Role};
use retort::{Samples, Task, gate};
use serde_json::{Value, json};

use super::case::Case;
use crate::trial::say;

/// Where a path leads from the event: keys, and through the elements of what is gone over.
type Place = Vec<Step>;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Key(String),
    Each,
}

/// What became of the plans of one source.
#[derive(Default)]
struct Tally {
    plans: usize,
    held_out: usize,
    findings: usize,
    altered: usize,
    notes: Vec<String>,
}

/// Holds out what the plans of these cases read, and asserts that none is altered.
pub(super) fn leave_right_plans_as_they_are(sources: &[(&str, Vec<Case>)]) {
    let mut table = format!(
        "{:<28} {:>6} {:>9} {:>9} {:>8}\n",
        "plans", "plans", "held out", "findings", "altered"
    );
    let mut altered = Vec::new();
    for (name, cases) in sources {
        let mut tally = Tally::default();
        for case in cases {
            tally.case(case);
        }
        let Tally { plans, held_out, findings, altered: count, notes } = tally;
        writeln!(table, "{name:<28} {plans:>6} {held_out:>9} {findings:>9} {count:>8}").unwrap();
        assert!(held_out > 0, "{name}: nothing was held out");
        altered.extend(notes);
    }
    say(&table);
    assert!(altered.is_empty(), "{} altered:\n{}", altered.len(), altered.join("\n"));
}

impl Tally {
    fn case(&mut self, case: &Case) {
        let plan = plan::from_value(&case.plan).unwrap();
        self.plans += 1;
        let optional = optional(&plan);
        let mut sets: BTreeSet<Vec<Place>> =
            optional.iter().map(|(place, _)| vec![place.clone()]).collect();
        let needed = needed(&plan);
        let objects = optional.iter().filter_map(|(place, _)| Some(place.split_last()?.1.to_vec()));
        let is_free = |place: &Place| {
            matches!(place.last(), Some(Step::Key(_)))
                && !needed.iter().any(|it| it.starts_with(place))
        };
        sets.extend(objects.filter(is_free).map(|place| vec![place]));
        // Lists that nodes are made of, with all that is in their elements.
        let lists = lists(&plan);
        sets.extend(lists.into_iter().map(|place| vec![place]));
        let all: Vec<Place> = optional.iter().map(|(place, _)| place.clone()).collect();
        sets.insert(all.iter().step_by(2).cloned().collect());
        sets.insert(all.iter().skip(1).step_by(2).cloned().collect());
        sets.insert(all.clone());
        for set in sets.iter().filter(|set| !set.is_empty()) {
            self.hold_out(case, &case.plan, set);
        }
        self.event_types(case, &plan);
        for (place, pointer) in &optional {
            if let Some(alone) = alone(&case.plan, pointer) {
                self.hold_out(case, &alone, std::slice::from_ref(place));
            }
        }
    }

    /// Holds out the samples of each event type of several.
    fn event_types(&mut self, case: &Case, plan: &Plan) {
        for pattern in plan.event_types().patterns() {
            let samples = case.task.samples().iter();
            let left = samples.filter(|sample| !pattern.matches(sample.event_type()));
            let left: Vec<&str> = left.map(|sample| sample.text()).collect();
            let Ok(samples) = Samples::parse(&left.join("\n"), "samples") else { continue };
            let is_left =
                |sample: &retort::evidence::Sample| plan.event_types().matches(sample.event_type());
            if !samples.iter().any(is_left) {
                continue;
            }
            self.held_out += 1;
            let task = Task::new(case.task.graph().clone(), samples);
            let unfit = gate::fit(plan, &task).err();
            let findings = unfit.iter().flat_map(|unfit| unfit.findings());
            let findings: Vec<_> = findings.cloned().collect();
            self.findings += findings.len();
            if let Some(fixed) = apply_fixes(&case.plan.to_string(), &findings) {
                self.altered += 1;
                let patch = serde_json::to_string(&fixed.patch).unwrap();
                self.notes.push(format!("{}: without {pattern}: {patch}", case.name));
            }
        }
    }

    fn hold_out(&mut self, case: &Case, plan: &Value, places: &[Place]) {
        let lines = case.task.samples().iter().map(|sample| {
            let mut event: Value = serde_json::from_str(sample.text()).unwrap();
            places.iter().for_each(|place| remove(&mut event, place));
            event.to_string()
        });
        let samples = lines.collect::<Vec<_>>().join("\n");
        let samples = Samples::parse(&samples, "samples").unwrap();
        let task = Task::new(case.task.graph().clone(), samples);
        self.held_out += places.len();
        let right = plan::from_value(plan).unwrap();
        let Err(unfit) = gate::fit(&right, &task) else { return };
        self.findings += unfit.findings().len();
        if let Some(fixed) = apply_fixes(&plan.to_string(), unfit.findings()) {
            self.altered += 1;
            let shown: Vec<String> = places.iter().take(3).map(shown).collect();
            let patch = serde_json::to_string(&fixed.patch).unwrap();
            self.notes.push(format!("{}: without {}: {patch}", case.name, shown.join(", ")));
        }
        // What its author says to know is taken from him.
        let mut said = plan.clone();
        let reads = reads_of(&right, places);
        reads.iter().for_each(|pointer| mark(&mut said, pointer));
        let said = plan::from_value(&said).unwrap();
        let left = gate::fit(&said, &task).err();
        let left = left.iter().flat_map(|unfit| unfit.findings());
        let left: Vec<_> = left.filter(|it| reads.contains(&it.pointer)).collect();
        assert!(left.is_empty(), "{}: {places:?}: {left:#?}", case.name);
    }
}

/// The paths that a plan can do without, each with the pointer to one that reads it.
fn optional(plan: &Plan) -> Vec<(Place, String)> {
    let needed = needed(plan);
    let mut found: Vec<(Place, String)> = Vec::new();
    for read in plan.reads() {
        let is_optional =
            matches!(read.role, Role::Property | Role::Gate | Role::When | Role::Span);
        for place in places(read.for_each, read.reference.level.0, &read.reference.path) {
            let is_needed = needed.iter().any(|it| it.starts_with(&place));
            let is_key = matches!(place.last(), Some(Step::Key(_)));
            if is_optional && is_key && !is_needed && !found.iter().any(|(it, _)| *it == place) {
                found.push((place, read.pointer.clone()));
            }
        }
    }
    found
}

/// The lists that a plan goes over, outer ones and inner ones.
fn lists(plan: &Plan) -> BTreeSet<Place> {
    let mut lists = BTreeSet::new();
    for read in plan.reads().iter().filter(|read| read.role == Role::ForEach) {
        lists.extend(places(read.for_each, read.reference.level.0, &read.reference.path));
    }
    lists.retain(|place| matches!(place.last(), Some(Step::Key(_))));
    lists
}

/// What a plan can't do without: keys, what it goes over, the session, span ids, and the type of the event.
fn needed(plan: &Plan) -> Vec<Place> {
    let mut needed = vec![vec![Step::Key("event_type".to_owned())]];
    for read in plan.reads() {
        let is_id = read.pointer.ends_with("span_id_path");
        if matches!(read.role, Role::Key | Role::ForEach | Role::Session | Role::EdgeId) || is_id {
            needed.extend(places(read.for_each, read.reference.level.0, &read.reference.path));
        }
    }
    needed
}

/// Where a path of this level leads.
fn places(for_each: Option<&ForEach>, level: u8, path: &[String]) -> Vec<Place> {
    let levels: Vec<&Iteration> = for_each.map(ForEach::levels).unwrap_or_default();
    let mut starts = vec![Place::new()];
    for iteration in levels.iter().take(usize::from(level)) {
        let inside = |start: &Place, path: &Vec<String>| {
            let keys = path.iter().cloned().map(Step::Key);
            start.iter().cloned().chain(keys).chain([Step::Each]).collect::<Place>()
        };
        let paths = iteration.paths();
        starts = starts.iter().flat_map(|start| paths.iter().map(|it| inside(start, it))).collect();
    }
    // An entry is an object of its own, with the value under a key.
    let is_entry =
        levels.get(usize::from(level).wrapping_sub(1)).is_some_and(|it| it.over() == Over::Entries);
    let path = match path {
        [value, rest @ ..] if is_entry && value == "value" => rest,
        _ if is_entry => return Vec::new(),
        path => path,
    };
    let whole = |start: Place| start.into_iter().chain(path.iter().cloned().map(Step::Key));
    starts.into_iter().map(|start| whole(start).collect()).collect()
}

fn remove(value: &mut Value, place: &[Step]) {
    match (place, value) {
        ([Step::Key(key)], Value::Object(fields)) => {
            fields.remove(key);
        }
        ([Step::Key(key), rest @ ..], Value::Object(fields)) => {
            if let Some(inner) = fields.get_mut(key) {
                remove(inner, rest);
            }
        }
        ([Step::Each, rest @ ..], Value::Array(items)) => {
            items.iter_mut().for_each(|item| remove(item, rest));
        }
        ([Step::Each, rest @ ..], Value::Object(fields)) => {
            fields.values_mut().for_each(|item| remove(item, rest));
        }
        _ => {}
    }
}

fn shown(place: &Place) -> String {
    let step = |step: &Step| match step {
        Step::Key(key) => key.clone(),
        Step::Each => "[]".to_owned(),
    };
    place.iter().map(step).collect::<Vec<_>>().join(".")
}

/// The plan with this property and those of keys alone; none where it is about something else, or has no other.
fn alone(plan: &Value, pointer: &str) -> Option<Value> {
    let (before, after) = pointer.split_once("/property_fields/")?;
    let index: usize = after.split('/').next()?.parse().ok()?;
    let mut plan = plan.clone();
    let kept = plan.pointer(&format!("{before}/property_fields/{index}"))?.clone();
    let mut lists = vec![String::new()];
    for list in ["nodes", "edges"] {
        let count = plan.get(list).and_then(Value::as_array).map_or(0, Vec::len);
        lists.extend((0..count).map(|index| format!("/{list}/{index}")));
    }
    for owner in lists {
        if let Some(fields) = plan.pointer_mut(&owner).and_then(|it| it.get_mut("property_fields"))
        {
            *fields = if owner == before { json!([kept]) } else { json!([]) };
        }
    }
    Some(plan)
}

/// The pointers to all that reads something at these places or inside of them.
fn reads_of(plan: &Plan, gone: &[Place]) -> Vec<String> {
    let is_gone = |place: &Place| gone.iter().any(|it| place.starts_with(it));
    // What the id of an edge is made of can't be said to be unseen.
    let reads = plan.reads().into_iter().filter(|read| {
        if read.role == Role::EdgeId {
            return false;
        }
        let places = places(read.for_each, read.reference.level.0, &read.reference.path);
        places.iter().any(is_gone)
    });
    reads.map(|read| read.pointer).collect()
}

/// Says `unseen` in the object that says what is read at a pointer.
fn mark(plan: &mut Value, pointer: &str) {
    let (mut at, _) = pointer.rsplit_once('/').unwrap();
    while !plan.pointer(at).is_some_and(Value::is_object) {
        at = at.rsplit_once('/').unwrap().0;
    }
    plan.pointer_mut(at).unwrap()["unseen"] = json!(true);
}
