//! The examples in Rust over the real events of the shared corpora, held to what is worked out here in another way.
//!
//! The corpora have an event for each step of a conversation, and the extractors of conversations want all of it at once: what each
//! session did is put together to one event. The extractor of payments reads one event at a time: its algorithm is the example's to the
//! letter, and only what it declares names the fields that the corpora have.

mod payments;
mod sessions;
mod timing;
mod turns;

use std::path::Path;

use libtest_mimic::{Completion, Trial};
use retort::gate::{StructuralLimits, inspect};
use retort::graph::{Extraction, ValidateOptions, validate};
use retort::sandbox::{ForeignModules, Options, Sandbox};
use retort::{GraphSpec, Limits, Runner};
use serde_json::Value;

use super::build::build;
use crate::support::{MISSING_RUSTC, guest_rustc, shared, workspace_root};
use crate::trial::say;

/// An extractor over the corpora: given the compiler and where these are, it says what it was run over.
type Check = fn(&Path, &Path) -> String;

pub(super) fn trials() -> Vec<Trial> {
    let checks: [(&str, Check); 3] = [
        ("tool-timing", timing::check),
        ("conversation-turns", turns::check),
        ("payment-references", payments::check),
    ];
    let trial_of = |(name, check): (&'static str, Check)| {
        Trial::ignorable_test(format!("guest::corpora/{name}"), move || {
            let Some(rustc) = guest_rustc() else {
                return Ok(Completion::ignored_with(MISSING_RUSTC));
            };
            let Some(corpora) = shared("corpora") else {
                return Ok(Completion::ignored_with("no ../shared/corpora beside the checkout"));
            };
            say(&format!("{name}: {}", check(&rustc, &corpora)));
            Ok(Completion::Completed)
        })
    };
    checks.into_iter().map(trial_of).collect()
}

/// The events of one file, with their texts.
fn events(corpora: &Path, file: &str) -> Vec<(String, Value)> {
    let path = corpora.join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    text.lines().map(|line| (line.to_owned(), serde_json::from_str(line).unwrap())).collect()
}

fn source_of(example: &str) -> String {
    let path = workspace_root().join("examples").join(example).join("src/lib.rs");
    std::fs::read_to_string(path).unwrap()
}

/// An example that was compiled, and what its results have to fit.
struct Compiled {
    runner: Runner,
    graph: GraphSpec,
}

impl Compiled {
    /// `source` is the example's, or that with another declaration.
    fn new(rustc: &Path, example: &str, source: &str) -> Self {
        let wasm = build(rustc, source).unwrap_or_else(|error| panic!("{error}"));
        let inspected = inspect(&wasm, &StructuralLimits::default());
        let inspected = inspected.unwrap_or_else(|rejected| panic!("{rejected}"));
        let graph = workspace_root().join("examples").join(example).join("graph.yaml");
        let graph = GraphSpec::parse(&std::fs::read_to_string(graph).unwrap(), "graph").unwrap();
        // Fuel is what bounds a call here: the time that one takes beside other tests is anybody's.
        let limits = options!(Limits { deadline_ms: 60_000, ..Limits::default() });
        let foreign = ForeignModules::InProcess;
        let options = options!(Options { limits, foreign, ..Options::default() });
        let sandbox = Sandbox::with_options(options).unwrap();
        let runner = sandbox.load(&inspected).unwrap().runner().checking_all();
        Self { runner, graph }
    }

    /// What an event gives, which fits the graph spec.
    fn run(&mut self, event: &str) -> Extraction {
        let outcome = self.runner.run(event.as_bytes());
        let outcome = outcome.unwrap_or_else(|error| panic!("{error}: {event:.200}"));
        let result: Extraction = serde_json::from_slice(outcome.json).unwrap();
        let report = validate(&self.graph, &result, ValidateOptions::default());
        assert!(report.ok(), "{report:?}");
        result
    }
}

/// The value of a property.
fn property<'r>(properties: &'r [retort::graph::Property], name: &str) -> &'r Value {
    properties.iter().find(|it| it.name == name).map_or(&Value::Null, |it| &it.value)
}
