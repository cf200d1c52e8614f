//! The example projects: their files fit each other.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use retort::graph::{Extraction, ValidateOptions, validate};
use retort::sandbox::Sandbox;
use retort::{Coded, GraphSpec, Limits, plan};
use serde::Deserialize;
use serde_json::Value;

use crate::support::{assert_sparing, rendered, workspace_root};

/// `retort.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Project {
    #[serde(default = "plan")]
    plan: PathBuf,
    /// Who writes the plan, where it isn't there.
    #[serde(rename = "model")]
    _model: Option<String>,
    graph: PathBuf,
    samples: PathBuf,
    output: PathBuf,
    rule: PathBuf,
    schema: PathBuf,
    /// What the gates hold plans to; the command reads it.
    #[serde(rename = "expected")]
    _expected: Option<PathBuf>,
    #[serde(default)]
    allow_external_endpoints: bool,
}

/// What a model has to arrive at, where one is asked.
fn plan() -> PathBuf {
    "plan.json".into()
}

/// A line of `results.ndjson`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    line: usize,
    event_type: String,
    result: Extraction,
}

/// The examples that have a plan, and so results that are to be expected of it.
fn each_example(check: impl Fn(&Path, &Project)) {
    let mut folders: Vec<PathBuf> = fs::read_dir(workspace_root().join("examples"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("plan.json").exists())
        .collect();
    folders.sort();
    assert!(folders.len() >= 4, "{folders:?}");
    for folder in folders {
        let project = toml::from_str(&read(&folder, "retort.toml")).unwrap();
        check(&folder, &project);
    }
}

fn read(folder: &Path, file: impl AsRef<Path>) -> String {
    let path = folder.join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn graph(folder: &Path, project: &Project) -> GraphSpec {
    let name = project.graph.to_string_lossy();
    GraphSpec::parse(&read(folder, &project.graph), &name).unwrap()
}

#[test]
fn expected_results_fit_their_graph() {
    each_example(|folder, project| {
        let graph = graph(folder, project);
        let options = options!(ValidateOptions {
            allow_external_endpoints: project.allow_external_endpoints,
            ..ValidateOptions::default()
        });
        for line in read(folder, "results.ndjson").lines() {
            let expected: Expected = serde_json::from_str(line).unwrap();
            let report = validate(&graph, &expected.result, options);
            assert!(report.ok(), "{} line {}: {report:?}", folder.display(), expected.line);
        }
    });
}

#[test]
fn expected_results_are_what_the_plan_says() {
    each_example(|folder, project| {
        let plan = plan::parse(&read(folder, &project.plan)).unwrap();
        let mut expected: BTreeMap<usize, Expected> = read(folder, "results.ndjson")
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .map(|expected: Expected| (expected.line, expected))
            .collect();
        let events = read(folder, "events.ndjson");
        let mut declined = 0;
        for (number, event) in (1..).zip(events.lines()) {
            let at = format!("{} line {number}", folder.display());
            let result = match plan::eval(&plan, event) {
                Ok(result) => result,
                Err(error) => {
                    assert_eq!(error.code(), "event_not_json", "{at}");
                    assert!(!expected.contains_key(&number), "{at}");
                    continue;
                }
            };
            match expected.remove(&number) {
                Some(line) => {
                    assert!(plan.event_types().matches(&line.event_type), "{at}");
                    assert_eq!(line.result, result, "{at}");
                }
                None => {
                    assert!(result.is_empty(), "{at}: {result:?}");
                    let event: Value = serde_json::from_str(event).unwrap();
                    let event_type = event["event_type"].as_str().unwrap_or_default();
                    declined += usize::from(plan.event_types().matches(event_type));
                }
            }
        }
        assert!(expected.is_empty(), "{}: no such lines", folder.display());
        assert!(declined > 0, "{}: no event of the plan's type declines", folder.display());
    });
}

#[test]
fn samples_pass_the_gates() {
    each_example(|folder, project| {
        let graph = graph(folder, project);
        let plan = plan::parse(&read(folder, &project.plan)).unwrap();
        let schema = serde_json::from_str(&read(folder, &project.schema)).unwrap();
        let schema = jsonschema::draft202012::new(&schema).unwrap();
        let options = options!(ValidateOptions {
            allow_external_endpoints: project.allow_external_endpoints,
            ..ValidateOptions::default()
        });
        let samples = read(folder, &project.samples);
        assert!(samples.lines().count() >= 10, "{}", folder.display());
        let module = Sandbox::new(Limits::default()).unwrap().load(&rendered(&plan)).unwrap();
        let mut runner = module.runner();
        for sample in samples.lines() {
            assert_sparing(sample, runner.run(sample.as_bytes()).unwrap().fuel);
            let event: Value = serde_json::from_str(sample).unwrap();
            if let Err(error) = schema.validate(&event) {
                panic!("{}: {error} in {sample}", folder.display());
            }
            let result = plan::eval(&plan, sample).unwrap();
            assert!(!result.is_empty(), "{}: {sample}", folder.display());
            let report = validate(&graph, &result, options);
            assert!(report.ok(), "{}: {report:?}", folder.display());
        }
        assert!(!read(folder, &project.rule).trim().is_empty());
        assert!(project.output.is_relative());
    });
}
