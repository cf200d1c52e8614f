//! The examples in Rust: what they make of their events, and that it fits their graph specs.

use std::fmt::Write as _;
use std::path::Path;

use libtest_mimic::Trial;
use retort::gate::{StructuralLimits, inspect};
use retort::graph::{Extraction, ValidateOptions, validate};
use retort::{GraphSpec, Limits};
use serde_json::Value;

use super::build::build;
use crate::support::{sandbox, workspace_root};
use crate::trial::with_rustc;

pub(super) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for entry in std::fs::read_dir(workspace_root().join("examples")).unwrap() {
        let folder = entry.unwrap().path();
        if folder.join("src/lib.rs").exists() {
            let name = folder.file_name().unwrap().to_string_lossy().into_owned();
            let title = format!("guest::examples/{name}");
            trials.push(with_rustc(title, move |rustc| gives_its_results(rustc, &folder)));
        }
    }
    assert!(trials.len() >= 3);
    trials
}

/// The results are those beside the events, in their order; an event of another type isn't for the extractor.
fn gives_its_results(rustc: &Path, folder: &Path) {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let wasm = build(rustc, &read("src/lib.rs"));
    let wasm = wasm.unwrap_or_else(|error| panic!("{error}"));
    let inspected = inspect(&wasm, &StructuralLimits::default());
    let inspected = inspected.unwrap_or_else(|rejected| panic!("{rejected}"));
    let types = inspected.section().event_types().to_vec();
    let is_for_it = |event_type: &str| {
        types.iter().any(|pattern| match pattern.strip_suffix('*') {
            Some(prefix) => event_type.starts_with(prefix),
            None => event_type == pattern,
        })
    };
    let extractor = sandbox(Limits::default()).load(&inspected).unwrap();
    let mut runner = extractor.runner().checking_all();
    let spec = GraphSpec::parse(&read("graph.yaml"), "graph").unwrap();
    let mut results = String::new();
    for (number, event) in read("events.ndjson").lines().enumerate() {
        let parsed: Value = serde_json::from_str(event).unwrap();
        let event_type = parsed["event_type"].as_str().unwrap();
        if !is_for_it(event_type) {
            continue;
        }
        let outcome = runner.run(event.as_bytes()).unwrap();
        let json = std::str::from_utf8(outcome.json).unwrap();
        let result: Extraction = serde_json::from_str(json).unwrap();
        if result.is_empty() {
            continue;
        }
        let report = validate(&spec, &result, ValidateOptions::default());
        assert!(report.ok(), "{report:?}");
        let (line, event_type) = (number + 1, Value::from(event_type));
        writeln!(results, r#"{{"line":{line},"event_type":{event_type},"result":{json}}}"#)
            .unwrap();
    }
    let expected = std::fs::read_to_string(folder.join("results.ndjson")).unwrap_or_default();
    assert_eq!(results, expected, "{}", folder.display());
}
