//! What three expected results find of the faults that no gate could know without any.
//!
//! The results are those of the right plan, in full, as `retort label` writes them, for three samples as a person would choose them:
//! different ones. The faults are those for which `knowable` or a kind says that samples, event schema and graph spec say nothing
//! against them, and for each property, in place of its path, every other one that samples have with values of its type. A plan
//! that gives the same as the right one for every sample is no fault by what anybody has shown, and is counted by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use retort::bundle::Request;
use retort::evidence::{Expected, ExpectedSample, Sample};
use retort::graph::Extraction;
use retort::plan::{self, Plan, eval};
use retort::{Pipeline, PipelineError, Task};
use serde_json::json;

use super::case::{Case, path_of};
use super::inject::{self, Fault, KINDS, Kind, MAX_PER_KIND, fault, with};
use super::knowable::Right;
use super::{is_right, right_plan};
use crate::trial::{say, show_output};

/// How many samples a person has said of what they give.
const LABELLED: usize = 3;

/// How many paths are tried in place of one.
const OTHER_PATHS: usize = 3;

/// How the faults of one kind went.
#[derive(Default)]
struct Sums {
    /// Those that no gate could know before, and that some sample shows.
    injected: usize,
    /// Those that no sample shows.
    same: usize,
    rejected: usize,
    /// Those of which a difference names the place.
    localised: usize,
    notes: Vec<String>,
}

impl Sums {
    fn add(&mut self, other: &Self) {
        self.injected += other.injected;
        self.same += other.same;
        self.rejected += other.rejected;
        self.localised += other.localised;
    }

    fn row(&self, name: &str) -> String {
        let of = |part: usize| format!("{part}/{}", self.injected);
        let (injected, same) = (self.injected, self.same);
        let (rejected, localised) = (of(self.rejected), of(self.localised));
        format!("{name:<28} {injected:>8} {same:>6} {rejected:>11} {localised:>11}\n")
    }
}

/// A right plan, with what three samples are expected to give.
struct Labelled<'c> {
    case: &'c Case,
    right: Right<'c>,
    results: Vec<(&'c Sample, Option<Extraction>)>,
    task: Task,
}

fn results<'c>(case: &'c Case, plan: &Plan) -> Vec<(&'c Sample, Option<Extraction>)> {
    case.task.samples().iter().map(|it| (it, eval(plan, it.text()).ok())).collect()
}

impl<'c> Labelled<'c> {
    fn new(case: &'c Case) -> Self {
        let right = Right::new(case);
        let results = results(case, &right.plan);
        let task = &case.task;
        let lines: Vec<String> = chosen(&results)
            .into_iter()
            .map(|(sample, result)| {
                ExpectedSample::line_of(sample.line(), sample.text(), result, task.graph())
            })
            .collect();
        let graph = Some(task.graph());
        let expected =
            Expected::parse(&lines.join("\n"), "expected", task.samples(), graph).unwrap();
        let task = Task::builder(task.graph().clone(), task.samples().clone())
            .event_schema(task.event_schema().cloned())
            .expected(expected)
            .build();
        Self { case, right, results, task }
    }

    fn count(&self, pipeline: &Pipeline, fault: &Fault, sums: &mut Sums) {
        let Ok(plan) = plan::parse(&fault.text) else { return };
        if is_right(&plan, &self.right.plan, fault) {
            return;
        }
        let request = Request::new(&self.task).smoke(self.case.smoke);
        let verdict = pipeline.accept_plan(&plan, request);
        let rejected = match &verdict {
            Ok(_) => false,
            Err(PipelineError::Unconfirmed(_)) => true,
            // Another gate knows.
            Err(_) => return,
        };
        if !rejected && results(self.case, &plan) == self.results {
            sums.same += 1;
            return;
        }
        sums.injected += 1;
        sums.rejected += usize::from(rejected);
        if let Err(PipelineError::Unconfirmed(found)) = verdict {
            let is_there = |place: &String| {
                found.differences().iter().any(|it| {
                    !it.pointer.is_empty()
                        && (place.starts_with(&it.pointer)
                            || it.pointer.starts_with(place.as_str()))
                })
            };
            let localised = fault.places.iter().any(is_there);
            sums.localised += usize::from(localised);
            if !localised {
                let told: Vec<_> = found.differences().iter().map(|it| &it.pointer).collect();
                let Fault { what, places, .. } = fault;
                sums.notes
                    .push(format!("elsewhere: {}: {places:?} {what}: {told:?}", self.case.name));
            }
        } else {
            let Fault { what, places, .. } = fault;
            sums.notes.push(format!("ACCEPTED: {}: {places:?} {what}", self.case.name));
        }
    }
}

/// The samples that a person would choose: of those that give something, each the one that shows most that none before did, first
/// properties, then values.
fn chosen<'r, 'c>(
    results: &'r [(&'c Sample, Option<Extraction>)],
) -> Vec<(&'c Sample, &'r Extraction)> {
    let shows = |result: &Extraction| {
        let mut shown = BTreeSet::new();
        let nodes = result.nodes.iter().map(|it| (&it.entity_name, &it.properties));
        let edges = result.edges.iter().map(|it| (&it.relationship_name, &it.properties));
        for (name, properties) in nodes.chain(edges) {
            shown.insert((name.clone(), String::new(), String::new()));
            for property in properties {
                shown.insert((name.clone(), property.name.clone(), String::new()));
                shown.insert((name.clone(), property.name.clone(), property.value.to_string()));
            }
        }
        shown
    };
    let mut seen = BTreeSet::new();
    let mut chosen: Vec<(&Sample, &Extraction)> = Vec::new();
    while chosen.len() < LABELLED {
        let candidates = results.iter().filter_map(|(sample, result)| {
            let result = result.as_ref().filter(|it| !it.is_empty())?;
            let is_new = !chosen.iter().any(|(it, _)| it.line() == sample.line());
            is_new.then_some((*sample, result))
        });
        let news = |result: &Extraction| {
            let new: Vec<_> = shows(result).difference(&seen).cloned().collect();
            let properties = new.iter().filter(|it| it.2.is_empty()).count();
            (properties, new.len())
        };
        let best = candidates.rev().max_by_key(|(_, result)| news(result));
        let Some(best) = best else { break };
        seen.extend(shows(best.1));
        chosen.push(best);
    }
    chosen
}

/// Each property of a short plan read from every other path that events have with values of its type.
fn other_paths(case: &Case, faults: &mut Vec<Fault>) {
    let evidence = case.task.evidence().of(case.event_type()).unwrap();
    for (at, mapping) in case.mappings() {
        let name = mapping["property_name"].as_str().unwrap();
        let right = path_of(&mapping["source_path"]);
        let fits = |path: &&Vec<String>| {
            **path != right && case.has_scalar(path) && case.is_valid(name, path)
        };
        let all: Vec<_> = evidence.observed().keys().filter(fits).collect();
        for path in all.iter().step_by(all.len().div_ceil(OTHER_PATHS).max(1)) {
            let at = format!("{at}/source_path");
            let mut fault = fault(&with(case, &at, json!(path)), at, path.join("."));
            fault.unknowable = Some("is of the same type");
            faults.push(fault);
        }
    }
}

const OTHER_PATH: Kind = Kind::new("another path of the type", other_paths);

/// Injects every kind of fault into every case: a table, and the sums.
fn measure(cases: &[Case], kinds: &[&Kind], most: usize, by_rule: bool) -> (String, Sums) {
    let pipeline = Pipeline::builder().build().unwrap();
    let labelled: Vec<Labelled<'_>> = cases.iter().map(Labelled::new).collect();
    for it in &labelled {
        let right = right_plan(it.case);
        let request = Request::new(&it.task).smoke(it.case.smoke);
        let confirmed = pipeline.accept_plan(&right, request);
        let confirmed = confirmed.unwrap_or_else(|error| panic!("{}: {error}", it.case.name));
        assert!(!confirmed.confirmed().runs().is_empty(), "{}", it.case.name);
    }
    let mut rows = BTreeMap::new();
    let mut sums = Sums::default();
    let mut notes = String::new();
    for (order, kind) in kinds.iter().enumerate() {
        let mut own = Sums::default();
        for it in &labelled {
            for mut fault in kind.inject(it.case, most) {
                if by_rule {
                    fault.unknowable = it.right.unknowable(&fault.text);
                }
                if fault.unknowable.is_some() {
                    it.count(&pipeline, &fault, &mut own);
                }
            }
        }
        if own.injected + own.same > 0 {
            rows.insert(order, own.row(kind.name));
        }
        for note in &own.notes {
            writeln!(notes, "{}: {note}", kind.name).unwrap();
        }
        sums.add(&own);
    }
    let mut table = format!(
        "{:<28} {:>8} {:>6} {:>11} {:>11}\n",
        "with three expected samples", "injected", "same", "rejected", "localised"
    );
    table.extend(rows.into_values());
    table += &sums.row("all");
    if std::env::var("RETORT_SHOW_FAULTS").is_ok() {
        show_output(true);
        say(&notes);
    }
    (table, sums)
}

/// Measures and prints all kinds of faults in these plans; of the others than those that are just another value of the type, `few`
/// of a kind.
pub(super) fn find_what_no_gate_could_know(core: &[Case], whole: &[Case], few: usize) {
    let kinds: Vec<&Kind> = KINDS.iter().chain([&OTHER_PATH]).collect();
    let (table, sums) = measure(core, &kinds, 10 * MAX_PER_KIND, false);
    say(&table);
    check(&sums, 0.95);
    let meant: Vec<&Kind> = inject::whole::MEANT.iter().collect();
    let (table, sums) = measure(whole, &meant, MAX_PER_KIND, true);
    say(&table);
    check(&sums, 0.95);
    // Alternatives and conversions that few samples show: three may not.
    let others: Vec<&Kind> = inject::whole::KINDS.iter().collect();
    let (table, sums) = measure(whole, &others, few, true);
    say(&table);
    check(&sums, 0.80);
}

/// Of all faults, at least this share has to be rejected, and the place named of nearly as many.
fn check(sums: &Sums, share: f64) {
    let injected = sums.injected as f64;
    assert!(sums.rejected as f64 >= share * injected, "{} of {injected} rejected", sums.rejected);
    let localised = sums.localised as f64;
    assert!(localised >= (share - 0.1) * injected, "{localised} of {injected} localised");
}
