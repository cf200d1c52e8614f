//! The tasks of evaluation/, with the plans that a person wrote for them: every fact against what the reference says.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::Trial;
use retort::bundle::{Request, SmokeOptions};
use retort::graph::{Extraction, Property};
use retort::{GraphSpec, Pipeline, Rule, Samples, Task, plan};
use serde::Deserialize;
use serde_json::{Value, json};

use super::expression::is_same;

use crate::support::{assert_sparing, workspace_root};
use crate::trial::trial;

/// What a plan may take, in bytes: what once needed tens of kilobytes of patterns over JSON text.
const MAX_PLAN_BYTES: usize = 4096;

/// How many events a task holds back at least.
const MIN_EVENTS: usize = 40;

/// What an event gives, as its reference says.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Facts {
    line: usize,
    #[serde(default)]
    nodes: Vec<Node>,
    #[serde(default)]
    edges: Vec<Edge>,
    #[serde(default)]
    fully: Vec<String>,
    #[serde(default)]
    partially: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Node {
    id: String,
    entity: String,
    properties: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Edge {
    relationship: String,
    from: String,
    to: String,
    #[serde(default)]
    properties: BTreeMap<String, Value>,
}

pub(crate) fn trials() -> Vec<Trial> {
    let tasks = tasks();
    let levels = levels(&tasks);
    let trial_of = |folder: PathBuf| {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        trial(format!("evaluation::{name}"), move || is_right(&folder))
    };
    let mut trials: Vec<Trial> = tasks.into_iter().map(trial_of).collect();
    trials.push(trial("evaluation::there_are_tasks_of_each_level", move || {
        let expected =
            [("easy", 4), ("hard", 5), ("medium", 4)].map(|(it, count)| (it.to_owned(), count));
        assert_eq!(levels, expected.into());
    }));
    trials
}

/// The folders of all tasks: `evaluation/tasks/<level>/<task>`.
fn tasks() -> Vec<PathBuf> {
    let inside = |folder: PathBuf| {
        fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_dir())
    };
    let mut tasks: Vec<PathBuf> =
        inside(workspace_root().join("evaluation/tasks")).flat_map(inside).collect();
    tasks.sort();
    tasks
}

fn levels(tasks: &[PathBuf]) -> BTreeMap<String, usize> {
    let mut levels = BTreeMap::new();
    for task in tasks {
        let level = task.parent().unwrap().file_name().unwrap();
        *levels.entry(level.to_string_lossy().into_owned()).or_default() += 1;
    }
    levels
}

/// The plan passes every gate, and gives of all events what the reference does: by the native evaluator and in the sandbox.
fn is_right(folder: &Path) {
    let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let plan = text("plan.json");
    assert!(plan.len() < MAX_PLAN_BYTES, "{} bytes", plan.len());
    let graph = GraphSpec::parse(&text("graph.yaml"), "graph.yaml").unwrap();
    let samples = Samples::parse(&text("samples.ndjson"), "samples.ndjson").unwrap();
    let rule = Rule::parse(&text("rule.md"), "rule.md").unwrap();
    let task = Task::builder(graph, samples).rule(rule).build();
    let smoke =
        options!(SmokeOptions { allow_external_endpoints: true, ..SmokeOptions::default() });
    let request = Request::new(&task).smoke(smoke);
    let accepted = Pipeline::builder()
        .build()
        .unwrap()
        .accept(&plan, request)
        .unwrap_or_else(|error| panic!("{error}"));
    let plan = plan::parse(&plan).unwrap();
    let mut runner = accepted.runner().checking_all();

    let facts: Vec<Facts> =
        text("facts.ndjson").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut facts: BTreeMap<usize, Facts> =
        facts.into_iter().map(|facts| (facts.line, facts)).collect();
    let events = text("events.ndjson");
    assert!(events.lines().count() >= MIN_EVENTS, "{} events", events.lines().count());
    for (line, event) in (1..).zip(events.lines()) {
        let expected = facts.remove(&line).unwrap_or_default().flat();
        let outcome =
            runner.run(event.as_bytes()).unwrap_or_else(|error| panic!("line {line}: {error}"));
        assert_sparing(event, outcome.fuel);
        let by_sandbox: Extraction = serde_json::from_slice(outcome.json).unwrap();
        for found in [plan::eval(&plan, event).unwrap(), by_sandbox] {
            let found = flat(&found);
            for (about, value) in &expected {
                let found = found.get(about);
                assert!(
                    found.is_some_and(|found| is_same(value, found)),
                    "line {line}: {about:?}: expected {value}, found {found:?}"
                );
            }
            for (about, value) in &found {
                assert!(
                    expected.contains_key(about),
                    "line {line}: {about:?}: {value}, which the reference doesn't give"
                );
            }
        }
    }
    assert!(facts.is_empty(), "facts of lines that aren't there");
}

/// Each fact by what it is about.
type Flat = BTreeMap<Vec<String>, Value>;

impl Facts {
    fn flat(self) -> Flat {
        let mut flat = Flat::new();
        for node in self.nodes {
            flat.insert(vec!["node".to_owned(), node.id.clone()], json!(node.entity));
            for (name, value) in node.properties {
                flat.insert(vec!["node".to_owned(), node.id.clone(), name], value);
            }
        }
        for edge in self.edges {
            let about = vec!["edge".to_owned(), edge.relationship, edge.from, edge.to];
            flat.insert(about.clone(), json!(true));
            for (name, value) in edge.properties {
                flat.insert([about.clone(), vec![name]].concat(), value);
            }
        }
        add_spans(&mut flat, &self.fully, &self.partially);
        flat
    }
}

fn add_spans(flat: &mut Flat, fully: &[String], partially: &[String]) {
    for (handled, spans) in [("fully", fully), ("partially", partially)] {
        for span in spans {
            flat.insert(vec!["span".to_owned(), span.clone()], json!(handled));
        }
    }
}

fn flat(found: &Extraction) -> Flat {
    let by_name = |properties: &[Property]| -> BTreeMap<String, Value> {
        properties.iter().map(|it| (it.name.clone(), it.value.clone())).collect()
    };
    let nodes = found.nodes.iter().map(|node| Node {
        id: node.node_id.clone(),
        entity: node.entity_name.clone(),
        properties: by_name(&node.properties),
    });
    let edges = found.edges.iter().map(|edge| Edge {
        relationship: edge.relationship_name.clone(),
        from: edge.from_node_id.clone(),
        to: edge.to_node_id.clone(),
        properties: by_name(&edge.properties),
    });
    let facts = Facts {
        line: 0,
        nodes: nodes.collect(),
        edges: edges.collect(),
        fully: found.fully_handled_span_ids.clone(),
        partially: found.partially_handled_span_ids.clone(),
    };
    facts.flat()
}
